//! A sweep on a device, operation by operation: products are computed at every point, operators are applied to them line
//! by line, and one kernel finally sums all terms.

mod forming;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ends::LineEnds;
use super::job::Job;
use super::lines::DeviceOperator;
use super::pointwise::{Visit, pointwise};
use super::program::{Fields, Task};
use super::{Arg, Buffer, Workspace};
use crate::backend::Weights;
use crate::engine::distributed::Layout;
use crate::engine::{Expr, Op, Operation, Value};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Precision;
use forming::{ExpressionText, Place};

/// A sweep along one axis, compiled operation by operation.
pub(super) struct Composed {
    stages: Vec<Stage>,
    /// Everything that the sweep stores and adds. One kernel does it, because the fields it writes are also read by the
    /// sweep: no other kernel may see a partly updated field.
    last: Option<Pointwise>,
    /// Buffers of products and of operator results.
    buffers: Vec<Arc<Buffer>>,
    precision: Precision,
}

/// Operators whose operands do not depend on each other, after the products that they are applied to.
struct Stage {
    products: Option<Pointwise>,
    /// The same products near the ends of the lines only, if the lines are split across ranks and no operator comes
    /// before.
    at_ends: Option<Pointwise>,
    applications: Vec<Application>,
}

/// A pointwise kernel and its fields.
struct Pointwise {
    job: Job,
    fields: Vec<Place>,
}

/// An operator with its source and target.
struct Application {
    operator: Arc<DeviceOperator>,
    from: Place,
    to: Place,
    /// The coupling to other ranks, if lines are split.
    line_ends: Option<LineEnds>,
}

impl Composed {
    pub(super) fn new(task: &Task) -> Result<Self> {
        let mut builder = Builder { task, known: HashMap::new(), places: Places::default() };
        let stages = task.sweep.stages();
        let stage = |(at, applied): (usize, &Vec<_>)| builder.stage(at, applied);
        let stages = stages.iter().enumerate().map(stage).collect::<Result<_>>()?;
        let buffers = task.workspace.values.take(builder.places.count, task.values())?;
        let (last, precision) = (builder.last()?, task.workspace.precision);
        Ok(Self { stages, last, buffers, precision })
    }

    /// Runs all stages and stores the results.
    pub(super) fn run(&self, fields: Fields, weights: Weights) {
        let run = Run { sweep: self, fields, scalars: [weights.beta, weights.advance] };
        (0..self.stages.len()).for_each(|at| run.stage(at));
        self.last.iter().for_each(|last| run.launch(last));
    }

    /// Fills `planes[stage]` from the operands of that stage; `planes` of earlier stages hold their interface values.
    /// Products are computed again later, because other sweeps use the same memory in between.
    pub(super) fn pack(&self, stage: usize, fields: Fields) {
        let run = Run { sweep: self, fields, scalars: [0.0; 2] };
        (0..stage).for_each(|at| run.stage(at));
        let Stage { products, at_ends, applications } = &self.stages[stage];
        at_ends.as_ref().or(products.as_ref()).iter().for_each(|products| run.launch(products));
        for Application { from, line_ends, .. } in applications {
            line_ends
                .iter()
                .for_each(|line_ends| line_ends.pack(run.at(from), fields.planes[stage]));
        }
    }
}

struct Run<'a> {
    sweep: &'a Composed,
    fields: Fields<'a>,
    /// β and the weight of the advance.
    scalars: [f64; 2],
}

impl Run<'_> {
    fn at(&self, place: &Place) -> &Buffer {
        match *place {
            Place::Read(slot) | Place::Plane(slot) => self.fields.read[slot],
            Place::Written(slot) => &*self.fields.write[slot],
            Place::Internal(at) => &self.sweep.buffers[at],
        }
    }

    fn launch(&self, Pointwise { job, fields }: &Pointwise) {
        let scalars = Arg::Scalars(self.sweep.precision, &self.scalars);
        job.launch(fields.iter().map(|place| self.at(place).arg()).chain([scalars]));
    }

    fn stage(&self, at: usize) {
        let stage = &self.sweep.stages[at];
        stage.products.iter().for_each(|products| self.launch(products));
        for Application { operator, from, to, line_ends } in &stage.applications {
            operator.apply(self.at(from), self.at(to));
            if let (Some(line_ends), Some(planes)) = (line_ends, self.fields.planes.get(at)) {
                line_ends.add_inflow(self.at(to), planes);
            }
        }
    }
}

