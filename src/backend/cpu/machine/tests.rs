//! Random instructions, compared with their evaluation number by number.

use std::collections::HashMap;

use super::split::writes;
use super::*;
use crate::backend::cpu::Field;
use crate::backend::cpu::PointCode;
use crate::backend::cpu::program::Loaded;
use crate::backend::cpu::rows::{Needs, Scratch, lanes};
use crate::backend::cpu::sums::Polynomial;
use crate::engine::{Formula, Number, PointFormula};

const LINE: usize = 14;
const BLOCKS: usize = 5;
const POINTS: usize = 45;
const FIELDS: [Slot; 4] = [Slot::Read(0), Slot::Read(1), Slot::Written(0), Slot::Written(1)];

/// Number of a field.
fn number(slot: Slot) -> usize {
    FIELDS.iter().position(|field| *field == slot).unwrap()
}

/// Every operation, products in sums among them, and more values than registers.
struct Operations;

impl Formula<3, 4, 0> for Operations {
    fn at<N: Number>(&self, [x, y, z]: [N; 3], _: [N; 4], _: [N; 0]) -> [N; 4] {
        let (third, one) = (N::of(1.0) / N::of(3.0), N::of(1.0));
        let powers: [N; 9] = std::array::from_fn(|k| (x + N::of(k as f64) * y) / (z * z + one));
        let root = (powers[2] - y).abs().sqrt();
        let sum = powers.into_iter().fold(-root, |sum, power| sum * third + power);
        let difference = powers.into_iter().fold(z, |last, power| power - last * x);
        let product = powers.into_iter().fold(one - x, |last, power| last * power - y);
        [sum, difference, product + root, -z]
    }
}

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

    /// An instruction after `before`: fields that were stored are not loaded.
    fn instruction<T: Real>(&mut self, before: &[Instruction<T>]) -> Instruction<T> {
        let to = self.place::<T>();
        match self.below(8) {
            0 => Instruction::Advance { from: self.place::<T>(), sum: self.place::<T>(), to },
            1 => Instruction::Add { polynomial: self.polynomial(), to },
            2 => Instruction::Store { slot: self.below(2), from: to },
            3 => {
                let mut places = Vec::new();
                while places.len() < 7 {
                    let place = self.place::<T>();
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
                let map = Box::new(PointCode::new(PointFormula::map(Operations)));
                let (from, to) = places.split_at(3);
                Instruction::Map { map, from: from.into(), to: to.into() }
            }
            4 => {
                let is_stored = |field: &Slot| {
                    let stores = |one: &Instruction<T>| matches!(one, Instruction::Store { slot, .. } if Slot::Written(*slot) == *field);
                    before.iter().any(stores)
                };
                let fields: Vec<Slot> =
                    FIELDS.into_iter().filter(|field| !is_stored(field)).collect();
                let (field, is_old_sum) = (fields[self.below(fields.len())], self.below(2) == 0);
                Instruction::Load(Loaded { field, to, is_old_sum })
            }
            _ => Instruction::Let { polynomial: self.polynomial(), to },
        }
    }
}

/// Evaluates an instruction for one number of every location. `fused`: a b + c, rounded once.
fn evaluate<T: Real>(
    instruction: &Instruction<T>,
    numbers: &mut HashMap<Place, T>,
    fields: &mut [T; FIELDS.len()],
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
        Instruction::Load(Loaded { field, to, .. }) => (to, fields[number(*field)]),
        Instruction::Store { slot, from } => {
            fields[number(Slot::Written(*slot))] = numbers[from];
            return;
        }
        Instruction::Map { from, to, .. } => {
            let inputs = std::array::from_fn(|at| numbers[&from[at]]);
            let results = Operations.at(inputs, [T::ZERO; 4], []);
            numbers.extend(to.iter().copied().zip(results));
            return;
        }
    };
    numbers.insert(*to, value);
}

fn check<T: Real>(isa: Isa, seed: u64, fused: fn(T, T, T) -> T) {
    let mut random = Random(seed);
    let mut arithmetic: Vec<Instruction<T>> = Vec::new();
    for _ in 0..1 + random.below(30) {
        arithmetic.push(random.instruction(&arithmetic));
    }
    let line = (0..LINE).map(Place::line::<T>);
    let places: Vec<Place> = line.chain((0..BLOCKS).map(Place::block::<T>)).collect();
    let read: Vec<Place> = places.iter().copied().filter(|_| random.below(3) > 0).collect();
    let weights = [[T::ZERO, random.number()][random.below(2)], random.number()];
    let bypass_caches = random.below(2) == 0;

    let body = Body::new(&[], &arithmetic, |place| read.contains(&place));
    let machine = Machine::new(isa, body, true).unwrap();
    let mut scratch = Scratch::<T>::default();
    let needs = Needs { line: LINE, block: BLOCKS, carried: 0 };
    let rows = scratch.rows(needs, POINTS, 1);
    // Rows of a field lie in the middle of longer rows.
    let stride = 3 * lanes::<T>();
    let mut fields = FIELDS.map(|_| Field::<T>::zeros(POINTS * stride));
    for field in &mut fields {
        field.iter_mut().for_each(|x| *x = random.number());
    }
    for block in (0..rows.blocks()).rev() {
        let count = rows.valid_rows(block) * lanes::<T>();
        let memory = |place| {
            // SAFETY: a block of a location of this memory; no other reference to it exists.
            unsafe { std::slice::from_raw_parts_mut(rows.of_block(block).at(place), count) }
        };
        for place in &places {
            memory(*place).iter_mut().for_each(|x| *x = random.number());
        }
        let in_field = |at: usize| {
            (block * BLOCK + at / lanes::<T>()) * stride + lanes::<T>() + at % lanes::<T>()
        };
        let before: Vec<HashMap<Place, T>> = (0..count)
            .map(|at| places.iter().map(|place| (*place, memory(*place)[at])).collect())
            .collect();
        let before_fields = fields.clone();
        let last = in_field(count - lanes::<T>());
        let start =
            |slot: &Slot| fields[number(*slot)].as_mut_ptr().wrapping_add(last).cast_const();
        let starts: Vec<*const T> = machine.fields.iter().map(start).collect();
        let mut frame = Frame::new(weights, [stride.cast_signed(), 0], starts.into_iter());
        // SAFETY: memory for these locations and fields; the caller checked the instruction set.
        unsafe { machine.call(&mut frame, rows, block, 0..rows.valid_rows(block), bypass_caches) };
        let mut expected_fields = before_fields.clone();
        for (at, mut numbers) in before.into_iter().enumerate() {
            let mut point = before_fields.each_ref().map(|field| field[in_field(at)]);
            for instruction in &arithmetic {
                evaluate(instruction, &mut numbers, &mut point, weights, fused);
            }
            for (field, value) in expected_fields.iter_mut().zip(point) {
                field[in_field(at)] = value;
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
        for (found, expected) in fields.iter().zip(&expected_fields) {
            let is_same = |(a, b): (&T, &T)| a.f64().to_bits() == b.f64().to_bits();
            assert!(found.iter().zip(&**expected).all(is_same), "{isa:?}, seed {seed}: a field");
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
