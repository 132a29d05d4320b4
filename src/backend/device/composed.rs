//! A sweep on a device, operation by operation: products are formed at every point, operators applied to them line by
//! line, and one kernel adds up all terms in the end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ends::Joints;
use super::lines::DeviceOperator;
use super::pointwise::{Pointwise, Visit};
use super::program::Task;
use super::text::{Forming, Place};
use super::{Arg, Buffer, Gpu};
use crate::backend::Weights;
use crate::engine::distributed::Layout;
use crate::engine::{Expr, Op, Operation, Value};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// A sweep along one axis, ready to run operation by operation.
pub(super) struct Composed<T> {
    stages: Vec<Stage<T>>,
    /// Everything that the sweep stores and adds. What is written was read before: one kernel does it, so that no other
    /// sees a field half changed.
    last: Option<Pointwise>,
    /// Where products and what operators make of them are kept.
    room: Vec<Arc<Buffer<T>>>,
}

/// Operators whose operands do not depend on each other, after the products that they are applied to.
struct Stage<T> {
    products: Option<Pointwise>,
    /// The same products near the ends of the lines only, where these are blocks of longer ones and no operator comes
    /// before.
    at_ends: Option<Pointwise>,
    applications: Vec<Application<T>>,
}

/// An operator from one place to another.
struct Application<T> {
    operator: Arc<DeviceOperator<T>>,
    from: Place,
    to: Place,
    /// Where lines are blocks of longer ones.
    joints: Option<Joints<T>>,
}

impl<T: Real> Composed<T> {
    pub(super) fn new(task: &Task<T>) -> Result<Self> {
        let Task { gpu, sweep, points, .. } = *task;
        let operations = &sweep.operations;
        let (known, places) = (HashMap::new(), Places::default());
        let mut builder = Builder { task, operations, known, places };
        let stages = sweep.stages();
        let number = |(at, applied): (usize, &Vec<_>)| builder.stage(at, applied);
        let stages = stages.iter().enumerate().map(number).collect::<Result<_>>()?;
        let places = builder.places;
        let room = gpu.values.take(places.count, points.iter().product())?;
        Ok(Self { stages, last: last(gpu, operations, &places.results)?, room })
    }

    /// All stages, and what is stored in the end. `planes` of every stage hold its inflow; there are none where lines
    /// are whole.
    pub(super) fn run(
        &self,
        gpu: &Gpu<T>,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        planes: &[Buffer<T>],
        weights: Weights,
    ) {
        let scalars = [weights.beta, weights.advance];
        let fields = Fields { sweep: self, gpu, read, write, scalars };
        for (at, stage) in self.stages.iter().enumerate() {
            stage.products.iter().for_each(|products| fields.launch(products));
            fields.apply(stage, planes.get(at));
        }
        self.last.iter().for_each(|last| fields.launch(last));
    }

    /// Fill `planes[stage]` from the operands of that stage; `planes` of earlier ones hold their inflow. Products are
    /// formed again later: other sweeps use the same memory in between.
    pub(super) fn pack(
        &self,
        gpu: &Gpu<T>,
        stage: usize,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        planes: &[Buffer<T>],
    ) {
        let fields = Fields { sweep: self, gpu, read, write, scalars: [0.0; 2] };
        for (at, before) in self.stages[..stage].iter().enumerate() {
            before.products.iter().for_each(|products| fields.launch(products));
            fields.apply(before, planes.get(at));
        }
        let Stage { products, at_ends, applications } = &self.stages[stage];
        at_ends.as_ref().or(products.as_ref()).iter().for_each(|products| fields.launch(products));
        for Application { from, joints, .. } in applications {
            if let Some(joints) = joints {
                joints.pack(fields.at(from), &planes[stage]);
            }
        }
    }
}

/// Where the places of a program are in one run.
struct Fields<'a, T> {
    sweep: &'a Composed<T>,
    gpu: &'a Gpu<T>,
    read: &'a [&'a Buffer<T>],
    write: &'a [&'a mut Buffer<T>],
    /// β and the advance.
    scalars: [f64; 2],
}

