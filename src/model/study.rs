//! Comparison of predictions: numbers of ranks, methods, networks.

use serde::Serialize;

use super::options::ModelOptions;
use super::{Network, Prediction, Rates, Work, predict};
use crate::config::Config;
use crate::engine::distributed::Method;
use crate::error::{Error, Result};
use crate::grid::{Axis, Decomposition, MAX_POINTS_PER_AXIS};

/// Maximum number of points of a line whose derivative is predicted: the line is factored.
const LONGEST: usize = 1 << 20;

/// All predictions of one command.
#[derive(Debug, Serialize)]
pub struct Study {
    /// The input whose steps are predicted.
    pub case: &'static str,
    /// Description of the predicted work.
    pub of: String,
    /// The family of first derivatives.
    pub scheme: &'static str,
    /// Precision of the fields: f64 or f32.
    pub precision: &'static str,
    /// Number of ranks that efficiencies are relative to.
    pub base: usize,
    /// True if the number of points per rank is the same for any number of ranks.
    pub weak: bool,
    /// Rates of the machine.
    pub rates: Rates,
    /// One row for every network, method and number of ranks.
    pub rows: Vec<Row>,
    /// For every network and method of a strong scaling: points per rank where the efficiency falls below 80 %.
    pub points_at_80_percent: Vec<Eighty>,
}

/// One prediction, or why there is none.
#[derive(Debug, Serialize)]
pub struct Row {
    /// torus, fat-tree, dragonfly or flat.
    pub network: &'static str,
    /// Method for the lines: `auto` if a run chooses.
    pub method: &'static str,
    /// Number of ranks.
    pub ranks: usize,
    /// px, py, pz.
    pub decomposition: [usize; 3],
    /// Points of the whole grid.
    pub points: [usize; 3],
    /// Points of the largest block.
    pub points_of_a_rank: usize,
    /// Seconds, bytes, messages.
    pub prediction: Option<Prediction>,
    /// Relative to [`Study::base`] ranks by the same method on the same network.
    pub efficiency: Option<f64>,
    /// Why the method is not possible.
    pub refusal: Option<String>,
}

/// The limit of strong scaling.
#[derive(Debug, Serialize)]
pub struct Eighty {
    /// As in [`Row`].
    pub network: &'static str,
    /// As in [`Row`].
    pub method: &'static str,
    /// Interpolated linearly in the logarithms of two numbers of ranks; none if the efficiency stays above.
    pub points_of_a_rank: Option<f64>,
}

/// Compute the predictions requested by `options` for the equations of `config`.
///
/// # Errors
/// If rates are invalid or cannot be read.
pub fn run(options: &ModelOptions, config: &Config) -> Result<Study> {
    options.check_plot()?;
    if config.time.implicit.is_some() && options.derivative.is_none() {
        return Err(Error::refused(
            "the number of products of an implicit step is not known in advance",
            "remove `time.implicit`, or time such steps with `kolmo bench step`",
        ));
    }
    let rates = options.rates()?;
    let weak = options.whole().is_none();
    let mut rows = Vec::new();
    let mut eighty = Vec::new();
    for &method in &options.method.0 {
        let counted = |ranks: usize| Counted::new(config, options, ranks, method);
        let base = counted(options.base);
        let all: Vec<Counted> = options.ranks().into_iter().map(counted).collect();
        for network in options.networks() {
            let (method, from) = (method.map_or("auto", Method::name), rows.len());
            let (of_base, base) = (base.predict(&rates, network), options.base);
            rows.extend(all.iter().map(|counted| {
                let own = counted.predict(&rates, network);
                counted.row([network.name(), method], weak, (base, of_base), own)
            }));
            if !weak {
                let points_of_a_rank = falls_through(0.8, &rows[from..]);
                eighty.push(Eighty { network: network.name(), method, points_of_a_rank });
            }
        }
    }
    let (case, base) = (config.case.name(), options.base);
    let of = match &options.derivative {
        None => format!("a step of {case}"),
        Some(axes) => {
            let axes: Vec<&str> = axes.0.iter().map(|axis| axis.name()).collect();
            let scheme = &config.scheme.derivative.name;
            format!("first derivatives of one field by {scheme} along {}", axes.join(", "))
        }
    };
    Ok(Study {
        case,
        of,
        scheme: config.scheme.derivative.name,
        precision: config.compute.precision.name(),
        base,
        weak,
        rates,
        rows,
        points_at_80_percent: eighty,
    })
}

