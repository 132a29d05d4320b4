//! Scaling of Song et al. 2022: figures 9, 10, 11 and 13.

use super::Basis;
use super::chart::Chart;
use super::finding::Finding;
use super::lab::Lab;
use super::scaling::Derivative;
use crate::engine::distributed::Method;
use crate::error::Result;
use crate::grid::{Axis, Decomposition};
use crate::io::plot::Point;
use crate::model::{Network, Rates, Work, most_cubic, predict};

/// Points of a block in the weak scaling.
const BLOCK: usize = 256;
const METHODS: [(Method, &str); 2] =
    [(Method::Pcr, "pcr (paper)"), (Method::Neighbour, "neighbour")];
/// The default rates.
const RATES: &str = "Rates here are those of an H200 with a link of 400 Gb/s, which are assumed except for that of a copy (`--rates` \
                     takes others).";

/// The differences common to all these figures.
fn differences(lab: &Lab<'_>) -> String {
    format!(
        "The paper measures up to 3072 V100 of Summit, and its text has no times. {} The paper also solves with PCR on each GPU, with n \
         log n work, which makes its strong scaling superlinear at first; the elimination here has work n.",
        lab.describe_rates(RATES)
    )
}

/// Modelled seconds of 256² lines of `line` points along x, on `gpus` GPUs.
fn seconds(lab: &Lab<'_>, method: Method, line: usize, gpus: usize) -> Option<f64> {
    let rates = lab.rates(Rates::h200());
    let derivative = Derivative { scheme: "compact6", periodic: true, method, rates };
    derivative.seconds(Axis::X, [line, BLOCK, BLOCK], Decomposition::along(Axis::X, gpus))
}

/// T₁ / Tₚ, multiplied by p if `work_grows`: the work is proportional to the number p of GPUs (eq. 24).
fn speedups(
    gpus: &[usize],
    work_grows: bool,
    seconds: impl Fn(usize) -> Option<f64>,
) -> Vec<Point> {
    let Some(one) = seconds(1) else { return Vec::new() };
    let work = |p: usize| if work_grows { p as f64 } else { 1.0 };
    gpus.iter().filter_map(|&p| Some((p as f64, work(p) * one / seconds(p)?))).collect()
}

/// Speedups of lines of 256 p points on p blocks along x.
fn weak(lab: &Lab<'_>, method: Method, gpus: &[usize]) -> Vec<Point> {
    speedups(gpus, true, |p| seconds(lab, method, p * BLOCK, p))
}

/// A point for each number on the line of ideal scaling.
fn ideal(gpus: &[usize]) -> Vec<Point> {
    gpus.iter().map(|&p| (p as f64, p as f64)).collect()
}

/// The speedup of the last point, as text.
fn last_speedup(name: &str, points: &[Point]) -> String {
    points
        .last()
        .map_or(String::new(), |(p, speedup)| format!("{name} {speedup:.0} on {p:.0} GPUs"))
}

/// Song et al. 2022, figure 9.
pub(super) fn figure_9(lab: &Lab<'_>) -> Result<Finding> {
    const LINE: usize = 8192;
    let gpus: Vec<usize> = (0..=9).map(|k| 1 << k).collect();
    let mut chart =
        Chart::new("Strong scaling, lines of 8192 points, 256² of them", "GPUs", "speedup T₁ / Tₚ");
    let mut summaries = Vec::new();
    for (method, name) in METHODS {
        let points = speedups(&gpus, false, |p| seconds(lab, method, LINE, p));
        summaries.push(last_speedup(name, &points));
        chart.add(Basis::Modelled, name, points);
    }
    chart.add(Basis::Modelled, "ideal", ideal(&gpus));
    Ok(Finding::charts(&[("", chart.logarithmic([true; 2]))]).with_text(
        "Speedups for the three indices, as a figure: superlinear at first, across the ideal line at about 32 GPUs, then a plateau where \
         communication dominates, and a slow decline.",
        format!("One axis, since all three are equal in the model. {}.", summaries.join("; ")),
        differences(lab),
    ))
}

