//! `neato-global` and `cr-sorted`: cyclic reduction in device memory, with one launch per level for the forward pass and
//! one for the backward pass; and `cusparse`, which shares the stencil before and the border after.

use super::super::job::LaunchSize;
use super::super::text::Text;
use super::super::{Api, Source};
use super::on_chip::border_text;
use super::plan::{Plan, Slot, Step, tolerance};
use super::{OnHost, Problem, Solver, TRIDIAGONAL};
use crate::engine::LineOperator;
use crate::error::Result;
use crate::lines::{Border, CyclicReduction, NearToeplitz, Reduction};

const STENCIL: &str = include_str!("../../../../kernels/lines/stencil.cu");
pub(super) const CLASSES: &str = include_str!("../../../../kernels/lines/classes.cu");
const CR_SORTED: &str = include_str!("../../../../kernels/lines/cr_sorted.cu");
const CLOSE: &str = include_str!("../../../../kernels/lines/close.cu");

/// Threads per block.
const THREADS: usize = 256;

pub(super) const NEATO_GLOBAL: Solver = Solver {
    name: "neato-global",
    unsupported: not_near_toeplitz,
    steps: neato_global,
    on_host: OnHost::Never("differs from `neato-shared` in the memory of a device alone"),
    ..TRIDIAGONAL
};

pub(super) const CR_SORTED_DIRECT: Solver = Solver {
    name: "cr-sorted-direct",
    scratch: 1,
    steps: sorted_direct,
    on_host: OnHost::Reduction(Reduction::SortedDirect),
    ..TRIDIAGONAL
};

pub(super) const CR_SORTED_STEPWISE: Solver = Solver {
    name: "cr-sorted-stepwise",
    scratch: 2,
    steps: sorted_stepwise,
    on_host: OnHost::Reduction(Reduction::SortedStepwise),
    ..TRIDIAGONAL
};

pub(super) const CUSPARSE: Solver = Solver {
    name: "cusparse",
    api: Some(Api::Cuda),
    unsupported: |problem| {
        let sentence = "needs lines with contiguous points: along y and z with `compute.pencils = \"permuted\"`";
        (!problem.contiguous).then(|| sentence.into())
    },
    steps: cusparse,
    ..TRIDIAGONAL
};

/// Returns why a matrix cannot be solved with a few constants per level.
pub(super) fn not_near_toeplitz(problem: &Problem) -> Option<String> {
    let LineOperator { matrix, precision, .. } = problem.operator;
    Reduction::NearToeplitz.lacks(matrix, tolerance(*precision))
}

/// Defines the constants of `classes.cu`.
///
/// # Panics
/// If the matrix is not near-Toeplitz: [`super::why_unsupported`] checks this first.
pub(super) fn define_near_toeplitz(text: &mut Text, border: &Border) {
    let classes = NearToeplitz::new(&CyclicReduction::new(&border.core));
    let classes = classes.unwrap_or_else(|| panic!("the matrix is not near-Toeplitz"));
    text.define("ENDS", classes.ends);
    text.define("LEVELS", classes.rows.len());
    text.constants("FORWARD", classes.forward.concat().into_flattened());
    text.constants("BACKWARD", classes.backward.concat().into_flattened());
    text.define("LAST", text.literal(classes.last));
}

/// Launches of one source, in order.
struct Launches<'a> {
    plan: &'a Plan<'a>,
    border: Border,
    /// Number of levels of the reduction, and starts of their tables in the forward and the backward pass.
    levels: usize,
    forward_at: Vec<usize>,
    backward_at: Vec<usize>,
    tables: Slot,
    source: Source,
    steps: Vec<Step>,
}

impl<'a> Launches<'a> {
    /// Starts the launches of the solver `solver`, with a few constants per level or with tables.
    fn new(plan: &'a Plan, solver: &str, constants: bool, kernels: &[&str]) -> Result<Self> {
        let border = Border::new(&plan.operator.matrix, plan.tolerance());
        let reduction = CyclicReduction::new(&border.core);
        let mut text = plan.text(border.rows());
        text.define("THREADS", THREADS);
        let [mut forward_at, mut backward_at] = [const { Vec::new() }; 2];
        let mut tables = Vec::new();
        if constants {
            define_near_toeplitz(&mut text, &border);
        } else {
            text.define("LAST", text.literal(reduction.last));
            for level in &reduction.levels {
                forward_at.push(tables.len());
                tables.extend(level.forward.as_flattened());
            }
            for level in &reduction.levels {
                backward_at.push(tables.len());
                tables.extend(level.backward.as_flattened());
            }
        }
        border_text(&mut text, &border, &mut tables);
        [STENCIL, CLOSE].iter().chain(kernels).for_each(|kernel| text.push(kernel));
        Ok(Self {
            source: text.source(&format!("{solver}.cu")),
            levels: reduction.levels.len(),
            tables: Slot::Buffer(plan.table(tables)?),
            steps: Vec::new(),
            forward_at,
            backward_at,
            border,
            plan,
        })
    }

