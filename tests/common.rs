//! Helpers shared by several test modules: runs without files, sums over fields, orders of convergence.

use std::f64::consts::TAU;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use kolmo::backend::ranks::Blocks;
use kolmo::backend::{self, Backend, ComputeConfig, Field, cpu};
use kolmo::comm::Solo;
use kolmo::config::{Config, Precision, parse};
use kolmo::io::checkpoint::Checkpoint;
use kolmo::physics::{NavierStokes, TermGroup};
use kolmo::scheme::{COMPACT6_PENTA, Kind, Scheme, SchemeFamily, families, family};
use kolmo::time::Simulation;
use num_complex::Complex;
use tempfile::TempDir;

/// The program under test: the one built with the tests, or `KOLMO_PROGRAM` on a machine to which the tests were copied.
pub(crate) fn program() -> &'static str {
    static PROGRAM: LazyLock<String> =
        LazyLock::new(|| variable_or("KOLMO_PROGRAM", env!("CARGO_BIN_EXE_kolmo")));
    &PROGRAM
}

/// The root folder of the project: where the tests were built, or `KOLMO_ROOT`.
pub(crate) fn root() -> &'static Path {
    static ROOT: LazyLock<String> =
        LazyLock::new(|| variable_or("KOLMO_ROOT", env!("CARGO_MANIFEST_DIR")));
    Path::new(&*ROOT)
}

fn variable_or(variable: &str, default: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| default.into())
}

/// A shared library compiled from `tests/data/NAME.c`. It is not deleted. A library loaded later may define its missing symbols.
pub(crate) fn compile_c_library(name: &str) -> PathBuf {
    let library = tempfile::tempdir().unwrap().keep().join(format!("{name}.so"));
    let source = root().join(format!("tests/data/{name}.c"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-Werror", "-Wl,-z,lazy", "-o"]).arg(&library);
    assert!(cc.arg(source).status().unwrap().success());
    library
}

/// The four forms of convection, as in the input.
pub(crate) const CONVECTION: [&str; 4] =
    ["divergence", "feiereisen", "kennedy-gruber", "staggered"];
/// The three forms of the energy equation.
pub(crate) const ENERGY: [&str; 3] = ["divergence", "split-enthalpy", "split-pressure"];
/// The three forms of the viscous terms.
pub(crate) const VISCOUS: [&str; 3] = ["laplacian", "midpoint", "conservative"];
/// The three viscosity laws.
pub(crate) const LAWS: [&str; 3] = ["constant", "power", "sutherland"];

/// Scheme families whose order of accuracy in space is tested, with that order.
pub(crate) const FAMILIES: [(&str, i32); 6] = [
    ("explicit4", 4),
    ("compact4", 4),
    ("compact6", 6),
    ("compact8", 8),
    ("compact8-penta", 8),
    ("compact10-penta", 10),
];

/// The scheme family with this name.
pub(crate) fn scheme_family(name: &str) -> &'static SchemeFamily {
    family(name).unwrap_or_else(|| panic!("no family {name}"))
}

/// All schemes of this kind, each once.
pub(crate) fn schemes_of_kind(kind: Kind) -> Vec<&'static Scheme> {
    let mut unique: Vec<&Scheme> = Vec::new();
    let formulas = families().iter().flat_map(|family| {
        [&family.first, &family.second, &family.midpoint_derivative, &family.midpoint_interpolation]
    });
    for scheme in formulas.chain([&COMPACT6_PENTA]).filter(|scheme| scheme.kind == kind) {
        if unique.iter().all(|known| known.name != scheme.name) {
            unique.push(scheme);
        }
    }
    unique
}

/// All schemes except filters, each once.
pub(crate) fn all_schemes() -> impl Iterator<Item = &'static Scheme> {
    let kinds = [Kind::FirstDerivative, Kind::SecondDerivative];
    let staggered = [Kind::MidpointDerivative, Kind::MidpointInterpolation];
    kinds.into_iter().chain(staggered).flat_map(schemes_of_kind)
}