/// The work for one number of ranks.
struct Counted {
    decomposition: Decomposition,
    points: [usize; 3],
    work: Result<Work, String>,
}

impl Counted {
    fn new(config: &Config, options: &ModelOptions, ranks: usize, method: Option<Method>) -> Self {
        let each = options.points_per_rank;
        let decomposition = options.decomposition(ranks, options.whole().unwrap_or(each));
        let scaled = || std::array::from_fn(|a| each[a] * decomposition.ranks[a]);
        let points: [usize; 3] = options.whole().unwrap_or_else(scaled);
        let (most, of) = match &options.derivative {
            None => (MAX_POINTS_PER_AXIS, "run"),
            Some(_) => (LONGEST, "line"),
        };
        let work = match Axis::ALL.into_iter().find(|axis| points[axis.index()] > most) {
            Some(axis) => Err(format!(
                "{} points along {} are more than the {most} of a {of}",
                points[axis.index()],
                axis.name()
            )),
            None => match &options.derivative {
                None => Work::new(config, points, decomposition, method),
                Some(axes) => {
                    let ends = config.unmapped_grid(points).ends;
                    let scheme = (&config.scheme.derivative, ends, config.compute.precision);
                    Work::of_derivatives(&axes.0, scheme, points, decomposition, method)
                }
            },
        };
        Self { decomposition, points, work }
    }

    fn predict(&self, rates: &Rates, network: Network) -> Option<Prediction> {
        self.work.as_ref().ok().map(|work| predict(work, rates, network))
    }

    /// The row of the prediction `own`, with its efficiency relative to the prediction `base` on `ranks_of_base` ranks.
    fn row(
        &self,
        [network, method]: [&'static str; 2],
        weak: bool,
        (ranks_of_base, base): (usize, Option<Prediction>),
        own: Option<Prediction>,
    ) -> Row {
        let Self { decomposition, points, .. } = self;
        let ranks = decomposition.size();
        let less = if weak { 1.0 } else { ranks_of_base as f64 / ranks as f64 };
        let efficiency =
            |(base, own): (Prediction, Prediction)| base.step_seconds / own.step_seconds * less;
        Row {
            network,
            method,
            ranks,
            decomposition: decomposition.ranks,
            points: *points,
            points_of_a_rank: decomposition.block(0, *points).len(),
            prediction: own,
            efficiency: base.zip(own).map(efficiency),
            refusal: self.work.as_ref().err().cloned(),
        }
    }
}

/// Ranks along the axes with more than one point, distributed as evenly as possible; the most along z.
pub(crate) fn most_cubic(ranks: usize, points: [usize; 3]) -> Decomposition {
    let divisors = |n: usize| (1..=n).filter(move |p| n.is_multiple_of(*p));
    let fits = |ranks: [usize; 3]| (0..3).all(|a| ranks[a] == 1 || points[a] > 1);
    let all = divisors(ranks).flat_map(|px| {
        divisors(ranks / px).map(move |py| [px, py, ranks / px / py]).filter(|r| fits(*r))
    });
    let best = all.min_by_key(|ranks| (ranks.iter().sum::<usize>(), *ranks));
    Decomposition { ranks: best.unwrap_or([1, 1, ranks]) }
}

/// Points per rank where the efficiency of adjacent `rows` falls below `limit`.
fn falls_through(limit: f64, rows: &[Row]) -> Option<f64> {
    let known = rows.iter().filter_map(|row| Some((row.points_of_a_rank as f64, row.efficiency?)));
    let known: Vec<(f64, f64)> = known.collect();
    known.windows(2).find_map(|pair| {
        let [(more, above), (fewer, below)] = [pair[0], pair[1]];
        (above >= limit && below < limit).then(|| {
            let part = (above - limit) / (above - below);
            (more.ln() * (1.0 - part) + fewer.ln() * part).exp()
        })
    })
}
