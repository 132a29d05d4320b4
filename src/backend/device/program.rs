//! A sweep on a device, operation by operation: products are formed at every point, operators applied to them line by
//! line, and one kernel adds up all terms in the end.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::lines::DeviceOperator;
use super::text::{Forming, Place, Text, parameters};
use super::{Arg, Buffer, Device, Gpu, Kernel};
use crate::engine::{Expr, LineOperators, Op, Operation, Sweep, Value};
use crate::error::{Error, Result};
use crate::grid::Axis;
use crate::real::Real;

/// Threads of a block of a pointwise kernel.
pub(super) const THREADS: u32 = 256;
/// Most fields that a kernel of a sweep takes.
const MAX_ARGUMENTS: usize = 96;

/// A sweep along one axis, ready to run on a device.
pub struct Program<T> {
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
    applications: Vec<Application<T>>,
}

/// An operator from one place to another.
struct Application<T> {
    operator: Arc<DeviceOperator<T>>,
    from: Place,
    to: Place,
}

/// A kernel that looks at one point at a time.
struct Pointwise {
    kernel: Kernel,
    blocks: u32,
    read: Vec<Place>,
    written: Vec<Place>,
}

impl<T: Real> Program<T> {
    pub(super) fn new(
        gpu: &Gpu<T>,
        sweep: &Sweep,
        axis: Axis,
        points: [usize; 3],
        operators: &LineOperators<T>,
    ) -> Result<Self> {
        let operations = &sweep.operations;
        let depths = depths(operations);
        let mut builder = Builder {
            gpu,
            operations,
            axis,
            points,
            operators,
            known: HashMap::new(),
            places: Places::default(),
        };
        let deepest = depths.values().copied().max().unwrap_or(0);
        let stages = (1..=deepest).map(|depth| {
            let applied = operations.iter().filter_map(|operation| match operation {
                Operation::Apply { op, operand, result } if depths[result] == depth => {
                    Some((*op, operand, *result))
                }
                _ => None,
            });
            builder.stage(&applied.collect::<Vec<_>>())
        });
        let stages = stages.collect::<Result<_>>()?;
        let places = builder.places;
        let room = gpu.values.take(places.count, points.iter().product())?;
        Ok(Self { stages, last: last(gpu, operations, &places.results)?, room })
    }

    pub(super) fn run(
        &self,
        gpu: &Gpu<T>,
        read: &[&Buffer<T>],
        write: &[&mut Buffer<T>],
        beta: f64,
        scale: f64,
    ) {
        let field = |place: &Place| match *place {
            Place::Read(slot) => read[slot],
            Place::Written(slot) => &*write[slot],
            Place::Made(at) => &*self.room[at],
        };
        let scalars = [beta, scale];
        let launch = |pointwise: &Pointwise| {
            let fields = pointwise.read.iter().chain(&pointwise.written).map(|at| field(at).arg());
            let mut arguments = [Arg::Int(0); MAX_ARGUMENTS];
            let mut count = 0;
            for (to, from) in arguments.iter_mut().zip(fields.chain([Arg::Scalars(&scalars)])) {
                *to = from;
                count += 1;
            }
            let blocks = [pointwise.blocks, 1, 1];
            gpu.device.launch::<T>(&pointwise.kernel, blocks, &arguments[..count]);
        };
        for Stage { products, applications } in &self.stages {
            products.iter().for_each(launch);
            for Application { operator, from, to } in applications {
                operator.apply(field(from), field(to));
            }
        }
        self.last.iter().for_each(launch);
    }
}

/// What the stages of a sweep are made from.
struct Builder<'a, T> {
    gpu: &'a Gpu<T>,
    operations: &'a [Operation],
    axis: Axis,
    points: [usize; 3],
    operators: &'a LineOperators<T>,
    /// The operators that are ready.
    known: HashMap<Op, Arc<DeviceOperator<T>>>,
    places: Places,
}