/// The configuration of `case` on `points` points, with one thread and with keys set as by `--set`.
pub(crate) fn config(case: &str, points: [usize; 3], set: &[&str]) -> Config {
    let text = format!(
        "[case]\nname = '{case}'\n[grid]\npoints = {points:?}\n[time]\nend = 1e9\n[compute]\nthreads = 1\n"
    );
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    parse(&text, case, &set).unwrap_or_else(|error| panic!("{error}"))
}

/// The host backend with the requested precision and number of threads.
pub(crate) fn host(compute: &ComputeConfig) -> Arc<dyn Backend> {
    backend::on_host(compute, None).unwrap().into()
}

/// The host backend with this number of threads.
pub(crate) fn host_with_threads(precision: Precision, threads: usize) -> Box<dyn Blocks> {
    let threads = Some(threads);
    let compute = ComputeConfig { precision, threads, ..ComputeConfig::default() };
    backend::on_host(&compute, None).unwrap()
}

/// A run on the host in its initial state. The backend of the configuration is ignored.
pub(crate) fn on_host(config: &Config) -> Simulation {
    Simulation::on(host(&config.compute), config).unwrap()
}

/// The run of [`config`] on the host in its initial state.
pub(crate) fn simulation(case: &str, points: [usize; 3], set: &[&str]) -> Simulation {
    on_host(&config(case, points, set))
}

