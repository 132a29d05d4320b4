//! Sweeps over blocks: tables II to IV and figures 14 and 15 of Zubair et al. 2017.

use std::rc::Rc;

use super::Basis;
use super::chart::Chart;
use super::finding::{Csv, Finding, cell, range};
use super::lab::Lab;
use super::published::{MESHES, SWEEPS};
use crate::bench::Report;
use crate::error::Result;
use crate::io::plot::Point;

/// Boxes whose numbers of points are as close as possible to those of the meshes of table II.
const BOXES: [&str; 6] = ["17x17x22", "43x48x50", "56x60x61", "65x75x81", "86x95x98", "95x95x109"];
/// Numbers of rows per block in figures 14 and 15, in full and with `--quick`.
const BLOCKS: [&str; 2] = ["1-100", "1-8,12,16,18,20,24,32,34,48,64,65,80"];
/// The difference common to all of them.
const MACHINE: &str = "The paper measures a K40; meshes here are boxes cut into tetrahedra at random, since those of the paper are \
                       not published.";

/// Sweeps over blocks of `nb` rows, such as `1-10`, on these boxes.
fn measured(lab: &Lab<'_>, boxes: &[&str], nb: &str) -> Result<(Rc<Report>, String)> {
    lab.bench(&format!("blocks --points {} --nb {nb}", boxes.join(",")))
}

/// (rows of a block, ms) on the mesh with `rows` points.
fn times(report: &Report, rows: usize) -> Vec<Point> {
    let of_mesh = report.blocks.iter().filter(|row| row.rows == rows);
    of_mesh.map(|row| (row.nb as f64, 1e3 * row.seconds.min)).collect()
}

/// Zubair et al. 2017, table II.
pub(super) fn table_ii(lab: &Lab<'_>) -> Result<Finding> {
    let count = lab.pick(BOXES.len(), 3);
    let (report, command) = measured(lab, &BOXES[..count], "1")?;
    let mut csv = Csv::new("basis,points,blocks,colours,most_rows,fewest_rows");
    for [points, blocks, colours, max_rows, min_rows] in MESHES {
        csv.row([&"published", &points, &blocks, &colours, &max_rows, &min_rows]);
    }
    let mut summaries = Vec::new();
    for mesh in &report.meshes {
        let (rows, blocks, colours) = (mesh.rows, mesh.blocks, mesh.colours.len());
        let ends = [mesh.colours.iter().max(), mesh.colours.iter().min()];
        let [max_rows, min_rows] = ends.map(|n| n.copied().unwrap_or(0));
        summaries.push(format!("{rows} points, {blocks} blocks, {colours} colours"));
        csv.row([&"exact", &rows, &blocks, &colours, &max_rows, &min_rows]);
    }
    Ok(Finding::table(csv, Vec::new()).with_text(
        "Six tetrahedral meshes of 6309 to 983 633 points, with 13.3 to 13.8 off-diagonal blocks per row, in 10 or 11 colours; the last \
         colours have few rows.",
        format!("{command}: {}.", summaries.join("; ")),
        "Meshes here are boxes cut into tetrahedra at random, with numbers of points as close as possible; the colouring is greedy: each \
         row takes the first free colour. Numbers of rows of the largest and smallest colours depend on the mesh.",
    ))
}

