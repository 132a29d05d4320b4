//! Flows of the papers: the Taylor-Green vortex of Song et al. 2022, the cylinder and the aerofoil of Esfahanian et al. 2014.

use std::path::Path;

use super::Basis;
use super::chart::Chart;
use super::finding::{Csv, Finding, cell};
use super::lab::Lab;
use crate::backend::open;
use crate::config::{Config, Variable};
use crate::error::Result;
use crate::io::palette::colour;
use crate::io::plot::Point;
use crate::io::{SURFACE, Series};
use crate::time::Simulation;

/// Maximum number of squares along an axis of the figure.
const MAX_SQUARES: usize = 96;
/// Pixels of the figure along an axis, and its margin.
const SIDE: f64 = 576.0;
const MARGIN: f64 = 60.0;

/// The state of `config` at its end, without any files.
fn simulated(config: &Config, end: f64) -> Result<Simulation> {
    let backend = open(&config.compute, config.grid.points.iter().product())?;
    let mut simulation = Simulation::on(backend.into(), config)?;
    while simulation.time() < end {
        simulation.step(Some(end))?;
    }
    Ok(simulation)
}

/// Song et al. 2022, figure 12.
pub(super) fn vortex(lab: &Lab<'_>) -> Result<Finding> {
    let (n, end): (usize, f64) = lab.pick((256, 8.0), (48, 8.0));
    let points = format!("grid.points=[{n}, {n}, {n}]");
    let set = [points.as_str(), "scheme.derivative=compact6", "time={ end = 8.0, cfl = 0.8 }"];
    let config = lab.input("taylor-green", &set)?;
    let mut simulation = simulated(&config, end)?;
    let steps = simulation.steps();
    let q: Vec<f64> = simulation.output(&Variable::QCriterion)?.into();
    // The largest Q along z for every point of x and y, then the largest over squares of `stride` points.
    let stride = n.div_ceil(MAX_SQUARES);
    let squares = n.div_ceil(stride);
    let mut max_q = vec![0.0_f64; squares * squares];
    for (at, value) in q.iter().enumerate() {
        let [i, j] = [at % n, at / n % n].map(|index| index / stride);
        let square = &mut max_q[i + squares * j];
        *square = square.max(*value);
    }
    let largest = max_q.iter().copied().fold(0.0, f64::max);
    let mut csv = Csv::new("x,y,largest_q");
    let place = |index: usize| {
        let length = std::f64::consts::TAU;
        cell(-0.5 * length + length * (index * stride) as f64 / n as f64)
    };
    for (at, value) in max_q.iter().enumerate() {
        csv.row([&place(at % squares), &place(at / squares), &cell(*value)]);
    }
    let title = format!("Taylor-Green vortex, {n}³ points, t = {end}: largest Q along z");
    let svg = map(&title, squares, &max_q, largest);
    Ok(Finding::table(csv, vec![("", svg)]).with_text(
        "A surface of constant Q, coloured by the enstrophy, of a run with 256³ points; the text gives neither the Reynolds number, nor \
         the time, nor the level of Q.",
        format!(
            "The built-in Taylor-Green vortex (Re = {}, Ma = {}) on {n}³ points after {steps} steps: the largest Q along z at every point \
             of x and y, like a projection of the vortices. The largest value is {largest:.1}.",
            config.gas.reynolds, config.gas.mach
        ),
        "A map instead of a surface in perspective, which `postprocess/q_criterion.py` draws from a run that writes `q_criterion` and \
         `vorticity`; with `--quick` 48³ points, on which the smallest vortices are missing.",
    ))
}

/// A map of squares in the colours of slices, from 0 to `largest`.
fn map(title: &str, squares: usize, values: &[f64], largest: f64) -> String {
    let square = SIDE / squares as f64;
    let size = SIDE + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg width=\"{size}\" height=\"{size}\" viewBox=\"0 0 {size} {size}\" xmlns=\"http://www.w3.org/2000/svg\" \
         font-family=\"sans-serif\" font-size=\"16\" fill=\"#1A1A1A\">\n<rect width=\"{size}\" height=\"{size}\" fill=\"#FFFFFF\"/>\n\
         <text x=\"12\" y=\"28\" font-weight=\"bold\">{title}</text>\n<g shape-rendering=\"crispEdges\">\n"
    );
    for (at, value) in values.iter().enumerate() {
        let [r, g, b] = colour(value / largest);
        let [x, y] = [at % squares, squares - 1 - at / squares].map(|n| MARGIN + square * n as f64);
        svg += &format!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{square:.2}\" height=\"{square:.2}\" fill=\"#{r:02X}{g:02X}{b:02X}\"/>\n"
        );
    }
    let (middle, bottom, left) = (MARGIN + SIDE / 2.0, SIDE + 1.5 * MARGIN, MARGIN / 2.0);
    svg += &format!(
        "</g>\n<text x=\"{middle:.1}\" y=\"{bottom:.1}\" text-anchor=\"middle\">x; from dark to bright Q = 0 to {largest:.1}</text>\n\
         <text x=\"{left:.1}\" y=\"{middle:.1}\" text-anchor=\"middle\">y</text>\n</svg>\n"
    );
    svg
}