/// The run of `case` with these (derivative, convection, energy, viscous) and further keys `set`.
pub(crate) fn run_with(
    case: &str,
    points: [usize; 3],
    forms: [&str; 4],
    set: &[String],
) -> Simulation {
    let keys = ["derivative", "convection", "energy", "viscous"];
    let forms = keys.iter().zip(forms).map(|(key, form)| format!("scheme.{key}={form}"));
    let set: Vec<String> = forms.chain(set.iter().cloned()).collect();
    simulation(case, points, &set.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Steps until `end`. The last step is shortened to reach it exactly.
pub(crate) fn advance(simulation: &mut Simulation, end: f64) {
    while simulation.time() < end {
        simulation.step(Some(end)).unwrap();
    }
}

/// Takes `steps` steps.
pub(crate) fn steps(simulation: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        simulation.step(None).unwrap();
    }
}

/// The values of fields.
fn values(backend: &dyn Backend, fields: &[Field]) -> Vec<Vec<f64>> {
    fields.iter().map(|field| backend.values(field).unwrap().into()).collect()
}

/// The values of U.
pub(crate) fn state(simulation: &Simulation) -> Vec<Vec<f64>> {
    values(simulation.backend(), simulation.state())
}

/// Storage for dU/dt: as many fields as U has, filled with NaN.
fn nan_fields(backend: &dyn Backend, state: &[Field]) -> Vec<Field> {
    let nan = vec![f64::NAN; backend.values(&state[0]).unwrap().len()].into();
    state.iter().map(|_| backend.field(&nan).unwrap()).collect()
}

/// dU/dt of the present U.
pub(crate) fn rate(simulation: &mut Simulation) -> Vec<Vec<f64>> {
    let mut rate = nan_fields(simulation.backend(), simulation.state());
    simulation.rhs(&mut rate);
    values(simulation.backend(), &rate)
}

/// The contribution of one group of terms to dU/dt, on the host.
pub(crate) fn terms(part: TermGroup, config: &Config, state: &[Field]) -> Vec<Vec<f64>> {
    let host = host(&config.compute);
    let mut rate = nan_fields(&*host, state);
    let mut equations = NavierStokes::new(&config.problem(), host.clone()).unwrap();
    equations.rhs_group(part, state, &mut rate);
    values(&*host, &rate)
}

/// Sets U from (ρ, u, v, w, p) at every point.
pub(crate) fn set_flow(
    simulation: &mut Simulation,
    gamma: f64,
    flow: impl Fn([usize; 3], [f64; 3]) -> [f64; 5],
) {
    let grid = simulation.grid().clone();
    let state = simulation.state_mut();
    for at in 0..grid.len() {
        let index = grid.index(at);
        let conserved = conserved(gamma, flow(index, grid.coordinates(index)));
        for (field, value) in state.iter_mut().zip(conserved) {
            field.get_mut::<cpu::Field<f64>>()[at] = value;
        }
    }
}

/// (ρ, ρu, ρv, ρw, ρE) from (ρ, u, v, w, p).
pub(crate) fn conserved(gamma: f64, [rho, u, v, w, p]: [f64; 5]) -> [f64; 5] {
    let energy = p / (gamma - 1.0) + 0.5 * rho * (u * u + v * v + w * w);
    [rho, rho * u, rho * v, rho * w, energy]
}

/// (2/N) Σ f exp(−i Σ nₐ θₐ), θₐ = 2π iₐ / Nₐ: the coefficient of a wave with n periods along each axis; f = sin gives −i.
pub(crate) fn projection(points: [usize; 3], periods: [i32; 3], field: &[f64]) -> Complex<f64> {
    let [nx, ny, nz] = points;
    let mut sum = Complex::ZERO;
    for (at, value) in field.iter().enumerate() {
        let index = [at % nx, at / nx % ny, at / (nx * ny)];
        let angle: f64 = (0..3)
            .map(|axis| TAU * f64::from(periods[axis]) * float(index[axis]) / float(points[axis]))
            .sum();
        sum += value * Complex::cis(-angle);
    }
    2.0 * sum / float(nx * ny * nz)
}

/// A count as a floating-point number.
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// max |a − b|.
pub(crate) fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Panics unless the order of convergence between each two successive (size, error) pairs is in `range`. A size is a grid
/// spacing or a time step.
pub(crate) fn assert_orders(errors: &[(f64, f64)], range: Range<f64>, what: &str) {
    for pair in errors.windows(2) {
        let order = (pair[0].1 / pair[1].1).ln() / (pair[0].0 / pair[1].0).ln();
        assert!(range.contains(&order), "{what}: order {order:.2} of {errors:?}, not in {range:?}");
    }
}

/// Panics unless |actual / expected − 1| ≤ `relative`.
pub(crate) fn assert_close(actual: f64, expected: f64, relative: f64, what: &str) {
    let error = (actual / expected - 1.0).abs();
    assert!(error <= relative, "{what}: {actual:e}, expected {expected:e}: off by {error:.2e}");
}

/// Pseudo-random numbers in (−1, 1), identical on every machine (`splitmix64`, Steele et al. 2014).
pub(crate) fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // 53 bits fill a double.
        let unit = (z >> 11) as f64 / (1_u64 << 53) as f64;
        2.0 * unit - 1.0
    }
}

/// Gives `command` the default action of SIGHUP, even if `nohup` started these tests.
#[cfg(unix)]
pub(crate) fn with_default_sighup(command: &mut Command) -> &mut Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: only one system call is made between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        })
    }
}

/// Asserts that a run of seven steps is bitwise reproducible, both after a row of the time series is computed at step 4 and
/// when the run resumes from a checkpoint of step 4. Returns this checkpoint and its directory.
pub(crate) fn assert_reproducible(config: &Config, what: &str) -> (TempDir, Checkpoint) {
    let mut reference = on_host(config);
    steps(&mut reference, 7);
    let mut repeated = on_host(config);
    steps(&mut repeated, 4);
    repeated.row().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("step_00000004.zarr");
    repeated.save(&path).unwrap();
    let saved = Checkpoint::open(&Solo, &path).unwrap();
    let mut resumed = Simulation::resume(host(&config.compute), config, &saved).unwrap();
    for run in [&mut repeated, &mut resumed] {
        steps(run, 3);
        assert_eq!(state(run), state(&reference), "{what}");
        assert_eq!(run.row().unwrap(), reference.row().unwrap(), "{what}");
    }
    (directory, saved)
}
