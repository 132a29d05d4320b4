//! Sweeps over systems of dense blocks on tetrahedral meshes: tables II to IV, figures 14 and 15 of Zubair et al. (2017).

mod check;
mod mesh;
mod report;
mod solver;

use std::cell::RefCell;
use std::sync::Arc;

use super::arguments::BlocksOptions;
use super::measure::{interleaved, rotating, with_preparation};
use super::output::{CopyReport, Report, shape};
use super::place::{Setup, Work};
use super::pool::{MIN_FIELDS, Pool, noise};
use crate::backend::cpu::Cpu;
use crate::backend::device::BlockKernels;
use crate::blocks::{BlockMatrix, Colouring, Factored, Pattern};
use crate::error::{Result, out_of_memory, refused};
use crate::real::{Precision, Real};
use crate::splitmix::{STEP, mixed};
use check::Samples;
pub(super) use report::{BlockRow, MeshRow};
use solver::Solver;

/// Boxes whose numbers of points are as close as possible to those of the meshes of table II, and the largest block used there.
const MESHES: [([usize; 3], usize); 6] = [
    ([17, 17, 22], 100),
    ([43, 48, 50], 10),
    ([56, 60, 61], 10),
    ([65, 75, 81], 10),
    ([86, 95, 98], 6),
    ([95, 95, 109], 6),
];
/// Number of values in the measured copy.
const COPY_LEN: usize = 1 << 24;
/// Number of random values from which blocks are cut.
const RANDOM_LEN: usize = 1 << 20;
/// Largest error of a sum of many products, relative to the sum of the magnitudes of its terms.
const TOLERANCE: f64 = 1e-13;

pub(super) fn run(options: &BlocksOptions, setup: &Setup, report: &mut Report) -> Result<()> {
    if setup.compute.precision == Precision::F32 {
        let problem = "the unknowns of blocks are f64";
        return Err(refused(problem, "use `--precision f64`, `--off-diagonal f32`"));
    }
    if options.kernels == "split" && setup.device.is_none() {
        let advice = "remove `--kernels`, or add `--backend opencl` or `cuda`";
        return Err(refused("the CPU solves blocks without kernels", advice));
    }
    let cpu = Cpu::<f64>::configured(&setup.compute, None)?;
    let meshes = match &options.common.points[..] {
        [] => MESHES.to_vec(),
        points => points.iter().map(|&points| (points, usize::MAX)).collect(),
    };
    for (points, max_nb) in meshes {
        let pattern = mesh::tetrahedra(points)?;
        let colouring = Arc::new(Colouring::new(&pattern));
        report.meshes.push(MeshRow::new(points, &colouring));
        let sizes = options.nb.iter().flat_map(|nb| nb.0.iter().copied());
        for nb in sizes.filter(|&nb| nb <= max_nb) {
            let (pattern, colouring) = (&pattern, &colouring);
            let job = Job { options, setup, cpu: &cpu, points, pattern, colouring, nb };
            let result = match options.off_diagonal.as_str() {
                "f64" => job.run::<f64>(report),
                _ => job.run::<f32>(report),
            };
            report.attempt(&format!("blocks of {nb} rows on {}", shape(points)), result)?;
        }
    }
    if report.blocks.is_empty() && report.failures.is_empty() {
        let max_nb = MESHES.map(|(_, max_nb)| max_nb).into_iter().max().unwrap_or(0);
        report.note(format!("left out: blocks of more than {max_nb} rows; give `--points`"));
    }
    Ok(())
}

/// One matrix.
struct Job<'a> {
    options: &'a BlocksOptions,
    setup: &'a Setup,
    cpu: &'a Cpu<f64>,
    points: [usize; 3],
    pattern: &'a Pattern,
    colouring: &'a Arc<Colouring>,
    nb: usize,
}

