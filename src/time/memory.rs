//! Whether a run fits into memory.

use crate::backend::device::{self, Device, DeviceInfo};
use crate::config::{Config, Pencils, Precision, Statistic};
use crate::error::{Error, Result};
use crate::grid::Block;
use crate::lines::LineSolver;
use crate::physics::{Held, composed_room};
use crate::real::Real;
use crate::scheme::Form;

/// Refuse a grid whose fields cannot fit, with the numbers, before anything is written and before the system ends the
/// program for it. Each of `ranks` ranks on this machine holds about as many points as `block`.
///
/// # Errors
/// [`Error::Config`] with what is needed, what is there, and what would fit.
pub(crate) fn check_memory(config: &Config, block: &Block, ranks: usize) -> Result<()> {
    check(Parts::of(config, block, None).bytes(block) + for_outputs(config, block), block, ranks)
}

/// The same of what the host needs for the outputs of a run whose fields are elsewhere.
///
/// # Errors
/// As there.
pub(crate) fn check_output_memory(config: &Config, block: &Block, ranks: usize) -> Result<()> {
    check(for_outputs(config, block), block, ranks)
}

#[allow(clippy::cast_precision_loss, reason = "for a message")]
fn check(needed: f64, block: &Block, ranks: usize) -> Result<()> {
    const GIB: f64 = (1_u64 << 30) as f64;
    let needed = needed * ranks as f64;
    match available_memory() {
        Some(available) if needed > available => {
            let fits = (available / needed).cbrt();
            let [x, y, z] = block.points;
            let times = if ranks > 1 { format!("{ranks} times ") } else { String::new() };
            Err(Error::Config(vec![
                format!(
                    "error: {times}{x} x {y} x {z} points need {:.1} GiB of memory; {:.1} GiB are free",
                    needed / GIB,
                    available / GIB
                ),
                format!(
                    "       use at most {fits:.2} times as many points along each axis, or \
                     `compute.precision = \"f32\"`, or an integrator in 2N storage"
                ),
                "1 error; nothing was run".to_string(),
            ]))
        }
        _ => Ok(()),
    }
}

/// The same for the memory of a device, where operators keep what they make unless every sweep is one kernel.
///
/// # Errors
/// [`Error::Config`] with what is needed, what is there, and what would fit.
pub(crate) fn check_device_memory(config: &Config, block: &Block, on: &Device) -> Result<()> {
    let needed = Parts::of(config, block, Some(on.info())).bytes(block);
    device::check_memory(on.info(), on.free_memory(), needed, block.points)
}

/// Whether a device has room also where every sweep is run operator by operator, which tuning may find faster. What happens to
/// be free does not count: a run that goes on is to be cut as it was.
pub(crate) fn has_room_to_tune(config: &Config, block: &Block, on: &DeviceInfo) -> bool {
    let needed = Parts::shaped(config, block, Some((on, false))).bytes(block);
    device::check_memory(on, None, needed, block.points).is_ok()
}

/// Fields that operators need on `device` for the points of `block`: what they make where a sweep is not one kernel, as none is
/// unless `fused`, and what the line solvers need while they run. What `cusparse` keeps, a matrix for every line, is not counted.
fn for_operators<T: Real>(
    config: &Config,
    block: &Block,
    (device, fused): (&DeviceInfo, bool),
) -> usize {
    let compute = &config.compute;
    let room = composed_room::<T>(config, block, |axis, sweep, operators| {
        fused && device::is_one_kernel(device, compute, sweep, axis, block.points, operators)
    });
    let solver = match compute.line_solver {
        Some(LineSolver::CrSortedDirect) => 1,
        Some(LineSolver::CrSortedStepwise) => 2,
        _ => 0,
    };
    let pencils = if compute.pencils == Pencils::Permuted { 2 } else { 0 };
    room + solver + pencils
}

/// Bytes that outputs need on the host while they are made.
#[allow(clippy::cast_precision_loss, reason = "for a comparison")]
fn for_outputs(config: &Config, block: &Block) -> f64 {
    let state = if config.case.scalar().is_some() { 1 } else { 5 };
    let statistics = config.output.statistics.as_ref().map_or(0, |statistics| {
        let gradients = statistics.quantities.contains(&Statistic::Gradients);
        // Of a flow (rho, u, p, T), their gradients, and three components before, in and behind a transform.
        if state == 1 { 5 } else { 6 + if gradients { 9 } else { 0 } + 9 }
    });
    let later = config.output.checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.asynchronous);
    let copies = if later { state } else { 0 };
    8.0 * block.len() as f64 * (copies + statistics) as f64
}

