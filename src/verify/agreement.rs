//! The same run gives the same result up to round-off on a device, on several ranks, operation by operation, with other vector
//! instructions, and with another number of threads.

use super::check::{Check, distance, float, largest, worse};
use super::fields::Run;
use super::setup::{FILTER, Forms, Setup};
use crate::backend::{ComputeConfig, RightHandSide, Simd};
use crate::config::Config;
use crate::engine::distributed::Method;
use crate::error::Result;
use crate::real::Precision;

/// Thin grids with lines as long as in production: long lines along each axis, odd numbers, prime numbers.
const SHAPES: [[usize; 3]; 8] = [
    [512, 16, 16],
    [16, 1024, 16],
    [16, 16, 256],
    [33, 65, 17],
    [127, 31, 13],
    [13, 127, 31],
    [31, 13, 127],
    [64, 32, 48],
];
/// A grid whose lines are not a whole number of blocks.
const SMALL_GRID: [usize; 3] = [33, 19, 17];
const STEPS: usize = 3;
/// Methods for lines that are split across ranks: the best for their length, and all methods without a limit on the length.
const METHODS: [Option<Method>; 5] =
    [None, Some(Method::Pcr), Some(Method::Gather), Some(Method::Chain), Some(Method::Transpose)];

pub(super) fn checks(setup: &Setup) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    let is_distributed = setup.is_device() || setup.comm.size() > 1;
    for (at, (forms, shape)) in cases(setup).into_iter().enumerate() {
        for precision in [Precision::F64, Precision::F32] {
            // A quick check has time for every form and shape, but not for both precisions of each.
            let skip = setup.quick && (precision == Precision::F32) != (at % 3 == 1);
            if skip || !setup.has(precision) {
                continue;
            }
            let mut config =
                setup.config("taylor-green", shape, &flow_keys(&forms, precision, FILTER))?;
            if is_distributed {
                config.compute.distributed =
                    METHODS[at % METHODS.len()].filter(|_| setup.comm.size() > 1);
                let (mut here, mut host) = (setup.start(&config)?, setup.reference(&config)?);
                checks.push(compare_runs(&config, &forms, "host", &mut here, &mut host)?);
            } else {
                checks.extend(variants(setup, &config, &forms)?);
            }
        }
    }
    let forms = Forms::default();
    // A host compiler takes minutes for kernels of whole sweeps, but less if no operator solves a system.
    let key = if setup.quick { "scheme.derivative=explicit4" } else { FILTER };
    let config =
        setup.config("taylor-green", SMALL_GRID, &flow_keys(&forms, Precision::F64, key))?;
    if let Some(mut here) = setup.alternative_sweeps(&config)? {
        let mut host = setup.reference(&config)?;
        checks.push(compare_runs(&config, &forms, "host/other-shape", &mut here, &mut host)?);
    }
    Ok(checks)
}

/// Pairs of forms and shapes: every form and every shape in a quick check; every form with every second shape in a full check.
fn cases(setup: &Setup) -> Vec<(Forms, [usize; 3])> {
    let forms = Forms::pairs();
    let quick = forms.iter().step_by(2).zip(SHAPES).map(|(forms, shape)| (*forms, shape));
    match setup.quick {
        // The compiler takes seconds for each.
        true if setup.is_device() => quick.step_by(2).collect(),
        true => quick.collect(),
        false => {
            let shapes = SHAPES.iter().cycle();
            forms.iter().zip(shapes).map(|(forms, shape)| (*forms, *shape)).collect()
        }
    }
}

/// Keys of a flow in which every term is significant, and one key `more`.
fn flow_keys(forms: &Forms, precision: Precision, more: &str) -> Vec<String> {
    let precision = format!("compute.precision={}", precision.name());
    forms.with(&["case.mach=0.4", "case.reynolds=100", &precision, more])
}

/// Different ways to compute it on one host.
fn variants(setup: &Setup, config: &Config, forms: &Forms) -> Result<Vec<Check>> {
    let with = |compute: ComputeConfig| Config { compute, ..config.clone() };
    let compute = &config.compute;
    let composed = ComputeConfig { right_hand_side: RightHandSide::Composed, ..compute.clone() };
    let baseline = ComputeConfig { simd: Some(Simd::Baseline), ..compute.clone() };
    let threads = ComputeConfig { threads: Some(3), ..compute.clone() };
    let mut checks = Vec::new();
    for (name, other) in [("composed", composed), ("baseline", baseline), ("threads", threads)] {
        let mut here = setup.start(config)?;
        let mut other = setup.reference(&with(other))?;
        checks.push(compare_runs(config, forms, name, &mut here, &mut other)?);
    }
    Ok(checks)
}

/// Compare both runs after a few steps: fields relative to the largest value of each quantity, and the kinetic energy and its
/// rate.
fn compare_runs(
    config: &Config,
    forms: &Forms,
    other: &str,
    here: &mut Run,
    there: &mut Run,
) -> Result<Check> {
    here.steps(STEPS)?;
    there.steps(STEPS)?;
    let (computed, expected) = (here.state()?, there.state()?);
    let sizes: Vec<f64> = expected.iter().map(|field| largest(field)).collect();
    // Momentum components that are nearly zero are compared relative to the largest one.
    let momentum = sizes[1..4].iter().copied().fold(0.0, f64::max);
    let mut deviation = 0.0;
    for (field, (computed, expected)) in computed.iter().zip(&expected).enumerate() {
        let size = if (1..4).contains(&field) { momentum } else { sizes[field] };
        deviation = worse(deviation, distance(computed, expected) / size);
    }
    let names = ["kinetic_energy", "enstrophy", "ke_rate", "dissipation"];
    let (row, expected) = (here.quantities(names)?, there.quantities(names)?);
    let size = largest(&expected);
    for (computed, expected) in row.iter().zip(expected) {
        deviation = worse(deviation, (computed - expected).abs() / size);
    }
    let [x, y, z] = config.grid.points;
    let precision = config.compute.precision;
    let method =
        config.compute.distributed.map_or(String::new(), |method| format!("/{}", method.name()));
    Ok(Check::at_most(
        format!("{other}/{x}x{y}x{z}/{}/{}{method}", forms.name(), precision.name()),
        deviation,
        precision.epsilon() * ROUNDINGS * float(STEPS),
    )
    .shows(format!("{STEPS} steps and diagnostics against {other}"))
    .source("same formulas in another order: round-off"))
}

/// Roundings per step in units of the largest value: six stages, each a sum of about ten terms of all axes, times the norm of the
/// inverse of the filter, 1/(1 − 2α) = 10.
const ROUNDINGS: f64 = 600.0;
