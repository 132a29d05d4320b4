//! `neato-global` and `cr-sorted`: cyclic reduction in device memory, a launch a level and way; and `cusparse`, which
//! shares the stencil before and the border after.

use super::on_chip::border_text;
use super::plan::{Plan, Slot, Step, tolerance};
use crate::backend::device::text::{Text, literal};
use crate::error::Result;
use crate::lines::{Border, CyclicReduction, LineSolver, NearToeplitz};
use crate::real::Real;

const STENCIL: &str = include_str!("../../../../kernels/lines/stencil.cu");
const CLASSES: &str = include_str!("../../../../kernels/lines/classes.cu");
const NEATO_GLOBAL: &str = include_str!("../../../../kernels/lines/neato_global.cu");
const CR_SORTED: &str = include_str!("../../../../kernels/lines/cr_sorted.cu");
const CLOSE: &str = include_str!("../../../../kernels/lines/close.cu");

/// Threads of a block.
const THREADS: usize = 256;

/// What `classes.cu` needs.
///
/// # Panics
/// Where the matrix is not near-Toeplitz: [`super::obstacle`] tells beforehand.
pub(super) fn near_toeplitz<T: Real>(text: &mut Text, border: &Border) {
    let classes = NearToeplitz::new(&CyclicReduction::new(&border.core));
    let classes = classes.unwrap_or_else(|| panic!("the matrix is not near-Toeplitz"));
    text.define("ENDS", classes.ends);
    text.define("LEVELS", classes.rows.len());
    text.constants::<T>("FORWARD", classes.forward.concat().into_flattened());
    text.constants::<T>("BACKWARD", classes.backward.concat().into_flattened());
    text.define("LAST", literal::<T>(classes.last));
}

/// The launches of `solver`.
pub(super) fn steps<T: Real>(plan: &Plan<T>, solver: LineSolver) -> Result<Vec<Step<T>>> {
    let border = Border::new(&plan.operator.matrix, tolerance::<T>());
    let core = border.rows();
    let mut text = plan.text(core);
    text.define("THREADS", THREADS);
    let mut tables = Vec::new();
    let reduction = CyclicReduction::new(&border.core);
    let levels = reduction.levels.len();
    let mut forward_at = Vec::new();
    let mut backward_at = Vec::new();
    if solver == LineSolver::NeatoGlobal {
        near_toeplitz::<T>(&mut text, &border);
    } else {
        text.define("LAST", literal::<T>(reduction.last));
        for level in &reduction.levels {
            forward_at.push(int(tables.len()));
            tables.extend(level.forward.as_flattened());
        }
        for level in &reduction.levels {
            backward_at.push(int(tables.len()));
            tables.extend(level.backward.as_flattened());
        }
    }
    border_text::<T>(&mut text, &border, &mut tables);
    text.push(STENCIL);
    text.push(CLOSE);
    match solver {
        LineSolver::Cusparse => {}
        LineSolver::NeatoGlobal => {
            text.push(CLASSES);
            text.push(NEATO_GLOBAL);
        }
        _ => text.push(CR_SORTED),
    }
    let source = text.source(&format!("{}.cu", solver.name()));
    let step = |entry: &str, rows: usize, arguments: Vec<Slot<T>>| {
        plan.step(&source, entry, (plan.lines * rows).div_ceil(THREADS), THREADS, 0, arguments)
    };
    let tables = Slot::Buffer(plan.table(tables)?);
    let out = || plan.output.clone();
    let half = |level: usize| (core >> level) / 2;
    let even = |level: usize| (core >> level).div_ceil(2);

    let mut steps = Vec::new();
    match solver {
        LineSolver::NeatoGlobal => {
            steps.push(step("stencil", plan.len(), plan.arguments([]))?);
            for level in 0..levels {
                steps.push(step("neato_forward", half(level), vec![out(), Slot::Int(int(level))])?);
            }
            for level in (0..=levels).rev() {
                let arguments = vec![out(), Slot::Int(int(level))];
                steps.push(step("neato_backward", even(level), arguments)?);
            }
        }
        LineSolver::CrSortedDirect => {
            let sorted = &plan.lent(1)?[0];
            let arguments = |level: usize, at: i32| {
                vec![sorted.clone(), tables.clone(), Slot::Int(int(level)), Slot::Int(at)]
            };
            steps.push(step("sort_rows", plan.len(), plan.arguments([sorted.clone()]))?);
            for level in 0..levels {
                let arguments = arguments(level, forward_at[level]);
                steps.push(step("direct_forward", half(level), arguments)?);
            }
            let last = vec![sorted.clone(), Slot::Int(int(core - 1))];
            steps.push(step("last_row", 1, last)?);
            for level in (0..levels).rev() {
                let arguments = arguments(level, backward_at[level]);
                steps.push(step("direct_backward", even(level), arguments)?);
            }
            steps.push(step("unsort_rows", core, vec![sorted.clone(), out()])?);
        }
        LineSolver::Cusparse => {
            steps.push(step("stencil", plan.len(), plan.arguments([]))?);
            // The library takes a matrix for every line.
            let diagonal = |d: isize| {
                let entry = |m: usize| if m < core { border.core.entry(m, d) } else { 0.0 };
                let line: Vec<f64> = (0..plan.len()).map(entry).collect();
                plan.table(line.repeat(plan.lines))
            };
            let matrix = [diagonal(-1)?, diagonal(0)?, diagonal(1)?];
            let systems = [core, plan.lines, plan.len()];
            steps.push(Step::Library { systems, matrix, x: out() });
        }
        _ => {
            let lent = plan.lent(2)?;
            let evens = &lent[0];
            // The rows of even levels lie in `out`, those of odd levels in the other array.
            let rows = |level: usize| if level.is_multiple_of(2) { out() } else { lent[1].clone() };
            let arguments = |from: usize, to: usize, level: usize, at: i32| {
                let more = [tables.clone(), Slot::Int(int(level)), Slot::Int(at)];
                [rows(from), evens.clone(), rows(to)].into_iter().chain(more).collect()
            };
            steps.push(step("stencil", plan.len(), plan.arguments([]))?);
            for level in 0..levels {
                let arguments = arguments(level, level + 1, level, forward_at[level]);
                steps.push(step("stepwise_forward", even(level), arguments)?);
            }
            steps.push(step("last_row", 1, vec![rows(levels), Slot::Int(0)])?);
            for level in (0..levels).rev() {
                let arguments = arguments(level + 1, level, level, backward_at[level]);
                steps.push(step("stepwise_backward", even(level), arguments)?);
            }
        }
    }
    if border.width > 0 {
        steps.push(step("close_unknowns", 1, vec![out()])?);
        let coupled = border.head + border.tail;
        if coupled > 0 {
            steps.push(step("close_rows", coupled, vec![out(), tables])?);
        }
    }
    Ok(steps)
}

/// A size as a kernel takes it.
fn int(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
