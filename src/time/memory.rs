//! Whether a run fits in memory.

use super::available_memory;
use super::largest::{advice, largest};
use crate::backend::device::{self, Device, DeviceInfo, IsKernel, LineSolver};
use crate::backend::ranks::WorkArrayLengths;
use crate::comm::{Communicator, all_or_error};
use crate::config::{Config, FilterConfig, Pencils, Variable};
use crate::error::{Error, Result, out_of_memory};
use crate::grid::{Block, Decomposition};
use crate::physics::{FieldCounts, all_sweeps, composed_scratch_fields};
use crate::scheme::Form;

/// Refuse a grid whose fields cannot fit, with the numbers, before anything is written and before the system kills the program.
/// Each of `ranks` ranks on this machine holds about as many points as `block`, a block of the grid's partition `decomposition`.
///
/// # Errors
/// [`Error::Config`] with the required memory, the available memory, and what would fit.
pub(crate) fn check_memory(
    config: &Config,
    decomposition: Decomposition,
    block: &Block,
    ranks: usize,
) -> Result<()> {
    let messages = scaled_messages(config, decomposition, block);
    let needed = |config: &Config, block: &Block| {
        Parts::of(config, block, None).bytes(block) + messages(block) + output_bytes(config, block)
    };
    check(config, block, ranks, needed)
}

/// The same check for the host memory that the outputs of a run need whose fields are elsewhere, and a component of a random
/// force that is generated on the host.
pub(crate) fn check_output_memory(config: &Config, block: &Block, ranks: usize) -> Result<()> {
    check(config, block, ranks, |config, block| {
        let random = config.forcing.as_ref().is_some_and(|force| force.stochastic().is_some());
        let fields = implicit_on_host(config) + usize::from(random);
        output_bytes(config, block) + 8.0 * (fields * block.len()) as f64
    })
}

/// The same check for the values of `fields` fields while they are read from a checkpoint, whose grid may differ, or while an
/// initial state is built. Collective.
pub(super) fn check_values_memory(
    comm: &dyn Communicator,
    fields: usize,
    block: &Block,
) -> Result<()> {
    let ranks = comm.local().1;
    let needed = 8.0 * (fields * ranks) as f64 * block.len() as f64;
    let checked = match available_memory(ranks) {
        Some(available) if needed > available => {
            let advice = "these are the initial values of the run; use more machines";
            Err(too_large(block, ranks, [needed, available], advice))
        }
        _ => Ok(()),
    };
    all_or_error(comm, checked)
}

/// Refuse a grid if `ranks` blocks such as this one need more than the free memory; `needed` returns the bytes per block.
fn check(
    config: &Config,
    block: &Block,
    ranks: usize,
    needed: impl Fn(&Config, &Block) -> f64,
) -> Result<()> {
    let Some(available) = available_memory(ranks) else { return Ok(()) };
    let all = |config: &Config, block: &Block| ranks as f64 * needed(config, block);
    if all(config, block) <= available {
        return Ok(());
    }
    // A larger or smaller grid with the same partition.
    let grid_points = config.grid.points;
    let fits = |config: &Config| {
        let scaled = |a: usize| (block.points[a] * config.grid.points[a]).div_ceil(grid_points[a]);
        let block = Block::whole(std::array::from_fn(scaled));
        all(config, &block) <= available
    };
    // Blocks on other machines do not count here.
    let share = count(grid_points) / (count(block.points) * ranks as f64);
    let advice = advice(largest(config, available * share.max(1.0), fits));
    Err(too_large(block, ranks, [all(config, block), available], &advice))
}

/// The error for bytes that exceed the free memory.
fn too_large(block: &Block, ranks: usize, bytes: [f64; 2], advice: &str) -> Error {
    let [x, y, z] = block.points;
    let times = if ranks > 1 { format!("{ranks} times ") } else { String::new() };
    let what = format!("{times}{x} x {y} x {z} points");
    Error::refused(out_of_memory(what, bytes, "of memory", "are free"), advice)
}

/// The same check for the memory of a device, where operators store their results unless every sweep is one kernel.
///
/// # Errors
/// [`Error::Config`] with the required memory, the available memory, and what would fit.
pub(crate) fn check_device_memory(
    config: &Config,
    decomposition: Decomposition,
    block: &Block,
    on: &Device,
) -> Result<()> {
    let messages = scaled_messages(config, decomposition, block);
    let needed = |config: &Config, block: &Block| {
        Parts::of(config, block, Some(on.info())).bytes(block) + messages(block)
    };
    let free = on.free_memory();
    device::check_memory(on.info(), free, needed(config, block), block.points, || {
        let available = free.unwrap_or(on.info().memory) as f64;
        let fits = |config: &Config| needed(config, &Block::whole(config.grid.points)) <= available;
        let mut own = config.clone();
        own.grid.points = block.points;
        advice(largest(&own, available, fits))
    })
}

/// Whether the memory of a device also suffices if every sweep is run operator by operator, which tuning may find faster. The
/// momentarily free memory does not count: a restarted run must be partitioned as before.
pub(crate) fn can_tune(config: &Config, block: &Block, on: &DeviceInfo) -> bool {
    let needed = Parts::with_fusing(config, block, Some((on, false))).bytes(block);
    device::check_memory(on, None, needed, block.points, String::new).is_ok()
}

