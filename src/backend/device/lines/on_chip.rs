//! `cr`, `pcr`, `pcr-banded` and `neato-shared`: a team of threads solves a line through on-chip memory.

use super::plan::{Plan, Slot, Step, tolerance};
use super::reductions;
use crate::backend::device::text::Text;
use crate::error::Result;
use crate::lines::{BandedPcr, Border, LineSolver};
use crate::real::Real;

const BORDER: &str = include_str!("../../../../kernels/lines/border.cu");
const TEAM: &str = include_str!("../../../../kernels/lines/team.cu");
const SYSTEM: &str = include_str!("../../../../kernels/lines/system.cu");
const CR: &str = include_str!("../../../../kernels/lines/cr.cu");
const PCR: &str = include_str!("../../../../kernels/lines/pcr.cu");
const PCR_BANDED: &str = include_str!("../../../../kernels/lines/pcr_banded.cu");
const CLASSES: &str = include_str!("../../../../kernels/lines/classes.cu");
const NEATO_SHARED: &str = include_str!("../../../../kernels/lines/neato_shared.cu");

/// Threads of a block, while a thread has few rows.
const THREADS: usize = 256;
/// Rows that a thread should have, and may have.
const ROWS: usize = 4;
const MOST_ROWS: usize = 16;
/// Threads that short lines along x are gathered to.
const GATHERED: usize = 128;
/// Bytes of neighbouring points in memory that a tile of lines along y or z is wide.
const TILE_BYTES: usize = 64;
/// Bytes of on-chip memory that a tile of several lines may take: what every device has.
const TILE_ON_CHIP: usize = 32 << 10;

/// What `solver` keeps on chip of a line of n points: arrays, and words of each.
fn arrays(solver: LineSolver, n: usize, border: usize) -> (usize, usize) {
    match solver {
        LineSolver::Cr | LineSolver::Pcr => (4, n),
        LineSolver::NeatoShared => (1, (n - border) / 2 + 3),
        _ => (1, n),
    }
}

/// Bytes of on-chip memory that `solver` takes for one line, or 0 where it is none of these.
pub(super) fn bytes_a_line<T: Real>(solver: LineSolver, n: usize, border: usize) -> usize {
    let here = [LineSolver::Cr, LineSolver::Pcr, LineSolver::NeatoShared, LineSolver::PcrBanded];
    let (count, span) = arrays(solver, n, border);
    if here.contains(&solver) { count * span * size_of::<T>() } else { 0 }
}

/// How many threads solve a line, and how many lines a block has.
struct Shape {
    team: usize,
    lanes: usize,
}

impl Shape {
    /// For `rows` rows to be shared by a team, and `bytes` of on-chip memory a line.
    fn new<T: Real>(plan: &Plan<T>, rows: usize, bytes: usize) -> Self {
        let most = plan.device.info().block_threads;
        let wanted = rows.div_ceil(ROWS);
        let least = rows.div_ceil(MOST_ROWS);
        if plan.inner == 1 {
            let team = wanted.min(THREADS).max(least).min(most);
            let fits = (TILE_ON_CHIP / bytes).clamp(1, plan.lines);
            return Self { team, lanes: (GATHERED / team).clamp(1, fits) };
        }
        let mut lanes = (TILE_BYTES / size_of::<T>()).min(plan.lines);
        while lanes > 1 && (lanes * bytes > TILE_ON_CHIP || lanes * least > most.min(2 * THREADS)) {
            lanes /= 2;
        }
        Self { team: wanted.min(THREADS / lanes).max(least).min(most / lanes), lanes }
    }
}

/// One launch of `solver`, a block for every few lines.
pub(super) fn steps<T: Real>(plan: &Plan<T>, solver: LineSolver) -> Result<Vec<Step<T>>> {
    let border = Border::new(&plan.operator.matrix, tolerance::<T>());
    let core = border.rows();
    let (count, span) = arrays(solver, plan.len(), border.width);
    let rows = if solver == LineSolver::NeatoShared { core.div_ceil(2) } else { core };
    let Shape { team, lanes } = Shape::new(plan, rows, count * span * size_of::<T>());

    let mut text = plan.text(core);
    let mut tables = Vec::new();
    text.define("TEAM", team);
    text.define("TX", lanes);
    text.define("SPAN", span);
    text.define("SHARE", rows.div_ceil(team));
    let (entry, kernel) = match solver {
        LineSolver::NeatoShared => {
            reductions::near_toeplitz::<T>(&mut text, &border);
            text.push(CLASSES);
            ("neato_shared", NEATO_SHARED)
        }
        LineSolver::PcrBanded => {
            let pcr = BandedPcr::new(&border.core, tolerance::<T>());
            text.define("LEVELS", pcr.levels.len());
            for level in &pcr.levels {
                for j in 0..2 * pcr.half_band {
                    tables.extend(level.iter().map(|k| k[j]));
                }
            }
            tables.extend(pcr.inverse);
            ("pcr_banded", PCR_BANDED)
        }
        _ => {
            let entries = |m| [-1, 0, 1].map(|d| border.core.entry(m, d));
            tables.extend((0..core).flat_map(entries));
            text.push(SYSTEM);
            if solver == LineSolver::Cr { ("cr", CR) } else { ("pcr", PCR) }
        }
    };
    border_text::<T>(&mut text, &border, &mut tables);
    text.push(TEAM);
    text.push(kernel);

    let source = text.source(&format!("{entry}.cu"));
    let blocks = plan.lines.div_ceil(lanes);
    let arguments = plan.arguments([Slot::Buffer(plan.table(tables)?)]);
    Ok(vec![plan.step(&source, entry, blocks, team * lanes, count * span * lanes, arguments)?])
}

/// What `border.cu` needs, and `border.cu`; the rows of Z are put behind `tables`.
pub(super) fn border_text<T: Real>(text: &mut Text, border: &Border, tables: &mut Vec<f64>) {
    if border.width > 0 {
        let tail = border.rows() - border.tail;
        text.define("HEAD", border.head);
        text.define("TAIL", tail);
        text.define("BORDER_AT", tables.len());
        text.constants::<T>("UNKNOWNS", border.unknowns.iter().flatten().copied());
        let coupled = border.correction[..border.head].iter().chain(&border.correction[tail..]);
        tables.extend(coupled.flatten());
    }
    text.push(BORDER);
}