impl<T: Real> Fields<'_, T> {
    fn at(&self, place: &Place) -> &Buffer<T> {
        match *place {
            Place::Read(slot) => self.read[slot],
            Place::Written(slot) => &*self.write[slot],
            Place::Made(at) => &self.sweep.room[at],
        }
    }

    fn launch(&self, pointwise: &Pointwise) {
        let fields = pointwise.read.iter().chain(&pointwise.written).map(|at| self.at(at).arg());
        let arguments = fields.chain([Arg::Scalars(&self.scalars)]);
        self.gpu.device.launch::<T>(&pointwise.kernel, [pointwise.blocks, 1, 1], arguments);
    }

    fn apply(&self, stage: &Stage<T>, planes: Option<&Buffer<T>>) {
        for Application { operator, from, to, joints } in &stage.applications {
            operator.apply(self.at(from), self.at(to));
            if let (Some(joints), Some(planes)) = (joints, planes) {
                joints.add_inflow(self.at(to), planes);
            }
        }
    }
}

/// What the stages of a sweep are made from.
struct Builder<'a, T> {
    task: &'a Task<'a, T>,
    operations: &'a [Operation],
    /// The operators that are ready.
    known: HashMap<Op, Arc<DeviceOperator<T>>>,
    places: Places,
}

impl<T: Real> Builder<'_, T> {
    /// The products that operators are applied to, and then the operators: (operator, operand, result).
    fn stage(&mut self, number: usize, applied: &[(Op, &Expr, Value)]) -> Result<Stage<T>> {
        let results = self.places.results.clone();
        let mut forming = Forming::<T>::new(self.operations, &results, vec![]);
        let (mut from, mut formed, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for (_, operand, _) in applied {
            let field = operand.as_value().and_then(|value| forming.place(value));
            from.push(field.unwrap_or_else(|| {
                let text = forming.expression(operand);
                stores.push(format!("w{}[at] = {text};", formed.len()));
                formed.push(Place::Made(self.places.take()));
                formed[formed.len() - 1]
            }));
        }
        let Forming { places: read, mut lines, .. } = forming;
        lines.extend(stores);
        let ends: Vec<_> = applied
            .iter()
            .filter_map(|(op, ..)| self.task.operators.get(self.task.axis, *op).ends.as_ref())
            .collect();
        let products = |visit: &Visit| {
            Pointwise::new(self.task.gpu, "products", read.clone(), formed.clone(), &lines, visit)
        };
        let (whole, at_ends) = match formed.is_empty() {
            true => (None, None),
            false => {
                let reach =
                    ends.iter().flat_map(|ends| ends.sources.iter().flatten().map(Vec::len));
                let near = match (number, reach.max()) {
                    (0, Some(reach)) => self.task.lines().near_ends(reach),
                    _ => None,
                };
                let at_ends = near.map(|near| products(&near)).transpose()?;
                (Some(products(&Visit::all(self.task.gpu.len))?), at_ends)
            }
        };
        let layout = Layout::of_ends(ends.iter().copied());
        let mut applications = Vec::new();
        for (at, (&(op, _, result), from)) in applied.iter().zip(from).enumerate() {
            let joints = ends.get(at).map(|ends| {
                let starts = std::array::from_fn(|slot| layout.starts[at][slot]);
                Joints::new(&self.task.gpu.device, ends, self.task.lines(), starts)
            });
            let operator = self.operator(op)?;
            let (to, joints) = (self.home(result), joints.transpose()?);
            applications.push(Application { operator, from, to, joints });
        }
        self.places.release(formed);
        Ok(Stage { products: whole, at_ends, applications })
    }

    fn operator(&mut self, op: Op) -> Result<Arc<DeviceOperator<T>>> {
        if let Some(known) = self.known.get(&op) {
            return Ok(Arc::clone(known));
        }
        let operator = self.task.operators.get(self.task.axis, op);
        let made = self.task.gpu.operator(operator, self.task.points, self.task.axis);
        let made = Arc::new(made.map_err(|error| told(error, op, self.task.axis))?);
        self.known.insert(op, made.clone());
        Ok(made)
    }

    /// Where the result of an operator goes.
    fn home(&mut self, result: Value) -> Place {
        if let Some(slot) = stored_alone(self.operations, result) {
            return Place::Written(slot);
        }
        let at = self.places.take();
        self.places.results.insert(result, at);
        Place::Made(at)
    }
}

