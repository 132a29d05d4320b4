//! The derivative of Srinath 2015 on a cluster of GPUs: figures 4.5 to 4.11 and table 4.2.

use super::Basis;
use super::chart::Chart;
use super::finding::{Csv, Finding, cell, range};
use super::lab::Lab;
use super::published::{CORES, DERIVATIVES, Derivatives, GPUS, LINK_BITS};
use super::scaling::Derivative;
use crate::engine::distributed::Method;
use crate::error::Result;
use crate::grid::{Axis, Decomposition};
use crate::io::bar_chart::{Bar, bars};
use crate::io::plot::Point;
use crate::model::{Rates, most_cubic};

/// The method of the thesis (its figure 3.7), and methods of this code, with their names.
const METHODS: [(Method, &str); 4] = [
    (Method::Gather, "gather (thesis)"),
    (Method::Pcr, "pcr"),
    (Method::Neighbour, "neighbour"),
    (Method::Transpose, "transpose"),
];
/// The default rates.
const RATES: &str = "The model takes the time of one GPU from table 4.2 (19.9 ms for 256³ points) as the rate of all its memory traffic, \
                     and half a link of 56 Gb/s for each of a node's two GPUs; latencies are assumed.";

/// The differences common to all these figures.
fn differences(lab: &Lab<'_>) -> String {
    format!(
        "{} The model has no permutations of y and z, no barriers in addition to the messages, no contention at rank 0 except for the \
         bandwidth of its link, and no cost of the Python code that starts kernels and messages in the thesis (§3.4), which delays short \
         blocks.",
        lab.describe_rates(RATES)
    )
}

/// Rates of a K20 of the thesis.
fn k20() -> Rates {
    let (n, milliseconds) = (256.0_f64, 19.9);
    let sweep = 1e-3 * milliseconds / n.powi(3);
    // One value is read and one is written.
    let memory = 16.0 / sweep;
    let link = LINK_BITS / 8.0 / 2.0;
    Rates {
        source: "K20: one GPU of table 4.2, links of 56 Gb/s; latencies assumed".into(),
        sweep,
        correct: 8.0 / memory,
        copy: memory,
        pack: memory,
        combine: memory,
        deal: memory,
        bandwidth: link,
        again: link,
        one_way: link,
        all_to_all: link,
        progress: 0.0,
        ..Rates::h200()
    }
}

fn derivative(lab: &Lab<'_>, method: Method) -> Derivative {
    Derivative { scheme: "compact4", periodic: false, method, rates: lab.rates(k20()) }
}

/// The published time in s along the fastest axis of n³ points on `gpus` GPUs.
fn published(n: usize, gpus: usize) -> Option<f64> {
    let Derivatives { neato, .. } = DERIVATIVES.iter().find(|one| one.points == n)?;
    let at = GPUS.iter().position(|known| *known == gpus)?;
    neato[at].map(|ms| 1e-3 * ms)
}

/// Figures 4.5 and 4.6: phases of the solver on 64 GPUs.
pub(super) fn profile(lab: &Lab<'_>, n: usize) -> Result<Finding> {
    let cut = most_cubic(64, [n; 3]);
    let mut csv = Csv::new("axis,method,basis,sweeps_s,pack_s,messages_s,reduced_s");
    let mut rows = Vec::new();
    let mut share = f64::NAN;
    for (method, name) in &METHODS[..3] {
        for axis in Axis::ALL {
            let Some(prediction) = derivative(lab, *method).predict(axis, [n; 3], cut) else {
                continue;
            };
            let parts = [prediction.local, prediction.pack, prediction.exposed, prediction.reduced];
            let [sweeps, pack, messages, reduced] = parts.map(cell);
            let (along, by) = (axis.name(), method.name());
            csv.row([&along, &by, &"modelled", &sweeps, &pack, &messages, &reduced]);
            if (*method, axis) == (Method::Gather, Axis::X) {
                share = 100.0 * parts[0] / parts.iter().sum::<f64>();
            }
            let parts = parts.map(|seconds| 1e3 * seconds).to_vec();
            rows.push(Bar::new(format!("{name}, {}", axis.name()), parts));
        }
    }
    let title = format!("A derivative of {n}³ points on 64 GPUs (modelled)");
    let svg = bars(&title, "time, ms", &["sweeps", "pack", "messages", "reduced systems"], &rows);
    let whole = derivative(lab, Method::Gather).seconds(Axis::X, [n; 3], cut);
    let measured = published(n, 64);
    Ok(Finding::table(csv, vec![("", svg)]).with_text(
        format!(
            "Bars of the steps of the solver along x, y and z. They are given as a figure; table 4.2 has their sum along the fastest axis, \
             {:.1} ms. The text says that the primary systems are the larger part for the larger problem, and that permutations take much \
             time along y and z.",
            1e3 * measured.unwrap_or(f64::NAN)
        ),
        format!(
            "Modelled phases of the same derivative by the method of the thesis and by two of this code. By `gather` along x it takes \
             {:.1} ms in all, {share:.0} % of it sweeps.",
            1e3 * whole.unwrap_or(f64::NAN)
        ),
        differences(lab),
    ))
}