/// Tables III and IV: the given meshes, with blocks of up to `largest` rows.
pub(super) fn sweeps(
    lab: &Lab<'_>,
    meshes: std::ops::Range<usize>,
    largest: usize,
) -> Result<Finding> {
    let used = lab.pick(meshes.clone(), meshes.start..meshes.start + 1);
    let nb = lab.pick(largest, largest.min(if meshes.start > 2 { 2 } else { 10 }));
    let (report, command) = measured(lab, &BOXES[used.clone()], &format!("1-{nb}"))?;
    let mut csv = Csv::new("points,block_rows,basis,method,ms");
    let mut chart = Chart::new("One sweep over all colours", "rows of a block", "time, ms");
    let mut here = Vec::new();
    let mut gains = Vec::new();
    let mut rows = |points: usize, nb: usize, basis: &str, method: &str, ms: f64| {
        csv.row([&points, &nb, &basis, &method, &cell(ms)]);
    };
    for at in meshes {
        let (points, [libraries, optimised]) = SWEEPS[at - 1];
        for (nb, (baseline, optimised)) in (1..).zip(libraries.iter().zip(optimised)) {
            rows(points, nb, "published", "libraries", *baseline);
            rows(points, nb, "published", "optimised", *optimised);
            gains.push(baseline / optimised);
        }
        if !used.contains(&at) {
            continue;
        }
        let mesh = report.meshes[at - used.start].rows;
        let own = times(&report, mesh);
        for (nb, ms) in &own {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rows of a block"
            )]
            rows(mesh, *nb as usize, "measured", "this code", *ms);
        }
        if let Some((nb, ms)) = own.last() {
            here.push(format!("{mesh} points, blocks of {nb} rows: {ms:.1} ms"));
        }
        chart.add(Basis::Measured, &format!("{mesh} points"), own);
        let curve = (1_u32..).zip(optimised).map(|(nb, ms)| (f64::from(nb), *ms)).collect();
        chart.add(Basis::Published, &format!("{points} points"), curve);
    }
    let [low, high] = range(gains.into_iter());
    let chart = chart.logarithmic([true; 2]);
    Ok(Finding::table(csv, vec![("", chart.svg())]).with_text(
        format!(
            "Times of one sweep by libraries and by the optimised kernels, which are {low:.1} to {high:.1} times faster. \
             Circles are the optimised ones."
        ),
        format!("{command} on {}: {}.", report.machine.name(), here.join("; ")),
        format!("{MACHINE} A sweep reads every block once, so times are proportional to nb² and inversely proportional to the memory \
                 bandwidth."),
    ))
}

/// Figures 14 and 15: times over the rows of a block on the smallest mesh.
fn over_block_rows(lab: &Lab<'_>, max_rows: f64, paper: &str) -> Result<Finding> {
    let (report, command) = measured(lab, &BOXES[..1], lab.pick(BLOCKS[0], BLOCKS[1]))?;
    let points = report.meshes[0].rows;
    let own: Vec<Point> =
        times(&report, points).into_iter().filter(|(nb, _)| *nb <= max_rows).collect();
    let title = format!("One sweep over {points} rows");
    let mut chart = Chart::new(&title, "rows of a block", "time, ms");
    let [(few, fast), (many, slow)] =
        [own.first(), own.last()].map(|end| end.copied().unwrap_or((f64::NAN, f64::NAN)));
    chart.add(Basis::Measured, "this code", own);
    Ok(Finding::charts(&[("", chart.logarithmic([true; 2]))]).with_text(
        paper,
        format!(
            "{command} on {}: {fast:.2} ms for blocks of {few} rows, {slow:.1} ms for {many}.",
            report.machine.name()
        ),
        format!("{MACHINE} Here one loop handles every size, so times have no steps except those due to the number of bytes."),
    ))
}

/// Zubair et al. 2017, figure 14.
pub(super) fn figure_14(lab: &Lab<'_>) -> Result<Finding> {
    over_block_rows(
        lab,
        64.0,
        "Blocks of 1 to 64 rows on 6309 points, as a figure: the libraries jump at 18, 34 and 50 rows, the optimised kernels are linear \
         over the range and up to 7 times faster.",
    )
}

/// Zubair et al. 2017, figure 15.
pub(super) fn figure_15(lab: &Lab<'_>) -> Result<Finding> {
    over_block_rows(
        lab,
        100.0,
        "The same up to 100 rows, as a figure: from 65 rows on the libraries are used, and the time rises by a large step.",
    )
}