/// Two columns of a table of a run, as points.
fn points(directory: &Path, file: &str, [x, y]: [&str; 2]) -> Result<Vec<Point>> {
    let table = Series::read(&directory.join(file))?;
    let pairs = table.required(x)?.iter().copied().zip(table.required(y)?.iter().copied());
    Ok(pairs.collect())
}

/// Wall quantities of a body at the end of a run, over `length` or `x`, and its drag over steps or time.
fn body(
    lab: &Lab<'_>,
    config: &Config,
    [title, x_label]: [&'static str; 2],
    along: &str,
) -> Result<(Finding, String)> {
    let directory = lab.run(config, "run")?;
    let mut wall = Chart::new(title, x_label, "coefficient");
    for (name, column) in
        [("pressure", "pressure_coefficient"), ("friction", "friction_coefficient")]
    {
        wall.add(Basis::Simulated, name, points(&directory, SURFACE, [along, column])?);
    }
    let is_steady = config.time.implicit.is_some();
    let (over, label) = if is_steady { ("step", "step") } else { ("time", "time t") };
    let mut drag = Chart::new("Drag coefficient", label, "drag coefficient");
    let mut summaries = Vec::new();
    for (column, name) in
        [("drag", "drag"), ("drag_pressure", "of pressure"), ("drag_friction", "of friction")]
    {
        let series = points(&directory, "series.csv", [over, column])?;
        if let Some((_, last)) = series.last() {
            summaries.push(format!("{name} {last:.4}"));
        }
        drag.add(Basis::Simulated, name, series);
    }
    let what =
        format!("at the end {} (the run is in `{}`)", summaries.join(", "), directory.display());
    Ok((Finding::charts(&[("-wall", wall), ("-drag", drag)]), what))
}

/// The information on the flows in the available part of Esfahanian et al. 2014.
const SPEEDUPS: &str = "Compressible viscous flow by the high-order compact scheme; the available text is the first part of the paper, \
                        with the speedups of the GPU over one core: 1.9 to 15.2 in two dimensions, 6.4 to 20.3 in three (abstract). It \
                        does not contain the Mach and Reynolds numbers and the curves.";

/// Esfahanian et al. 2014, the circular cylinder.
pub(super) fn cylinder(lab: &Lab<'_>) -> Result<Finding> {
    let steady: &[&str] = &[
        "case.reynolds=40",
        "case.gust=0",
        "grid.points=[64, 65, 1]",
        "time.cfl=20",
        "time.implicit={ method = \"steady\" }",
        "output.series={ every_steps = 1 }",
    ];
    let shedding: &[&str] = &["grid.points=[96, 97, 1]"];
    let config = lab.input("cylinder", lab.pick(shedding, steady))?;
    let title = ["Wall of the cylinder", "length of the wall"];
    let (finding, what) = body(lab, &config, title, "length")?;
    Ok(finding.with_text(
        SPEEDUPS,
        format!(
            "A cylinder at Ma = {} and Re = {} on {} × {} points: {what}. With `--quick` it is the steady flow of Re = 40 by implicit \
             steps, else the vortex street of Re = 100.",
            config.gas.mach, config.gas.reynolds, config.grid.points[0], config.grid.points[1]
        ),
        "The flow conditions of the paper are not known, so there are no reference curves; `cases/cylinder/README.md` compares drag, \
         separation and Strouhal number with those of other authors (C_D 1.52 by Dennis and Chang 1970 at Re = 40).",
    ))
}

/// Esfahanian et al. 2014, the aerofoil.
pub(super) fn aerofoil(lab: &Lab<'_>) -> Result<Finding> {
    let (points, first) =
        lab.pick(("grid.points=[256, 129, 1]", "0.004"), ("grid.points=[160, 97, 1]", "0.006"));
    let mapping = format!(
        "grid.mapping={{ kind = \"naca\", digits = \"0012\", radius = 0.003, outer = 30.0, first = {first} }}"
    );
    let set = [
        points,
        &mapping,
        "time.cfl=100",
        "time.implicit={ method = \"steady\", krylov = 300, products = 300 }",
        "output.series={ every_steps = 1 }",
    ];
    let config = lab.input("aerofoil", &set)?;
    let title = ["Wall of the aerofoil NACA 0012", "x, chords"];
    let (finding, what) = body(lab, &config, title, "x")?;
    Ok(finding.with_text(
        SPEEDUPS,
        format!(
            "A NACA 0012 at Ma = {}, Re = {} and no incidence on {} × {} points, the steady flow by implicit steps: {what}.",
            config.gas.mach, config.gas.reynolds, config.grid.points[0], config.grid.points[1]
        ),
        "The flow conditions of the paper are not known; `cases/aerofoil/README.md` compares with other authors: C_d 0.0556 to 0.057 for \
         a sharp trailing edge, which is cut at 98 % of the chord here.",
    ))
}
