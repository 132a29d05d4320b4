//! Selection of the instructions of a pass for which code is generated.

use smallvec::SmallVec;

use super::super::program::{Application, Instruction, Loaded, Pass};
use super::super::rows::Place;
use super::super::sums::Polynomial;
use crate::real::Real;

type Places = SmallVec<[Place; 8]>;

/// The instructions of a pass by their order in each block: the generated code does the second.
pub(super) struct Split<T> {
    pub(super) before: Vec<Instruction<T>>,
    pub(super) generated: Vec<Instruction<T>>,
    pub(super) after: Vec<Instruction<T>>,
}

impl<T: Real> Split<T> {
    /// Divides `instructions`, which follow the substitution of `applied`: an instruction moves before or after others
    /// only if neither writes a location of the other. Loads may move before stores, since no field is loaded after it
    /// is stored (see [`SweepBuilder`](crate::engine::SweepBuilder)). `is_generated`: whether code can be generated.
    pub(super) fn new(
        applied: &[Application<T>],
        instructions: &[Instruction<T>],
        is_generated: impl Fn(&Instruction<T>) -> bool,
    ) -> Self {
        let mut split = Self { before: Vec::new(), generated: Vec::new(), after: Vec::new() };
        let solutions: Places = applied.iter().map(|application| application.to).collect();
        for instruction in instructions {
            let instruction = instruction.clone();
            let commutes_with =
                |others: &[Instruction<T>]| others.iter().all(|other| commute(&instruction, other));
            let list = if !commutes_with(&split.after) {
                &mut split.after
            } else if is_generated(&instruction) {
                &mut split.generated
            } else {
                let (reads, writes) = (reads(&instruction), writes(&instruction));
                let uses_solution =
                    reads.iter().chain(&writes).any(|place| solutions.contains(place));
                let is_store = matches!(instruction, Instruction::Store { .. });
                match !is_store && !uses_solution && commutes_with(&split.generated) {
                    true => &mut split.before,
                    false => &mut split.after,
                }
            };
            list.push(instruction);
        }
        split
    }
}

/// True if the order of two instructions does not matter.
fn commute<T: Real>(one: &Instruction<T>, other: &Instruction<T>) -> bool {
    let writes_used = |one: &Instruction<T>, other: &Instruction<T>| {
        let (read, written) = (reads(other), writes(other));
        writes(one).iter().any(|place| read.contains(place) || written.contains(place))
    };
    !writes_used(one, other) && !writes_used(other, one)
}

/// Locations that an instruction reads.
fn reads<T: Real>(instruction: &Instruction<T>) -> Places {
    let factors = |polynomial: &Polynomial<T>| -> Places {
        polynomial.terms().flat_map(|(_, factors)| factors).copied().collect()
    };
    match instruction {
        Instruction::Load(_) => Places::new(),
        Instruction::Map { from, .. } => from.iter().copied().collect(),
        Instruction::Advance { from, sum, .. } => [*from, *sum].into_iter().collect(),
        Instruction::Let { polynomial, .. } => factors(polynomial),
        Instruction::Add { polynomial, to } => {
            factors(polynomial).into_iter().chain([*to]).collect()
        }
        Instruction::Store { from, .. } => [*from].into_iter().collect(),
    }
}

/// Locations that an instruction writes.
pub(super) fn writes<T>(instruction: &Instruction<T>) -> Places {
    match instruction {
        Instruction::Load(Loaded { to, .. })
        | Instruction::Advance { to, .. }
        | Instruction::Let { to, .. }
        | Instruction::Add { to, .. } => [*to].into_iter().collect(),
        Instruction::Map { to, .. } => to.iter().copied().collect(),
        Instruction::Store { .. } => Places::new(),
    }
}

/// Whether the value in a location is read by `after`, by `later` passes, or packed, before another replaces it.
pub(super) fn is_read<T: Real>(
    place: Place,
    after: &[Instruction<T>],
    later: &[Pass<T>],
    packed: &[Application<T>],
) -> bool {
    /// The first access to the location.
    fn first_access<'a, T: Real>(
        place: Place,
        instructions: impl IntoIterator<Item = &'a Instruction<T>>,
    ) -> Option<bool> {
        instructions.into_iter().find_map(|instruction| {
            let (read, written) = (reads(instruction), writes(instruction));
            (read.contains(&place) || written.contains(&place)).then(|| read.contains(&place))
        })
    }
    let is_operand = |applied: &[Application<T>]| {
        applied.iter().any(|application| application.factors.contains(&place))
    };
    if let Some(read) = first_access(place, after) {
        return read;
    }
    for pass in later {
        if is_operand(&pass.applied) {
            return true;
        }
        if pass.applied.iter().any(|application| application.to == place) {
            return false;
        }
        if let Some(read) = first_access(place, &pass.instructions) {
            return read;
        }
    }
    is_operand(packed)
}