/// Figures 4.7 to 4.10: times along x over the number of GPUs, for a whole grid of `points(ranks)`.
fn over_gpus(
    lab: &Lab<'_>,
    title: &str,
    points: impl Fn(usize, Decomposition) -> [usize; 3],
    remark: &str,
) -> Result<Finding> {
    let gpus: Vec<usize> = (0..=6).map(|k| 1 << k).collect();
    let mut charts = Vec::new();
    let mut here = Vec::new();
    for (picture, what, all) in [("", "along x", false), ("-all", "along x, y and z", true)] {
        let mut chart = Chart::new(&format!("{title}, {what}"), "GPUs", "time, ms");
        for (method, name) in METHODS {
            let derivative = derivative(lab, method);
            let time = |&p: &usize| -> Option<Point> {
                let cut = most_cubic(p, points(p, Decomposition::ONE));
                let points = points(p, cut);
                let seconds = match all {
                    true => derivative.all_axes(points, cut),
                    false => derivative.seconds(Axis::X, points, cut),
                };
                Some((p as f64, 1e3 * seconds?))
            };
            let times: Vec<Point> = gpus.iter().filter_map(time).collect();
            if let (false, Some(last)) = (all, times.last()) {
                here.push(format!("{name} {:.2} ms", last.1));
            }
            chart.add(Basis::Modelled, name, times);
        }
        if !all {
            let published_times = |&p: &usize| {
                let cut = most_cubic(p, points(p, Decomposition::ONE));
                let [n, ny, nz] = points(p, cut);
                let cube = n == ny && n == nz;
                cube.then(|| published(n, p)).flatten().map(|seconds| (p as f64, 1e3 * seconds))
            };
            let published_times = gpus.iter().filter_map(published_times).collect();
            chart.add(Basis::Published, METHODS[0].1, published_times);
        }
        charts.push((picture, chart.logarithmic([true; 2])));
    }
    Ok(Finding::charts(&charts).with_text(
        format!(
            "Times on 1 to 64 GPUs along all three axes, as a figure; {remark} Circles are the numbers of table 4.2 for the fastest \
             axis."
        ),
        format!("On 64 GPUs along x: {}.", here.join(", ")),
        differences(lab),
    ))
}

/// Figures 4.7 and 4.8.
pub(super) fn strong(lab: &Lab<'_>, n: usize) -> Result<Finding> {
    let title = format!("Strong scaling, {n}³ points");
    over_gpus(
        lab,
        &title,
        |_, _| [n; 3],
        "larger problems scale better, because the GPUs are kept busy.",
    )
}

/// Figures 4.9 and 4.10.
pub(super) fn weak(lab: &Lab<'_>, n: usize) -> Result<Finding> {
    let title = format!("Weak scaling, {n}³ points per GPU");
    let points = |_: usize, cut: Decomposition| cut.ranks.map(|ranks| n * ranks);
    over_gpus(lab, &title, points, "the text does not give the values.")
}

/// Modelled seconds along x for n³ points on `gpus` GPUs.
fn modelled(lab: &Lab<'_>, method: Method, n: usize, gpus: usize) -> Option<f64> {
    derivative(lab, method).seconds(Axis::X, [n; 3], most_cubic(gpus, [n; 3]))
}

