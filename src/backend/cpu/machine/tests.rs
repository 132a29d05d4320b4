//! Random arithmetic, compared with its evaluation number by number.

use std::collections::HashMap;

use super::split::writes;
use super::*;
use crate::backend::cpu::rows::{Needs, Scratch, lanes};
use crate::backend::cpu::sums::Polynomial;

const LINE: usize = 14;
const BLOCKS: usize = 5;
const POINTS: usize = 45;

/// Pseudorandom numbers (Knuth's linear congruential generator).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn number<T: Real>(&mut self) -> T {
        T::of(self.below(2001) as f64 / 1000.0 - 1.0)
    }

    fn place<T>(&mut self) -> Place {
        match self.below(LINE + BLOCKS) {
            at if at < LINE => Place::line::<T>(at),
            at => Place::block::<T>(at - LINE),
        }
    }

    fn coefficient<T: Real>(&mut self) -> T {
        match self.below(4) {
            0 => T::of(1.0),
            1 => T::of(-1.0),
            2 => T::of(0.5),
            _ => self.number(),
        }
    }

    fn polynomial<T: Real>(&mut self) -> Polynomial<T> {
        let mut polynomial = Polynomial::default();
        if self.below(3) == 0 {
            polynomial.constant = self.number();
        }
        for _ in 0..self.below(4) {
            let c = self.coefficient();
            let [a, b, d] = [(); 3].map(|()| self.place::<T>());
            match self.below(3) {
                0 => polynomial.linear.push((c, [a])),
                1 => polynomial.quadratic.push((c, [a, b])),
                _ => polynomial.cubic.push((c, [a, b, d])),
            }
        }
        polynomial
    }

    fn instruction<T: Real>(&mut self) -> Instruction<T> {
        let to = self.place::<T>();
        match self.below(5) {
            0 => Instruction::Advance { from: self.place::<T>(), sum: self.place::<T>(), to },
            1 => Instruction::Add { polynomial: self.polynomial(), to },
            _ => Instruction::Let { polynomial: self.polynomial(), to },
        }
    }
}

/// Evaluates an instruction for one number of every location. `fused`: a b + c, rounded once.
fn evaluate<T: Real>(
    instruction: &Instruction<T>,
    numbers: &mut HashMap<Place, T>,
    [beta, advance]: [T; 2],
    fused: fn(T, T, T) -> T,
) {
    let sum = |polynomial: &Polynomial<T>, old: Option<T>| {
        let Polynomial { constant, linear, quadratic, cubic } = polynomial;
        let mut sum = old.map_or(*constant, |old| fused(beta, old, *constant));
        for (c, [a]) in linear {
            sum = fused(*c, numbers[a], sum);
        }
        for (c, [a, b]) in quadratic {
            sum = fused(*c * numbers[a], numbers[b], sum);
        }
        for (c, [a, b, d]) in cubic {
            sum = fused(*c * numbers[a] * numbers[b], numbers[d], sum);
        }
        sum
    };
    let (to, value) = match instruction {
        Instruction::Let { polynomial, to } => (to, sum(polynomial, None)),
        Instruction::Add { polynomial, to } => {
            (to, sum(polynomial, Some(numbers[to]).filter(|_| beta != T::ZERO)))
        }
        Instruction::Advance { from, sum, to } => (to, numbers[from] + advance * numbers[sum]),
        _ => unreachable!("arithmetic"),
    };
    numbers.insert(*to, value);
}

fn check<T: Real>(isa: Isa, seed: u64, fused: fn(T, T, T) -> T) {
    let mut random = Random(seed);
    let count = 1 + random.below(30);
    let arithmetic: Vec<Instruction<T>> = (0..count).map(|_| random.instruction()).collect();
    let line = (0..LINE).map(Place::line::<T>);
    let places: Vec<Place> = line.chain((0..BLOCKS).map(Place::block::<T>)).collect();
    let read: Vec<Place> = places.iter().copied().filter(|_| random.below(3) > 0).collect();
    let weights = [[T::ZERO, random.number()][random.below(2)], random.number()];

    let machine = Machine::new(isa, &[], &arithmetic, |place| read.contains(&place)).unwrap();
    let mut scratch = Scratch::<T>::default();
    let needs = Needs { line: LINE, block: BLOCKS, carried: 0 };
    let rows = scratch.rows(needs, POINTS, 1);
    for block in 0..rows.blocks() {
        let count = rows.valid_rows(block) * lanes::<T>();
        let memory = |place| {
            // SAFETY: a block of a location of this memory; no other reference to it exists.
            unsafe { std::slice::from_raw_parts_mut(rows.of_block(block).at(place), count) }
        };
        for place in &places {
            memory(*place).iter_mut().for_each(|x| *x = random.number());
        }
        let before: Vec<HashMap<Place, T>> = (0..count)
            .map(|at| places.iter().map(|place| (*place, memory(*place)[at])).collect())
            .collect();
        // SAFETY: memory for these locations; the caller checked the instruction set.
        unsafe { machine.run(rows, block, &weights) };
        for (at, mut numbers) in before.into_iter().enumerate() {
            for instruction in &arithmetic {
                evaluate(instruction, &mut numbers, weights, fused);
            }
            let written = arithmetic.iter().flat_map(writes).collect::<Vec<_>>();
            for place in &places {
                if read.contains(place) || !written.contains(place) {
                    let (found, expected) = (memory(*place)[at], numbers[place]);
                    assert!(
                        found.f64().to_bits() == expected.f64().to_bits(),
                        "{isa:?}, seed {seed}: {found} instead of {expected} in {place:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn generated_arithmetic_has_the_bits_of_its_formulas() {
    let available = [
        (Isa::Avx2, pulp::x86::V3::try_new().is_some()),
        (Isa::Avx512, pulp::x86::V4::try_new().is_some()),
    ];
    for (isa, _) in available.into_iter().filter(|(_, is_available)| *is_available) {
        for seed in 0..80 {
            check::<f64>(isa, seed, f64::mul_add);
            check::<f32>(isa, seed, f32::mul_add);
        }
    }
}