impl Job<'_> {
    fn run<S: Real>(&self, report: &mut Report) -> Result<()> {
        if let Some(sentence) = self.too_large::<S>() {
            report.note(format!("left out: {sentence}"));
            return Ok(());
        }
        let (matrix, samples) = self.matrix::<S>()?;
        let len = self.pattern.rows() * self.nb;
        let [b, start] = [0, 1].map(|seed| Vec::<f64>::from(noise(Precision::F64, len, seed)));
        let mut solver = Solver::new((self.setup, self.kernels()), self.cpu, &matrix, &b, &start)?;
        solver.sweep();
        let error = samples.error(self.colouring, &b, &start, &solver.x()?);

        let place = &*self.setup.place(COPY_LEN, None)?;
        let pool = RefCell::new(Pool::new(place, COPY_LEN, MIN_FIELDS)?);
        let negation = place.prepare_work(Work::Negation, [COPY_LEN, 1, 1])?;
        let copy = rotating(place, &pool, &negation);
        let repeats = self.options.common.repeats;
        let sweeps = with_preparation(place, u32::MAX, || (), || solver.sweep());
        let (copy, times) = interleaved(repeats, copy, vec![sweeps])?;
        let copy = CopyReport::new(&copy, COPY_LEN, size_of::<f64>());
        report.copy = copy;
        let row =
            BlockRow::new(self.points, (&matrix, self.solver()), (&times[0], copy), error, repeats);
        report.check(&format!("blocks of {} rows", self.nb), self.points, error, TOLERANCE);
        report.blocks.push(row);
        Ok(())
    }

    fn kernels(&self) -> BlockKernels {
        match self.options.kernels.as_str() {
            "split" => BlockKernels::Split,
            _ => BlockKernels::Fused,
        }
    }

    /// The name of the solver of the rows.
    fn solver(&self) -> &'static str {
        match self.kernels() {
            _ if self.setup.device.is_none() => "host",
            BlockKernels::Fused => "fused",
            BlockKernels::Split => "split",
        }
    }

    /// A message if the matrix does not fit in memory.
    fn too_large<S: Real>(&self) -> Option<String> {
        let blocks = (self.pattern.blocks() * S::PRECISION.bytes() * self.nb * self.nb) as f64;
        let needed = blocks + (8 * self.pattern.rows() * self.nb * self.nb) as f64;
        let on_place = 1.1 * needed + (64 * COPY_LEN) as f64;
        let on_host = if self.setup.device.is_some() { 1.1 * needed } else { 0.0 };
        let (_, [_, free]) = self.setup.insufficient_memory(on_host, on_place, blocks)?;
        let what = format!("blocks of {} rows on {}", self.nb, shape(self.points));
        Some(out_of_memory(what, [needed, free], "of memory", "are free"))
    }

    /// Random blocks; the diagonal block dominates its row.
    #[allow(clippy::cast_possible_truncation, reason = "small; a hash")]
    fn matrix<S: Real>(&self) -> Result<(Factored<S>, Samples)> {
        let (nb, pattern) = (self.nb, self.pattern);
        let numbers = Vec::<f64>::from(noise(Precision::F64, RANDOM_LEN + nb * nb, 2));
        let random_block = |number: usize| {
            let at = mixed((number as u64).wrapping_mul(STEP)) as usize % RANDOM_LEN;
            &numbers[at..at + nb * nb]
        };
        let mut matrix = BlockMatrix::<S>::zeros(self.colouring.clone(), nb)?;
        for row in 0..pattern.rows() {
            for block in pattern.row(row) {
                let values = matrix.block_mut(block).iter_mut().zip(random_block(block));
                values.for_each(|(to, value)| *to = S::of(*value));
            }
            let diagonal = matrix.diagonal_mut(row);
            diagonal.copy_from_slice(random_block(pattern.blocks() + row));
            let weight = 0.5 * (nb * (pattern.row(row).len() + 1)) as f64;
            (0..nb).for_each(|i| diagonal[i * (nb + 1)] += weight);
        }
        let samples = Samples::of(&mut matrix, pattern);
        Ok((self.cpu.within(|| matrix.factored())?, samples))
    }
}