/// Fields that operators need on `device` for the points of `block`: their results where a sweep is not one kernel, as always
/// unless `fused`, and the workspace of the line solvers. The matrices that `cusparse` keeps, one per line, are not counted.
fn operator_fields(config: &Config, block: &Block, (device, fused): (&DeviceInfo, bool)) -> usize {
    let compute = &config.compute;
    let scratch = composed_scratch_fields(&config.problem(), block, |axis, sweep, operators| {
        fused
            && device::is_kernel(device, compute, sweep, axis, block.points, operators)
                == IsKernel::Yes
    });
    let solver = compute.line_solver.map_or(0, LineSolver::scratch_fields);
    let pencils = if compute.pencils == Pencils::Permuted { 2 } else { 0 };
    scratch + solver + pencils
}

/// Bytes of the working arrays of the rank with `block` along axes that `decomposition` divides: planes that are sent and received,
/// and, where lines are transposed between ranks, copies of them with the results of operators.
pub fn message_bytes(config: &Config, decomposition: Decomposition, block: &Block) -> f64 {
    if decomposition == Decomposition::ONE {
        return 0.0;
    }
    let (sweeps, operators) = all_sweeps(&config.problem(), block);
    let (points, method) = (config.grid.points, config.compute.distributed);
    let needed = WorkArrayLengths::of(&sweeps, &operators, decomposition, (points, block), method);
    (needed.values(block.len()) * config.compute.precision.bytes()) as f64
}

/// [`message_bytes`] for blocks of other sizes: planes scale with the surface, whole lines with the points, and the larger of both
/// counts.
fn scaled_messages(
    config: &Config,
    decomposition: Decomposition,
    block: &Block,
) -> impl Fn(&Block) -> f64 {
    let (bytes, points) = (message_bytes(config, decomposition, block), block.len() as f64);
    move |other| {
        let ratio = other.len() as f64 / points;
        bytes * ratio.max(ratio.powf(2.0 / 3.0))
    }
}

/// Values per point on the host while fields, planes or pictures are written, one variable after another: computed values at all
/// points, and, for fields, twice the written points, at the source and at the destination; for a region only its part of the
/// box.
fn values_per_point(config: &Config) -> f64 {
    let largest = |variables: &[Variable]| {
        variables.iter().map(Variable::components).max().unwrap_or(0) as f64
    };
    let planes = config.output.planes.as_ref().map_or(0.0, |planes| largest(&planes.variables));
    // A picture shows one value.
    let computed = planes.max(1.0);
    let Some(fields) = &config.output.fields else { return computed };
    let of_axis = |a: usize| {
        let length = config.grid.domain.length[a];
        let part = fields.region.map_or(1.0, |it| ((it.to[a] - it.from[a]) / length).min(1.0));
        if config.grid.points[a] > 1 { part / fields.stride as f64 } else { 1.0 }
    };
    let written = 1.0 + 2.0 * (0..3).map(of_axis).product::<f64>();
    computed.max(largest(&fields.variables) * written)
}

/// Bytes that outputs need on the host while they are computed.
pub(super) fn output_bytes(config: &Config, block: &Block) -> f64 {
    let state = config.problem().fields();
    let statistics = config.output.statistics.as_ref().map_or(0, |statistics| {
        let gradients = statistics.quantities.iter().any(|quantity| quantity.needs_gradients());
        // For profiles (mu, heat), for a flow (rho, u, p, T), passive scalars, gradients, and three components before, in and
        // after a transform.
        if !config.case.is_flow() {
            5
        } else {
            let profiles = if config.problem().axis_between_walls().is_some() { 2 } else { 0 };
            6 + config.scalars.len() + profiles + if gradients { 9 } else { 0 } + 9
        }
    });
    let checkpoint = config.output.checkpoint.as_ref();
    let copies = if checkpoint.is_some_and(|it| it.asynchronous) { state } else { 0 };
    // Packed values of a variable, and their compressed copy.
    let packed = checkpoint.map_or(0.0, |it| if it.compress { 3.0 } else { 2.0 });
    let computed = values_per_point(config).max(packed).max(statistics as f64);
    8.0 * block.len() as f64 * (copies as f64 + computed)
}

/// Number of points of a box, which may exceed the range of integers.
pub(super) fn count(points: [usize; 3]) -> f64 {
    points.iter().map(|&n| n as f64).product()
}

/// Unknowns of implicit steps per point.
pub(super) const UNKNOWNS: usize = 5;

/// 64-bit numbers per point of the blocks of implicit steps: 5 x 5 each, 1 in 64 bit and up to 6 in 32.
fn implicit_blocks(config: &Config) -> usize {
    UNKNOWNS * UNKNOWNS * (1 + active_axes(config))
}

fn active_axes(config: &Config) -> usize {
    config.grid.points.iter().filter(|n| **n > 1).count()
}