impl<T: Real> Builder<'_, T> {
    /// The products that operators are applied to, and then the operators: (operator, operand, result).
    fn stage(&mut self, applied: &[(Op, &Expr, Value)]) -> Result<Stage<T>> {
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
        let products = match formed.is_empty() {
            true => None,
            false => Some(Pointwise::new(self.gpu, "products", read, formed.clone(), &lines)?),
        };
        let mut applications = Vec::new();
        for (&(op, _, result), from) in applied.iter().zip(from) {
            let operator = self.operator(op)?;
            applications.push(Application { operator, from, to: self.home(result) });
        }
        self.places.release(formed);
        Ok(Stage { products, applications })
    }

    fn operator(&mut self, op: Op) -> Result<Arc<DeviceOperator<T>>> {
        if let Some(known) = self.known.get(&op) {
            return Ok(Arc::clone(known));
        }
        let operator = self.operators.get(self.axis, op);
        let made = self.gpu.operator(operator, self.points, self.axis);
        let made = Arc::new(made.map_err(|error| told(error, op, self.axis))?);
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
    let uses = |expr: &Expr| expr.0.iter().any(|monomial| monomial.factors.contains(&result));
    let mut users = operations.iter().filter(|operation| match operation {
        Operation::Read { .. } | Operation::Previous { .. } => false,
        Operation::Apply { operand: expr, .. }
        | Operation::Let { expr, .. }
        | Operation::Add { expr, .. }
        | Operation::Store { expr, .. } => uses(expr),
    });
    let (Some(Operation::Store { slot, expr }), None) = (users.next(), users.next()) else {
        return None;
    };
    let read_before = |operation: &Operation| matches!(operation, Operation::Previous { slot: other, .. } if other == slot);
    let alone = expr.as_value() == Some(result) && !operations.iter().any(read_before);
    alone.then_some(*slot)
}

/// How many operators stand one behind the other before a value is known.
fn depths(operations: &[Operation]) -> BTreeMap<Value, usize> {
    let mut depths = BTreeMap::new();
    for operation in operations {
        let deepest = |expr: &Expr, depths: &BTreeMap<Value, usize>| {
            let factors = expr.0.iter().flat_map(|monomial| &monomial.factors);
            factors.map(|value| depths[value]).max().unwrap_or(0)
        };
        match operation {
            Operation::Read { result, .. } | Operation::Previous { result, .. } => {
                depths.insert(*result, 0);
            }
            Operation::Apply { operand, result, .. } => {
                depths.insert(*result, deepest(operand, &depths) + 1);
            }
            Operation::Let { expr, result } => {
                depths.insert(*result, deepest(expr, &depths));
            }
            Operation::Add { .. } | Operation::Store { .. } => {}
        }
    }
    depths
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
    for (at, (slot, terms)) in written.into_iter().enumerate() {
        let sum: Vec<String> = terms.iter().map(|expr| forming.expression(expr)).collect();
        let sum = sum.join(" + ");
        stores.push(if stored.contains(&slot) {
            format!("w{at}[at] = {sum};")
        } else {
            forming.lines.push(format!(
                "const REAL b{at} = scalars[first] == 0 ? 0 : scalars[first] * w{at}[at];"
            ));
            format!("w{at}[at] = b{at} + scalars[first + 1] * ({sum});")
        });
    }
    let Forming { places, mut lines, .. } = forming;
    lines.extend(stores);
    let written = slots.into_iter().map(Place::Written).collect();
    Pointwise::new(gpu, "sum of all terms", places, written, &lines).map(Some)
}

impl Pointwise {
    fn new<T: Real>(
        gpu: &Gpu<T>,
        name: &str,
        read: Vec<Place>,
        written: Vec<Place>,
        lines: &[String],
    ) -> Result<Self> {
        let fields = [read.len(), written.len()];
        let kernel = pointwise::<T>(&gpu.device, gpu.len, name, fields, lines)?;
        Ok(Self { kernel, blocks: blocks(gpu.len), read, written })
    }
}

/// A kernel that does `lines` at every point of fields of `len` values: so many that are read, so many that are written.
pub(super) fn pointwise<T: Real>(
    device: &Device,
    len: usize,
    name: &str,
    [read, written]: [usize; 2],
    lines: &[String],
) -> Result<Kernel> {
    let mut text = Text::new::<T>();
    text.define("FIELDS", parameters(read, written));
    text.define("THREADS", THREADS);
    text.define("LENGTH", len);
    text.define_lines("POINT(at)", lines);
    text.push(include_str!("../../../kernels/pointwise.cu"));
    device.kernel(&text.source(name), "pointwise", [THREADS, 1, 1], 0)
}

/// Blocks of a pointwise kernel.
pub(super) fn blocks(len: usize) -> u32 {
    u32::try_from(len.div_ceil(THREADS as usize)).unwrap_or(u32::MAX)
}