/// State while the stages of a sweep are built.
struct Builder<'a> {
    task: &'a Task,
    /// Operators that are already compiled.
    known: HashMap<Op, Arc<DeviceOperator>>,
    places: Places,
}

impl Builder<'_> {
    /// Builds the products that operators are applied to, then the operators: (operator, operand, result).
    fn stage(&mut self, number: usize, applied: &[(Op, &Expr, Value)]) -> Result<Stage> {
        let workspace = &self.task.workspace;
        let results = self.places.results.clone();
        let mut forming = ExpressionText::new(self.task, &results, Vec::new());
        let (mut from, mut formed, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for (_, operand, _) in applied {
            let field = operand.as_value().and_then(|value| forming.place(value));
            let field = field.filter(|place| !matches!(place, Place::Plane(_)));
            from.push(field.unwrap_or_else(|| {
                let text = forming.expression(operand);
                stores.push(format!("w{}[at] = {text};", formed.len()));
                formed.push(Place::Internal(self.places.take()));
                formed[formed.len() - 1]
            }));
        }
        let ends: Vec<_> =
            applied.iter().filter_map(|(op, ..)| self.task.operator(*op).ends.as_ref()).collect();
        let (mut products, mut at_ends) = (None, None);
        if !formed.is_empty() {
            let kernel = |visit: &Visit| forming.kernel(visit, "products", &formed, &stores);
            let reach = ends.iter().flat_map(|ends| ends.sources.iter().flatten().map(Vec::len));
            let near = reach.max().filter(|_| number == 0);
            let near = near.and_then(|reach| self.task.lines().near_ends(reach));
            at_ends = near.map(|near| kernel(&near)).transpose()?;
            products = Some(kernel(&Visit::all(self.task.values()))?);
        }
        let layout = Layout::of_ends(ends.iter().copied());
        let mut applications = Vec::new();
        for (at, (&(op, _, result), from)) in applied.iter().zip(from).enumerate() {
            let line_ends = ends.get(at).map(|ends| {
                let place = (&workspace.device, workspace.precision);
                LineEnds::new(place, ends, self.task.lines(), &layout.starts[at])
            });
            let operator = self.operator(op)?;
            let (to, line_ends) = (self.home(result), line_ends.transpose()?);
            applications.push(Application { operator, from, to, line_ends });
        }
        self.places.release(&formed);
        Ok(Stage { products, at_ends, applications })
    }

    fn operator(&mut self, op: Op) -> Result<Arc<DeviceOperator>> {
        if let Some(known) = self.known.get(&op) {
            return Ok(Arc::clone(known));
        }
        let Task { workspace, points, axis, .. } = self.task;
        let made = workspace.operator(self.task.operator(op), *points, *axis);
        let made = Arc::new(made.map_err(|error| with_operator(error, op, *axis))?);
        self.known.insert(op, made.clone());
        Ok(made)
    }

    /// Returns the target of an operator's result.
    fn home(&mut self, result: Value) -> Place {
        if let Some(slot) = stored_alone(&self.task.sweep.operations, result) {
            return Place::Written(slot);
        }
        let at = self.places.take();
        self.places.results.insert(result, at);
        Place::Internal(at)
    }

    /// Builds the kernel for everything that the sweep stores and adds.
    fn last(&self) -> Result<Option<Pointwise>> {
        let Task { sweep, .. } = self.task;
        let results = &self.places.results;
        // An operator may have written its result directly to the target field.
        let is_direct = |value: Value| {
            let made = |operation: &&Operation| operation.results().contains(&value);
            let origin = sweep.operations.iter().find(made);
            matches!(origin, Some(Operation::Apply { .. })) && !results.contains_key(&value)
        };
        let (mut sums, mut stored) = (BTreeMap::<usize, Vec<&Expr>>::new(), BTreeMap::new());
        for operation in &sweep.operations {
            match operation {
                Operation::Store { expr, .. } if expr.as_value().is_some_and(is_direct) => {}
                Operation::Store { slot, expr } => drop(stored.insert(*slot, expr)),
                Operation::Add { slot, expr } => sums.entry(*slot).or_default().push(expr),
                _ => {}
            }
        }
        let mut slots: Vec<usize> = sums.keys().chain(stored.keys()).copied().collect();
        slots.sort_unstable();
        if slots.is_empty() {
            return Ok(None);
        }
        let number = |slot| slots.iter().position(|other| *other == slot).unwrap_or_default();
        let mut forming = ExpressionText::new(self.task, results, slots.clone());
        let mut stores = Vec::new();
        // Sums first: a stored value may be advanced by them.
        for (slot, terms) in &sums {
            let at = number(*slot);
            let sum: Vec<String> = terms.iter().map(|expr| forming.expression(expr)).collect();
            let before = format!("(scalars[first] == 0 ? 0 : scalars[first] * w{at}[at])");
            forming.lines.push(format!("const REAL s{at} = {before} + ({});", sum.join(" + ")));
            forming.sums.insert(*slot, format!("s{at}"));
            stores.push(format!("w{at}[at] = s{at};"));
        }
        for (slot, expr) in stored {
            let (at, text) = (number(slot), forming.expression(expr));
            forming.lines.push(format!("const REAL s{at} = {text};"));
            stores.push(format!("w{at}[at] = s{at};"));
        }
        let written: Vec<Place> = slots.into_iter().map(Place::Written).collect();
        let visit = Visit::all(self.task.values());
        forming.kernel(&visit, "sum of all terms", &written, &stores).map(Some)
    }
}