/// Fields of the points of a block that a run holds all the time, by what they are for.
pub struct Parts {
    /// U, and copies of it that an integrator keeps.
    state: usize,
    /// Sums of rates, or the rates of all stages.
    rates: usize,
    /// u, p, T, and μ, dμ/dT where they vary.
    primitives: usize,
    /// ∂uᵢ/∂xⱼ.
    gradients: usize,
    /// What operators and line solvers make on a device.
    operators: usize,
    /// Bytes of a value.
    value: f64,
}

impl Parts {
    /// Those of `config` for the points of `block`, on the host or on `device`.
    pub fn of(config: &Config, block: &Block, device: Option<&DeviceInfo>) -> Self {
        Self::shaped(config, block, device.map(|device| (device, true)))
    }

    /// The same on a device with sweeps fused where they can be, or none.
    fn shaped(config: &Config, block: &Block, device: Option<(&DeviceInfo, bool)>) -> Self {
        let flow = config.case.flow().is_some();
        let state = if flow { 5 } else { 1 };
        let (copies, rates) = match config.time.integrator.form {
            Form::LowStorage { .. } => (1, 1),
            Form::Butcher { b, .. } => (2, b.len()),
        };
        let held = flow.then(|| Held::of(config, block));
        Self {
            state: copies * state,
            rates: rates * state,
            primitives: held.as_ref().map_or(0, |held| held.primitives),
            gradients: held.as_ref().map_or(0, |held| held.gradients),
            operators: device.map_or(0, |device| match config.compute.precision {
                Precision::F64 => for_operators::<f64>(config, block, device),
                Precision::F32 => for_operators::<f32>(config, block, device),
            }),
            value: match config.compute.precision {
                Precision::F64 => 8.0,
                Precision::F32 => 4.0,
            },
        }
    }

    /// Bytes a point.
    #[allow(clippy::cast_precision_loss, reason = "a few fields")]
    pub fn bytes_a_point(&self) -> f64 {
        let Self { state, rates, primitives, gradients, operators, value } = self;
        (state + rates + primitives + gradients + operators) as f64 * value
    }

    /// Bytes of the points of `block`.
    #[allow(clippy::cast_precision_loss, reason = "for a comparison")]
    pub fn bytes(&self, block: &Block) -> f64 {
        block.points.iter().map(|&n| n as f64).product::<f64>() * self.bytes_a_point()
    }

    /// In words.
    pub fn described(&self) -> String {
        let Self { state, rates, primitives, gradients, operators, .. } = *self;
        let parts = [
            ("state", state),
            ("rates", rates),
            ("primitive variables", primitives),
            ("velocity gradients", gradients),
            ("operators", operators),
        ];
        let present = parts.iter().filter(|(_, count)| *count > 0);
        let named: Vec<_> = present.map(|(name, count)| format!("{count} {name}")).collect();
        let all: usize = parts.iter().map(|(_, count)| count).sum();
        format!("{all}: {}", named.join(", "))
    }
}

/// Bytes that the system can still give, where it tells (Linux).
pub(crate) fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_for_all_ranks_of_a_machine() {
        let points = [1 << 14, 1 << 14, 1 << 10];
        let input = format!(
            "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n"
        );
        let config = crate::config::parse(&input, "test", &[]).unwrap();
        let block = Block { start: [0; 3], points };
        let told = |ranks| check_memory(&config, &block, ranks).err().map(|e| e.to_string());
        let one = told(1).unwrap_or_default();
        assert!(one.starts_with("error: 16384 x 16384 x 1024 points need "), "{one}");
        let four = told(4).unwrap_or_default();
        assert!(four.starts_with("error: 4 times 16384 x 16384 x 1024 points need "), "{four}");
        let gib = |text: &str| -> f64 {
            let number = text.split(" need ").nth(1).and_then(|rest| rest.split(' ').next());
            number.and_then(|number| number.parse().ok()).unwrap_or(0.0)
        };
        assert!((gib(&four) / gib(&one) - 4.0).abs() < 1e-3, "{one} {four}");
    }
}
