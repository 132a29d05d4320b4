//! Pointwise kernels: maps, and sums and maxima as trees of fixed shape.

use std::sync::{Arc, OnceLock};

use super::coefficients::Coefficients;
use super::job::{Job, LaunchSize};
use super::text::{Names, Text, parameters, statements};
use super::{Arg, Buffer, Device, PendingReduction, get_or_try_init};
use crate::backend::OnPart;
use crate::engine::{Planes, PointFormula, Use};
use crate::error::Result;
use crate::real::Precision;

/// Threads per block.
const THREADS: usize = 256;
/// Largest number of blocks of a reduction. The number, and thus the order of summation, depends only on the length of
/// the fields.
const MAX_BLOCKS: usize = 1024;

/// Statements that compute a formula at point `at`.
fn statements_of(
    formula: &PointFormula,
    coefficients: &mut Coefficients,
    read: &dyn Fn(usize) -> String,
    result: impl Fn(usize, &str) -> String,
) -> Vec<String> {
    let names = Names { read, prefix: "t", safe_divisors: false };
    statements(coefficients, formula, &names, result)
}

/// Returns the text of the fields that `formula` reads at the visited point.
fn read_at(formula: &PointFormula) -> impl Fn(usize) -> String {
    let planes = formula.planes;
    move |field| match planes {
        Some(Planes { first, points }) if field >= first => format!("f{field}[at % {points}]"),
        _ => format!("f{field}[at]"),
    }
}

/// Returns statements that store the results of a map.
fn map_lines(
    formula: &PointFormula,
    coefficients: &mut Coefficients,
    read: &dyn Fn(usize) -> String,
) -> Vec<String> {
    let result = |at: usize, result: &str| format!("const REAL r{at} = {result};");
    let mut lines = statements_of(formula, coefficients, read, result);
    lines.extend((0..formula.results.len()).map(|at| format!("w{at}[at] = r{at};")));
    lines
}

/// The points that a kernel visits.
pub(super) struct Visit {
    pub(super) count: usize,
    /// C expression for the point of item `item`.
    pub(super) place: String,
}

impl Visit {
    /// Visits all points of a field of `len` points.
    pub(super) fn all(len: usize) -> Self {
        Self { count: len, place: "item".into() }
    }
}

/// Compiles a kernel that executes `lines`, with these coefficients, at every visited point, for the given numbers of
/// fields to read and to write.
pub(super) fn pointwise(
    (device, precision): (&Arc<Device>, Precision),
    visit: &Visit,
    name: &str,
    [read, written]: [usize; 2],
    (lines, coefficients): (&[String], Coefficients),
) -> Result<Job> {
    let mut text = Text::new(precision);
    text.define("FIELDS", coefficients.parameters(parameters(read, written)));
    text.define("THREADS", THREADS);
    text.define("LENGTH", visit.count);
    text.define("PLACE(item)", format!("({})", visit.place));
    text.define_lines("POINT(at)", lines);
    text.push(include_str!("../../../kernels/pointwise.cu"));
    let size = LaunchSize::over(visit.count, THREADS);
    Ok(Job::new(device, &text.source(name), "pointwise", &size)?.with_coefficients(coefficients))
}

/// A formula compiled for evaluation at every point. If the compiler is slow, it is compiled at its first evaluation,
/// because a run may not need all its formulas.
pub struct PointKernel {
    device: Arc<Device>,
    precision: Precision,
    kind: OnceLock<Kind>,
    build: Builder,
}

type Builder = Box<dyn Fn(&Arc<Device>) -> Result<Kind> + Send + Sync>;

enum Kind {
    /// It computes fields from fields.
    Map(Job),
    /// Its results are summed over all points, or their maximum is taken: in f64 if the device supports it.
    Reduction { over_points: Job, over_blocks: Job, partials: Buffer, results: Buffer },
}

impl Kind {
    fn map(
        (device, precision): (&Arc<Device>, Precision),
        len: usize,
        formula: &PointFormula,
    ) -> Result<Self> {
        let mut coefficients = Coefficients::new(precision, "REAL");
        let lines = map_lines(formula, &mut coefficients, &read_at(formula));
        let (fields, does) = ([formula.reads, formula.results.len()], (&lines[..], coefficients));
        let job = pointwise((device, precision), &Visit::all(len), formula.name, fields, does)?;
        Ok(Self::Map(job))
    }

