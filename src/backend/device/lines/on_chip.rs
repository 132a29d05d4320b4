//! `cr`, `pcr`, `pcr-banded` and `neato-shared`: a team of threads solves a line in on-chip memory.

use super::super::job::LaunchSize;
use super::super::text::Text;
use super::plan::{Plan, Slot, Step};
use super::{OnHost, Solver, TRIDIAGONAL, reductions};
use crate::error::Result;
use crate::lines::{BandedPcr, Border, Reduction};

const BORDER: &str = include_str!("../../../../kernels/lines/border.cu");
const TEAM: &str = include_str!("../../../../kernels/lines/team.cu");
const SYSTEM: &str = include_str!("../../../../kernels/lines/system.cu");

/// Threads per block, as long as a thread has few rows.
const THREADS: usize = 256;
/// Desired and largest number of rows per thread.
const ROWS: usize = 4;
const MAX_ROWS: usize = 16;
/// Threads per block to which short lines along x are gathered.
const GATHER_THREADS: usize = 128;
/// Width in bytes of a tile of lines along y or z, over neighbouring points in memory.
const TILE_BYTES: usize = 64;
/// Largest number of on-chip bytes of a tile of several lines: every device has this much.
const MAX_TILE_ON_CHIP: usize = 32 << 10;

pub(super) const CR: Solver = Solver {
    name: "cr",
    on_chip: |problem| 4 * problem.operator.len(),
    steps: |plan| system(plan, "cr", include_str!("../../../../kernels/lines/cr.cu")),
    on_host: OnHost::Reduction(Reduction::Cyclic),
    ..TRIDIAGONAL
};

pub(super) const PCR: Solver = Solver {
    name: "pcr",
    on_chip: |problem| 4 * problem.operator.len(),
    steps: |plan| system(plan, "pcr", include_str!("../../../../kernels/lines/pcr.cu")),
    on_host: OnHost::Reduction(Reduction::Parallel),
    ..TRIDIAGONAL
};

pub(super) const PCR_BANDED: Solver = Solver {
    name: "pcr-banded",
    pentadiagonal: true,
    on_chip: |problem| problem.operator.len(),
    steps: banded,
    on_host: OnHost::Reduction(Reduction::Banded),
    ..TRIDIAGONAL
};

pub(super) const NEATO_SHARED: Solver = Solver {
    name: "neato-shared",
    unsupported: reductions::not_near_toeplitz,
    on_chip: |problem| {
        half_words(problem.operator.len(), usize::from(problem.operator.matrix.is_cyclic()))
    },
    steps: neato_shared,
    on_host: OnHost::Reduction(Reduction::NearToeplitz),
    ..TRIDIAGONAL
};

/// Returns the words of every second row of n, without the `border` rows.
fn half_words(n: usize, border: usize) -> usize {
    (n - border) / 2 + 3
}

/// Returns the number of threads per line and of lines per block, for `rows` rows shared by a team and `bytes` of on-chip
/// memory per line.
fn team_and_lanes(plan: &Plan, rows: usize, bytes: usize) -> (usize, usize) {
    let max_threads = plan.device().info().block_threads;
    let wanted = rows.div_ceil(ROWS);
    let min_team = rows.div_ceil(MAX_ROWS);
    if plan.lines.inner == 1 {
        let team = wanted.min(THREADS).max(min_team).min(max_threads);
        let fits = (MAX_TILE_ON_CHIP / bytes).clamp(1, plan.lines.count);
        return (team, (GATHER_THREADS / team).clamp(1, fits));
    }
    let mut lanes = (TILE_BYTES / plan.precision().bytes()).min(plan.lines.count);
    while lanes > 1
        && (lanes * bytes > MAX_TILE_ON_CHIP || lanes * min_team > max_threads.min(2 * THREADS))
    {
        lanes /= 2;
    }
    (wanted.min(THREADS / lanes).max(min_team).min(max_threads / lanes), lanes)
}

/// One launch, with a few lines per block: `arrays` of `span` on-chip words each per line, and `rows` shared by a team.
/// `write` adds to the text and the tables in front of the kernel.
fn steps(
    plan: &Plan,
    border: &Border,
    [arrays, span, rows]: [usize; 3],
    (entry, kernel): (&str, &str),
    write: impl FnOnce(&mut Text, &mut Vec<f64>),
) -> Result<Vec<Step>> {
    let bytes = arrays * span * plan.precision().bytes();
    let (team, lanes) = team_and_lanes(plan, rows, bytes);
    let mut text = plan.text(border.rows());
    let mut tables = Vec::new();
    text.define("TEAM", team);
    text.define("TX", lanes);
    text.define("LINE_WORDS", span);
    text.define("ROWS_PER_THREAD", rows.div_ceil(team));
    write(&mut text, &mut tables);
    border_text(&mut text, border, &mut tables);
    text.push(TEAM);
    text.push(kernel);
    let shape = LaunchSize::linear(plan.lines.count.div_ceil(lanes), team * lanes, bytes * lanes);
    let arguments = plan.arguments([Slot::Buffer(plan.table(tables)?)]);
    Ok(vec![plan.step(&text.source(&format!("{entry}.cu")), entry, &shape, arguments)?])
}

/// A solver that reduces all coefficients together with the data.
fn system(plan: &Plan, entry: &str, kernel: &str) -> Result<Vec<Step>> {
    let border = Border::new(&plan.operator.matrix, plan.tolerance());
    let core = border.rows();
    steps(plan, &border, [4, plan.len(), core], (entry, kernel), |text, tables| {
        tables.extend((0..core).flat_map(|m| [-1, 0, 1].map(|d| border.core.entry(m, d))));
        text.push(SYSTEM);
    })
}

fn banded(plan: &Plan) -> Result<Vec<Step>> {
    let kernel = ("pcr_banded", include_str!("../../../../kernels/lines/pcr_banded.cu"));
    let border = Border::new(&plan.operator.matrix, plan.tolerance());
    steps(plan, &border, [1, plan.len(), border.rows()], kernel, |text, tables| {
        let pcr = BandedPcr::new(&border.core, plan.tolerance());
        text.define("LEVELS", pcr.levels.len());
        for level in &pcr.levels {
            for j in 0..2 * pcr.half_band {
                tables.extend(level.iter().map(|k| k[j]));
            }
        }
        tables.extend(pcr.inverse);
    })
}

fn neato_shared(plan: &Plan) -> Result<Vec<Step>> {
    let kernel = ("neato_shared", include_str!("../../../../kernels/lines/neato_shared.cu"));
    let border = Border::new(&plan.operator.matrix, plan.tolerance());
    let span = half_words(plan.len(), border.width);
    steps(plan, &border, [1, span, border.rows().div_ceil(2)], kernel, |text, _| {
        reductions::define_near_toeplitz(text, &border);
        text.push(reductions::CLASSES);
    })
}

/// Adds the constants for `border.cu`, and `border.cu`; the rows of Z are appended to `tables`.
pub(super) fn border_text(text: &mut Text, border: &Border, tables: &mut Vec<f64>) {
    if border.width > 0 {
        let tail = border.rows() - border.tail;
        text.define("HEAD", border.head);
        text.define("TAIL", tail);
        text.define("BORDER_AT", tables.len());
        text.constants("UNKNOWNS", border.unknowns.iter().flatten().copied());
        let coupled = border.correction[..border.head].iter().chain(&border.correction[tail..]);
        tables.extend(coupled.flatten());
    }
    text.push(BORDER);
}