/// Srinath 2015, table 4.2.
pub(super) fn table_4_2(lab: &Lab<'_>) -> Result<Finding> {
    let mut csv = Csv::new("points,processors,basis,method,ms");
    let mut row = |n: usize, of: String, basis: &str, method: &str, ms: Option<f64>| {
        if let Some(ms) = ms {
            csv.row([&format!("{n}^3"), &of, &basis, &method, &cell(ms)]);
        }
    };
    let to_ms = |seconds: f64| 1e3 * seconds;
    let mut ratios = Vec::new();
    for Derivatives { points: n, reference, neato } in DERIVATIVES {
        for (cores, ms) in CORES.iter().zip(reference) {
            row(n, format!("{cores} cores"), "published", "reference", ms);
        }
        for (&gpus, ms) in GPUS.iter().zip(neato) {
            let gpu = format!("{gpus} GPUs");
            row(n, gpu.clone(), "published", "NEATO", ms);
            for method in [Method::Gather, Method::Neighbour] {
                let seconds = modelled(lab, method, n, gpus).filter(|_| ms.is_some());
                row(n, gpu.clone(), "modelled", method.name(), seconds.map(to_ms));
                if let (Method::Gather, Some(ms), Some(seconds)) = (method, ms, seconds) {
                    ratios.push(1e3 * seconds / ms);
                }
            }
        }
    }
    let n = lab.pick(256, 128);
    let words = format!("derivative --points {n} --axis x --scheme compact4 --ends closed");
    let (report, command) = lab.bench(&words)?;
    let result = &report.results[0];
    let seconds = 1e-9 * result.ns_per_point.min * (n * n * n) as f64;
    let own = format!("{} with {} threads", result.backend, result.threads);
    row(n, own.clone(), "measured", "auto", Some(to_ms(seconds)));
    let [low, high] = range(ratios.iter().copied());
    Ok(Finding::table(csv, Vec::new()).with_text(
        "Times along the fastest axis for 256³ to 2048³ points: the reference program on 8 to 512 cores, NEATO on 1 to 64 GPUs (p. 58). \
         256³ points take 79.5 ms on 8 cores and 19.9 ms on one GPU.",
        format!(
            "Modelled times by `gather`, the method of the thesis, are {low:.2} to {high:.2} of the published ones. {command} on {own}: \
             {:.2} ms for {n}³ points.",
            to_ms(seconds)
        ),
        format!("{} The reference program is not available.", differences(lab)),
    ))
}

/// Srinath 2015, figure 4.11.
pub(super) fn figure_4_11(lab: &Lab<'_>) -> Result<Finding> {
    let mut chart = Chart::new(
        "Speedup of GPUs over eight times as many cores",
        "processors: sockets, or GPUs",
        "speedup",
    );
    let mut summaries = Vec::new();
    for Derivatives { points: n, reference, neato } in DERIVATIVES {
        let name = format!("{n}³");
        let (mut published, mut own) = (Vec::new(), Vec::new());
        for ((&gpus, cores), own_ms) in GPUS.iter().zip(reference).zip(neato) {
            let Some(cores) = cores else { continue };
            published.extend(own_ms.map(|ms| (gpus as f64, cores / ms)));
            let seconds = modelled(lab, Method::Gather, n, gpus).filter(|_| own_ms.is_some());
            own.extend(seconds.map(|seconds| (gpus as f64, 1e-3 * cores / seconds)));
        }
        let list = |points: &[Point]| {
            points.iter().map(|point| format!("{:.1}", point.1)).collect::<Vec<_>>().join(", ")
        };
        summaries.push(format!("{n}³: {} for {}", list(&own), list(&published)));
        chart.add(Basis::Modelled, &name, own);
        chart.add(Basis::Published, &name, published);
    }
    Ok(Finding::charts(&[("", chart.logarithmic([true, false]))]).with_text(
        "Speedups on 1, 8 and 64 GPUs over 8, 64 and 512 cores of the reference program, from table 4.2.",
        format!(
            "Published times of cores divided by modelled times of GPUs by `gather`; modelled and published speedups: {}.",
            summaries.join("; ")
        ),
        format!("{} The times of cores are the published ones in both.", differences(lab)),
    ))
}