    /// Compiles a sum, or a maximum.
    fn reduction(
        (device, precision): (&Arc<Device>, Precision),
        len: usize,
        formula: &PointFormula,
        maximum: bool,
    ) -> Result<Self> {
        let wide = device.info().sum_precision();
        let result = |at: usize, result: &str| format!("r[{at}] = {result};");
        let mut coefficients = Coefficients::new(wide, "WIDE");
        let lines = statements_of(formula, &mut coefficients, &read_at(formula), result);
        let (results, blocks) = (formula.results.len(), len.div_ceil(THREADS).min(MAX_BLOCKS));
        let mut text = Text::new(precision);
        text.define("FIELDS", coefficients.parameters(parameters(formula.reads, 0)));
        text.define("WIDE_IS_DOUBLE", u8::from(wide == Precision::F64));
        text.define("THREADS", THREADS);
        text.define("BLOCKS", blocks);
        text.define("LENGTH", len);
        text.define("RESULTS", results);
        text.define("MAXIMUM", u8::from(maximum));
        text.define_lines("POINT(at)", &lines);
        text.push(include_str!("../../../kernels/reduce.cu"));
        let source = text.source(formula.name);
        let job = |entry, blocks| {
            let size = LaunchSize::linear(blocks, THREADS, THREADS * wide.bytes());
            Job::new(device, &source, entry, &size)
        };
        Ok(Self::Reduction {
            over_points: job("over_points", blocks)?.with_coefficients(coefficients),
            over_blocks: job("over_blocks", 1)?,
            partials: Buffer::new(device, wide, results * blocks)?,
            results: Buffer::new(device, wide, results)?,
        })
    }
}

impl PointKernel {
    /// Compiles a formula for fields of `len` values.
    pub(super) fn new(
        place: (&Arc<Device>, Precision),
        len: usize,
        formula: &PointFormula,
    ) -> Result<Self> {
        let (formula, precision) = (formula.clone(), place.1);
        Self::with_builder(place, move |device| match formula.of {
            Use::Map => Kind::map((device, precision), len, &formula),
            Use::Sum => Kind::reduction((device, precision), len, &formula, false),
            Use::Max => Kind::reduction((device, precision), len, &formula, true),
        })
    }

    fn with_builder(
        (device, precision): (&Arc<Device>, Precision),
        build: impl Fn(&Arc<Device>) -> Result<Kind> + Send + Sync + 'static,
    ) -> Result<Self> {
        let (device, build): (_, Builder) = (device.clone(), Box::new(build));
        let kernel = Self { device, precision, kind: OnceLock::new(), build };
        if !kernel.device.compiles_concurrently() {
            kernel.kind()?;
        }
        Ok(kernel)
    }

    fn kind(&self) -> Result<&Kind> {
        get_or_try_init(&self.kind, || (self.build)(&self.device))
    }

    /// Compiles a map on a part of `points` that reads the fields that it writes at an offset from the point: (field,
    /// offset in values). The last `own` fields contain only the part.
    pub(super) fn on_part(
        (device, precision): (&Arc<Device>, Precision),
        OnPart { formula, points, part, reads, own }: &OnPart,
    ) -> Result<Self> {
        let read = |at: usize| format!("w{}[at + ({})]", reads[at].0, reads[at].1);
        let mut coefficients = Coefficients::new(precision, "REAL");
        let mut lines = map_lines(formula, &mut coefficients, &read);
        for field in formula.results.len() - own..formula.results.len() {
            let of_part = |line: &mut String| {
                *line = line.replace(&format!("w{field}[at]"), &format!("w{field}[item]"));
            };
            lines.iter_mut().for_each(of_part);
        }
        let ([i, j, k], [nx, ny, _], [sx, sy, _]) = (part.start, *points, part.points);
        let place = format!(
            "{i} + (item) % {sx} + {nx} * ({j} + (item) / {sx} % {sy} + (int64){ny} * ({k} + (item) / {sx} / {sy}))"
        );
        let visit = Visit { count: part.len(), place };
        let fields = [0, formula.results.len()];
        let name = formula.name;
        Self::with_builder((device, precision), move |device| {
            let does = (&lines[..], coefficients.clone());
            pointwise((device, precision), &visit, name, fields, does).map(Kind::Map)
        })
    }

    /// Evaluates a map at every point.
    pub(super) fn run(&self, read: &[&Buffer], write: &[&mut Buffer], parameters: &[f64]) {
        let job = match self.kind() {
            Ok(Kind::Map(job)) => job,
            Ok(_) => unreachable!("made for a sum or a maximum"),
            Err(error) => return self.device.defer_error(Err(error)),
        };
        let read = read.iter().map(|field| field.arg());
        let write = write.iter().map(|field| field.arg());
        job.launch(read.chain(write).chain([Arg::Scalars(self.precision, parameters)]));
    }

    /// Starts a reduction over all points.
    pub(super) fn begin(&self, read: &[&Buffer], parameters: &[f64]) -> Result<PendingReduction> {
        let Kind::Reduction { over_points, over_blocks, partials, results } = self.kind()? else {
            unreachable!("made for a map")
        };
        let fields = read.iter().map(|field| field.arg());
        let scalars = Arg::Scalars(self.precision, parameters);
        over_points.launch(fields.chain([partials.arg(), scalars]));
        over_blocks.launch([partials.arg(), results.arg()]);
        results.fetch(results.len())
    }
}