/// Fields of implicit steps: the vectors of unknowns, those in the order of the blocks, and the blocks.
fn implicit_fields(config: &Config) -> usize {
    let Some(implicit) = &config.time.implicit else { return 0 };
    let vectors =
        implicit.krylov.min(implicit.products) as usize + implicit.method.method().a.len() + 11;
    UNKNOWNS * vectors + implicit_blocks(config) + usize::from(implicit.is_steady())
}

/// 64-bit numbers per point of implicit steps on the host while blocks are computed from the state, including the arrays of their
/// rows.
fn implicit_on_host(config: &Config) -> usize {
    match config.time.implicit {
        Some(_) => UNKNOWNS + implicit_blocks(config) + 4 * 2 * active_axes(config),
        None => 0,
    }
}

/// Fields that a run holds permanently for the points of a block, by purpose.
pub struct Parts {
    /// Purpose and number of fields.
    counts: [(&'static str, usize); 9],
    /// Bytes per value.
    value: f64,
}

impl Parts {
    /// The fields of `config` for the points of `block`, on the host or on `device`.
    pub fn of(config: &Config, block: &Block, device: Option<&DeviceInfo>) -> Self {
        Self::with_fusing(config, block, device.map(|device| (device, true)))
    }

    /// The same on a device with sweeps fused where possible, or without fusing.
    fn with_fusing(config: &Config, block: &Block, device: Option<(&DeviceInfo, bool)>) -> Self {
        let state = config.problem().fields();
        let (copies, stages) = match config.time.integrator.form {
            Form::LowStorage { .. } => (1, 1),
            Form::Butcher { b, .. } => (2, b.len()),
        };
        // A filter that acts as a rate needs F U − U.
        let by_time =
            |filter: FilterConfig| filter.time.is_some() || config.time.implicit.is_some();
        let rates = stages + usize::from(config.scheme.filter.is_some_and(by_time));
        let field_counts = config.case.is_flow().then(|| FieldCounts::of(&config.problem(), block));
        let field_counts = field_counts.unwrap_or_default();
        let on_host = usize::from(device.is_none());
        let counts = [
            // U, and the copies of it that an integrator keeps.
            ("state", copies * state),
            ("rates", rates * state),
            ("primitive variables", field_counts.primitives),
            ("gradients", field_counts.gradients),
            // On the host also a component of a random force that is generated there.
            ("force", field_counts.force + if field_counts.force > 0 { on_host } else { 0 }),
            ("weights of averages", field_counts.weights),
            ("metric", field_counts.metric),
            // Results of operators and line solvers.
            ("operators", device.map_or(0, |device| operator_fields(config, block, device))),
            ("implicit steps", implicit_fields(config) + on_host * implicit_on_host(config)),
        ];
        Self { counts, value: config.compute.precision.bytes() as f64 }
    }

    /// Total number of fields.
    fn fields(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }

    /// Bytes per point.
    pub fn bytes_per_point(&self) -> f64 {
        self.fields() as f64 * self.value
    }

    /// Bytes of the points of `block`.
    pub fn bytes(&self, block: &Block) -> f64 {
        count(block.points) * self.bytes_per_point()
    }

    /// Description in words.
    pub fn described(&self) -> String {
        let present = self.counts.iter().filter(|(_, count)| *count > 0);
        let named: Vec<_> = present.map(|(name, count)| format!("{count} {name}")).collect();
        format!("{}: {}", self.fields(), named.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_check_counts_all_ranks_of_a_machine() {
        let points = [1 << 14, 1 << 14, 1 << 10];
        let config = crate::config::of_case("taylor-green", points, &[]).unwrap();
        let block = Block::whole(points);
        let decomposition = Decomposition::ONE;
        let error = |ranks| {
            check_memory(&config, decomposition, &block, ranks).err().map(|e| e.to_string())
        };
        let one = error(1).unwrap_or_default();
        assert!(one.starts_with("error: 16384 x 16384 x 1024 points need "), "{one}");
        let four = error(4).unwrap_or_default();
        assert!(four.starts_with("error: 4 times 16384 x 16384 x 1024 points need "), "{four}");
        let gib = |text: &str| -> f64 {
            let number = text.split(" need ").nth(1).and_then(|rest| rest.split(' ').next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0.0)
        };
        // The advised grid is such that this many fit into the free memory, to the digits of the message.
        for (text, ranks) in [(&one, 1.0), (&four, 4.0)] {
            let most = text.split(" at most ").nth(1).and_then(|rest| rest.split(" points").next());
            let most: Vec<usize> = most.unwrap().split(" x ").map(|n| n.parse().unwrap()).collect();
            let block = Block::whole(most.try_into().unwrap());
            let mut own = config.clone();
            own.grid.points = block.points;
            let needed = ranks * Parts::of(&own, &block, None).bytes(&block) / f64::from(1 << 30);
            let free = text.split("; ").nth(1).and_then(|rest| rest.split(' ').next());
            let free: f64 = free.unwrap().parse().unwrap();
            assert!(needed <= free + 0.05 && needed > 0.5 * free, "{needed} GiB: {text}");
        }
        assert!((gib(&four) / gib(&one) - 4.0).abs() < 1e-3, "{one} {four}");
    }
}