impl ExpressionText<'_> {
    /// Compiles the kernel that computes the requested expressions and stores them.
    fn kernel(
        &self,
        visit: &Visit,
        name: &str,
        written: &[Place],
        stores: &[String],
    ) -> Result<Pointwise> {
        let Workspace { device, precision, .. } = &*self.task.workspace;
        let count = [self.places.len(), written.len()];
        let lines = [&self.lines, stores].concat();
        let does = (&lines[..], self.coefficients.clone());
        let job = pointwise((device, *precision), visit, name, count, does)?;
        Ok(Pointwise { job, fields: [&self.places, written].concat() })
    }
}

/// Adds the operator to a refusal.
fn with_operator(error: Error, op: Op, axis: Axis) -> Error {
    match error {
        Error::Config(mut lines) => {
            let along = format!("{axis:?}").to_lowercase();
            lines.push(format!("       that is {} along {along}", op.name()));
            lines.push("1 error; nothing was run".into());
            Error::Config(lines)
        }
        other => other,
    }
}

/// Allocation of the sweep's own buffers.
#[derive(Default)]
struct Places {
    /// Buffers of operator results.
    results: BTreeMap<Value, usize>,
    free: Vec<usize>,
    count: usize,
}

impl Places {
    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    fn release(&mut self, places: &[Place]) {
        self.free.extend(places.iter().filter_map(|place| match place {
            Place::Internal(at) => Some(*at),
            _ => None,
        }));
    }
}

/// Returns the field that `result` of an operator is stored to, if that is its only use and the previous content of the
/// field is not read: the operator can then write there directly.
fn stored_alone(operations: &[Operation], result: Value) -> Option<usize> {
    let mut users = operations.iter().filter(|o| o.used().any(|value| value == result));
    let (Some(Operation::Store { slot, expr }), None) = (users.next(), users.next()) else {
        return None;
    };
    let read_before = |operation: &Operation| matches!(operation, Operation::Previous { slot: other, .. } if other == slot);
    let alone = expr.as_value() == Some(result) && !operations.iter().any(read_before);
    alone.then_some(*slot)
}