/// A refusal with the operator that it is about.
fn told(error: Error, op: Op, axis: Axis) -> Error {
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

/// Which of the sweep's own buffers holds what.
#[derive(Default)]
struct Places {
    /// What operators made.
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

    fn release(&mut self, places: Vec<Place>) {
        self.free.extend(places.iter().filter_map(|place| match place {
            Place::Made(at) => Some(*at),
            _ => None,
        }));
    }
}

/// The field that `result` of an operator is stored to, where that is all that is done with it and nobody asks for what was
/// in that field before: the operator can then write there at once.
fn stored_alone(operations: &[Operation], result: Value) -> Option<usize> {
    let mut users = operations.iter().filter(|o| o.used().any(|value| value == result));
    let (Some(Operation::Store { slot, expr }), None) = (users.next(), users.next()) else {
        return None;
    };
    let read_before = |operation: &Operation| matches!(operation, Operation::Previous { slot: other, .. } if other == slot);
    let alone = expr.as_value() == Some(result) && !operations.iter().any(read_before);
    alone.then_some(*slot)
}

/// Whether an operator writes its result where it is stored.
fn is_direct(value: Value, operations: &[Operation], results: &BTreeMap<Value, usize>) -> bool {
    let applied = |operation: &Operation| matches!(operation, Operation::Apply { result, .. } if *result == value);
    operations.iter().any(applied) && !results.contains_key(&value)
}

fn last<T: Real>(
    gpu: &Gpu<T>,
    operations: &[Operation],
    results: &BTreeMap<Value, usize>,
) -> Result<Option<Pointwise>> {
    let mut written: BTreeMap<usize, Vec<&Expr>> = BTreeMap::new();
    let mut stored = Vec::new();
    for operation in operations {
        match operation {
            // An operator has put it there already.
            Operation::Store { expr, .. }
                if expr.as_value().is_some_and(|value| is_direct(value, operations, results)) => {}
            Operation::Store { slot, expr } => {
                stored.push(*slot);
                written.entry(*slot).or_default().push(expr);
            }
            Operation::Add { slot, expr } => written.entry(*slot).or_default().push(expr),
            _ => {}
        }
    }
    if written.is_empty() {
        return Ok(None);
    }
    let slots: Vec<usize> = written.keys().copied().collect();
    let mut forming = Forming::<T>::new(operations, results, slots.clone());
    let mut stores = Vec::new();
    // Sums first: what is stored may be advanced by them.
    for (at, (slot, terms)) in written.iter().enumerate().filter(|(_, (s, _))| !stored.contains(s))
    {
        let sum: Vec<String> = terms.iter().map(|expr| forming.expression(expr)).collect();
        let before = format!("(scalars[first] == 0 ? 0 : scalars[first] * w{at}[at])");
        let sum = format!("{before} + ({})", sum.join(" + "));
        forming.lines.push(format!("const REAL s{at} = {sum};"));
        forming.sums.insert(*slot, format!("s{at}"));
        stores.push(format!("w{at}[at] = s{at};"));
    }
    for (at, (_, terms)) in written.iter().enumerate().filter(|(_, (s, _))| stored.contains(s)) {
        let text = forming.expression(terms[0]);
        forming.lines.push(format!("const REAL s{at} = {text};"));
        stores.push(format!("w{at}[at] = s{at};"));
    }
    let Forming { places, mut lines, .. } = forming;
    lines.extend(stores);
    let written = slots.into_iter().map(Place::Written).collect();
    let visit = Visit::all(gpu.len);
    Pointwise::new(gpu, "sum of all terms", places, written, &lines, &visit).map(Some)
}