    fn push(&mut self, entry: &str, rows: usize, arguments: Vec<Slot>) -> Result<()> {
        let shape = LaunchSize::over(self.plan.lines.count * rows, THREADS);
        self.steps.push(self.plan.step(&self.source, entry, &shape, arguments)?);
        Ok(())
    }

    /// Adds the launch of out = B f.
    fn stencil(&mut self) -> Result<()> {
        self.push("stencil", self.plan.len(), self.plan.arguments([]))
    }

    fn out(&self) -> Slot {
        self.plan.output.clone()
    }

    /// Returns the number of odd rows of a level, which form the next level.
    fn odd(&self, level: usize) -> usize {
        (self.border.rows() >> level) / 2
    }

    /// Returns the number of even rows of a level, which the next level lacks and the backward pass adds.
    fn even(&self, level: usize) -> usize {
        (self.border.rows() >> level).div_ceil(2)
    }

    /// Appends the launches that close the border, and returns all launches.
    fn close_border(mut self) -> Result<Vec<Step>> {
        if self.border.width > 0 {
            self.push("close_unknowns", 1, vec![self.out()])?;
            let coupled = self.border.head + self.border.tail;
            if coupled > 0 {
                self.push("close_rows", coupled, vec![self.out(), self.tables.clone()])?;
            }
        }
        Ok(self.steps)
    }
}

fn neato_global(plan: &Plan) -> Result<Vec<Step>> {
    let kernel = include_str!("../../../../kernels/lines/neato_global.cu");
    let mut launches = Launches::new(plan, NEATO_GLOBAL.name, true, &[CLASSES, kernel])?;
    launches.stencil()?;
    let arguments = |level| vec![plan.output.clone(), Slot::int(level)];
    for level in 0..launches.levels {
        launches.push("neato_forward", launches.odd(level), arguments(level))?;
    }
    for level in (0..=launches.levels).rev() {
        launches.push("neato_backward", launches.even(level), arguments(level))?;
    }
    launches.close_border()
}

fn sorted_direct(plan: &Plan) -> Result<Vec<Step>> {
    let mut launches = Launches::new(plan, CR_SORTED_DIRECT.name, false, &[CR_SORTED])?;
    let (core, sorted) = (launches.border.rows(), &plan.scratch_slots(1)?[0]);
    let tables = launches.tables.clone();
    let arguments =
        |level, at| vec![sorted.clone(), tables.clone(), Slot::int(level), Slot::int(at)];
    launches.push("sort_rows", plan.len(), plan.arguments([sorted.clone()]))?;
    for level in 0..launches.levels {
        let arguments = arguments(level, launches.forward_at[level]);
        launches.push("direct_forward", launches.odd(level), arguments)?;
    }
    launches.push("last_row", 1, vec![sorted.clone(), Slot::int(core - 1)])?;
    for level in (0..launches.levels).rev() {
        let arguments = arguments(level, launches.backward_at[level]);
        launches.push("direct_backward", launches.even(level), arguments)?;
    }
    launches.push("unsort_rows", core, vec![sorted.clone(), launches.out()])?;
    launches.close_border()
}

fn sorted_stepwise(plan: &Plan) -> Result<Vec<Step>> {
    let mut launches = Launches::new(plan, CR_SORTED_STEPWISE.name, false, &[CR_SORTED])?;
    let scratch = plan.scratch_slots(2)?;
    let tables = launches.tables.clone();
    // Rows of even levels are in the result, rows of odd levels in the other array.
    let rows = |level: usize| if level.is_multiple_of(2) { &plan.output } else { &scratch[1] };
    let arguments = |from, to, level, at| {
        let fields = [rows(from), &scratch[0], rows(to), &tables].map(Slot::clone);
        fields.into_iter().chain([Slot::int(level), Slot::int(at)]).collect()
    };
    launches.stencil()?;
    let levels = launches.levels;
    for level in 0..levels {
        let arguments = arguments(level, level + 1, level, launches.forward_at[level]);
        launches.push("stepwise_forward", launches.even(level), arguments)?;
    }
    launches.push("last_row", 1, vec![rows(levels).clone(), Slot::int(0)])?;
    for level in (0..levels).rev() {
        let arguments = arguments(level + 1, level, level, launches.backward_at[level]);
        launches.push("stepwise_backward", launches.even(level), arguments)?;
    }
    launches.close_border()
}

fn cusparse(plan: &Plan) -> Result<Vec<Step>> {
    let mut launches = Launches::new(plan, CUSPARSE.name, false, &[])?;
    launches.stencil()?;
    // The library needs a matrix for every line.
    let (border, count) = (&launches.border, plan.lines.count);
    let diagonal = |d: isize| {
        let entry = |m: usize| if m < border.rows() { border.core.entry(m, d) } else { 0.0 };
        plan.table((0..plan.len()).map(entry).collect::<Vec<_>>().repeat(count))
    };
    let matrix = [diagonal(-1)?, diagonal(0)?, diagonal(1)?];
    let systems = [border.rows(), count, plan.len()];
    launches.steps.push(Step::Library { systems, matrix, x: launches.out() });
    launches.close_border()
}
