//! Predictions side by side: numbers of ranks, methods, networks.

use serde::Serialize;

use super::options::ModelOptions;
use super::{Network, Prediction, Rates, Work, predict};
use crate::config::Config;
use crate::engine::distributed::Method;
use crate::error::Result;
use crate::grid::{Axis, Decomposition, MOST_POINTS};

/// Ranks of the smallest run that exchanges along all three axes, which efficiencies are relative to.
pub(super) const BASE: usize = 8;

/// All that one command predicts.
#[derive(Debug, Serialize)]
pub struct Study {
    /// The input whose steps are predicted.
    pub case: &'static str,
    /// True where each rank has as many points however many ranks there are.
    pub weak: bool,
    /// Of the machine.
    pub rates: Rates,
    /// One for every network, method and number of ranks.
    pub rows: Vec<Row>,
    /// For every network and method of a strong scaling: points a rank where the efficiency falls through 80 %.
    pub points_at_80_percent: Vec<Eighty>,
}

/// One prediction, or why there is none.
#[derive(Debug, Serialize)]
pub struct Row {
    /// torus, fat-tree, dragonfly or flat.
    pub network: &'static str,
    /// How lines are solved: `auto` where a run chooses.
    pub method: &'static str,
    /// Their number.
    pub ranks: usize,
    /// px, py, pz.
    pub decomposition: [usize; 3],
    /// Of the whole grid.
    pub points: [usize; 3],
    /// Of the largest block.
    pub points_of_a_rank: usize,
    /// Seconds, bytes, messages.
    pub prediction: Option<Prediction>,
    /// Relative to eight ranks by the same method on the same network.
    pub efficiency: Option<f64>,
    /// Why the method cannot.
    pub refusal: Option<String>,
}

/// Where strong scaling ends.
#[derive(Debug, Serialize)]
pub struct Eighty {
    /// As in [`Row`].
    pub network: &'static str,
    /// As in [`Row`].
    pub method: &'static str,
    /// Between two of the numbers of ranks, on a straight line in their logarithms; none where it stays above.
    pub points_of_a_rank: Option<f64>,
}

/// Predict what `options` ask for of the equations of `config`.
///
/// # Errors
/// Where rates are no rates, or cannot be read.
pub fn run(options: &ModelOptions, config: &Config) -> Result<Study> {
    options.check_plot()?;
    let rates = options.rates()?;
    let whole = options.whole();
    let networks = options.networks();
    let mut rows = Vec::new();
    let mut eighty = Vec::new();
    for &method in &options.method.0 {
        let counted = |ranks: usize| Counted::new(config, options, ranks, method);
        let base = counted(BASE);
        let all: Vec<Counted> = options.ranks.iter().map(|&ranks| counted(ranks)).collect();
        for &network in &networks {
            let base = base.predict(&rates, network);
            let from = rows.len();
            rows.extend(all.iter().map(|counted| {
                let prediction = counted.predict(&rates, network);
                let efficiency = base.zip(prediction);
                let efficiency = efficiency.map(|(base, own)| counted.efficiency(whole, base, own));
                counted.row(method, network, prediction, efficiency)
            }));
            if whole.is_some() {
                eighty.push(Eighty {
                    network: network.name(),
                    method: name(method),
                    points_of_a_rank: falls_through(0.8, &rows[from..]),
                });
            }
        }
    }
    let weak = whole.is_none();
    Ok(Study { case: config.case.name(), weak, rates, rows, points_at_80_percent: eighty })
}

fn name(method: Option<Method>) -> &'static str {
    method.map_or("auto", Method::name)
}

/// The work of one number of ranks.
struct Counted {
    decomposition: Decomposition,
    points: [usize; 3],
    work: std::result::Result<Work, String>,
}

impl Counted {
    fn new(config: &Config, options: &ModelOptions, ranks: usize, method: Option<Method>) -> Self {
        let each = options.points_per_rank;
        let decomposition = most_cubic(ranks, options.whole().unwrap_or(each));
        let points = options
            .whole()
            .unwrap_or_else(|| std::array::from_fn(|a| each[a] * decomposition.ranks[a]));
        let work = match (0..3).find(|&a| points[a] > MOST_POINTS) {
            Some(a) => Err(format!(
                "{} points along {} are more than the {MOST_POINTS} of a run",
                points[a],
                Axis::ALL[a].name()
            )),
            None => Work::new(config, points, decomposition, method),
        };
        Self { decomposition, points, work }
    }

    fn predict(&self, rates: &Rates, network: Network) -> Option<Prediction> {
        self.work.as_ref().ok().map(|work| predict(work, rates, network))
    }

    /// Speed a rank relative to that of `base` on [`BASE`] ranks.
    #[allow(clippy::cast_precision_loss, reason = "a number of ranks")]
    fn efficiency(&self, whole: Option<[usize; 3]>, base: Prediction, own: Prediction) -> f64 {
        let less = match whole {
            Some(_) => BASE as f64 / self.decomposition.size() as f64,
            None => 1.0,
        };
        base.step_seconds / own.step_seconds * less
    }

    fn row(
        &self,
        method: Option<Method>,
        network: Network,
        prediction: Option<Prediction>,
        efficiency: Option<f64>,
    ) -> Row {
        Row {
            network: network.name(),
            method: name(method),
            ranks: self.decomposition.size(),
            decomposition: self.decomposition.ranks,
            points: self.points,
            points_of_a_rank: (0..3)
                .map(|a| self.points[a].div_ceil(self.decomposition.ranks[a]))
                .product(),
            prediction,
            efficiency,
            refusal: self.work.as_ref().err().cloned(),
        }
    }
}

/// Ranks along the axes with more than one point, as many along each as can be; the most along z.
fn most_cubic(ranks: usize, points: [usize; 3]) -> Decomposition {
    let divisors = |n: usize| (1..=n).filter(move |p| n.is_multiple_of(*p));
    let fits = |ranks: [usize; 3]| (0..3).all(|a| ranks[a] == 1 || points[a] > 1);
    let all = divisors(ranks).flat_map(|px| {
        divisors(ranks / px).map(move |py| [px, py, ranks / px / py]).filter(|r| fits(*r))
    });
    let best = all.min_by_key(|ranks| (ranks.iter().sum::<usize>(), *ranks));
    Decomposition { ranks: best.unwrap_or([1, 1, ranks]) }
}

/// Points a rank where the efficiency of neighbouring `rows` falls through `limit`.
#[allow(clippy::cast_precision_loss, reason = "numbers of points")]
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