/// Song et al. 2022, figure 10.
pub(super) fn figure_10(lab: &Lab<'_>) -> Result<Finding> {
    let powers: Vec<usize> = (0..=11).map(|k| 1 << k).collect();
    let linear: Vec<usize> = (1..=32).collect();
    let mut charts = Vec::new();
    let mut summaries = Vec::new();
    for (picture, title, gpus) in
        [("-powers", "powers of two", &powers), ("-linear", "any number", &linear)]
    {
        let title = format!("Weak scaling, 256³ points per GPU, {title}");
        let mut chart = Chart::new(&title, "GPUs", "speedup p T₁ / Tₚ");
        for (method, name) in METHODS {
            let points = weak(lab, method, gpus);
            summaries.push(last_speedup(name, &points));
            chart.add(Basis::Modelled, name, points);
        }
        chart.add(Basis::Modelled, "ideal", ideal(gpus));
        let logarithmic = gpus.len() < linear.len();
        charts.push((picture, chart.logarithmic([logarithmic; 2])));
    }
    Ok(Finding::charts(&charts).with_text(
        "Speedups of lines cut along one axis on up to 2048 GPUs in powers of two, and on 1 to 32 one by one, as figures: reasonably \
         good to a large number, with little difference between the indices.",
        format!("Lines cut along x in the model. {}.", summaries.join("; ")),
        differences(lab),
    ))
}

/// Song et al. 2022, figure 11.
pub(super) fn figure_11(lab: &Lab<'_>) -> Result<Finding> {
    let best: Vec<usize> = (1..=11).map(|k| 1 << k).collect();
    let worst: Vec<usize> = best.iter().map(|p| p - 1).collect();
    let mut chart =
        Chart::new("Weak scaling by pcr, best and worst numbers", "GPUs", "speedup p T₁ / Tₚ");
    let [powers, before] = [&best, &worst].map(|gpus| weak(lab, Method::Pcr, gpus));
    let summaries = [last_speedup("2ⁿ:", &powers), last_speedup("2ⁿ − 1:", &before)].join("; ");
    chart.add(Basis::Modelled, "2ⁿ", powers);
    chart.add(Basis::Modelled, "2ⁿ − 1", before);
    chart.add(Basis::Modelled, "ideal", ideal(&best));
    Ok(Finding::charts(&[("", chart)]).with_text(
        "Two straight lines of different slope, as a figure: with 2ⁿ − 1 GPUs every level has an odd number of rows, so that each detaches \
         one and reattaches it in the end.",
        format!("From the rounds of messages of the plans that ranks run. {summaries}."),
        differences(lab),
    ))
}

/// Song et al. 2022, figure 13.
pub(super) fn figure_13(lab: &Lab<'_>) -> Result<Finding> {
    let config = lab.input("taylor-green", &["scheme.derivative=compact6"])?;
    let (rates, network) = (lab.rates(Rates::h200()), Network::FatTree(1.0));
    let mut summaries = Vec::new();
    let seconds = |method: Method, p: usize| {
        let cut = most_cubic(p, [BLOCK; 3]);
        let work = Work::new(&config, cut.ranks.map(|n| n * BLOCK), cut, Some(method)).ok()?;
        Some(predict(&work, &rates, network).step_seconds)
    };
    let mut chart = Chart::new(
        "Weak scaling of Taylor-Green, 256³ points per GPU",
        "GPUs",
        "speedup p T₁ / Tₚ",
    );
    let counts = |first: usize| -> Vec<usize> {
        (0..=9).map(|k| first << k).filter(|p| *p <= 3072).collect()
    };
    for (method, of) in METHODS {
        for (first, what) in [(4, "4·2ⁿ"), (6, "6·2ⁿ")] {
            let points = speedups(&counts(first), true, |p| seconds(method, p));
            let name = format!("{of} {what}");
            summaries.push(last_speedup(&name, &points));
            chart.add(Basis::Modelled, &name, points);
        }
    }
    let mut all = [counts(4), counts(6)].concat();
    all.sort_unstable();
    chart.add(Basis::Modelled, "ideal", ideal(&all));
    Ok(Finding::charts(&[("", chart.logarithmic([true; 2]))]).with_text(
        "Weak scaling of a Navier-Stokes solver on the Taylor-Green vortex with 4·2ⁿ and 6·2ⁿ GPUs, as a figure: excellent up to 3072, \
         better than the solver alone, since the grid is cut along three axes.",
        format!(
            "Steps of this code's equations, with blocks as close to cubes as possible. {}. `mpirun -n 8 kolmo bench step --weak` measures \
             them.",
            summaries.join("; ")
        ),
        differences(lab),
    ))
}
