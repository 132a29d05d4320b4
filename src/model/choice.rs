//! How to cut a grid: the way that the model finds fastest.

use super::planner::Planner;
use super::predict::{at_least, step_seconds};
use super::{Network, Rates, Work};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Decomposition;

/// A difference of less is none.
const FASTER: f64 = 0.999;

/// The decomposition of the grid of `config` over `ranks` ranks whose step is predicted to be the shortest, with that
/// prediction in seconds. Among equals it is the one with the least surface.
///
/// # Errors
/// Where there is none: how many ranks there can be, or why the method that is asked for cannot.
pub fn fastest(config: &Config, ranks: usize, rates: &Rates) -> Result<(Decomposition, f64)> {
    let Search { best, refusal, .. } = Search::new(config, ranks, rates);
    match (best, refusal) {
        (Some(best), _) => Ok(best),
        (None, Some(sentence)) => Err(Error::Config(vec![
            format!("error: no way to cut the grid over {ranks} ranks: {sentence}"),
            "1 error; nothing was run".into(),
        ])),
        (None, None) => {
            Decomposition::choose(ranks, config.grid.points, 1).map(|one| (one, f64::NAN))
        }
    }
}

/// Most decompositions that are compared, those with the least surface first: all of them on up to 64 ranks. What comes behind
/// so many has blocks far from cubes, and lines cut so often that their plans take long to make.
const MOST_COMPARED: usize = 64;

/// The decompositions looked through.
#[derive(Debug, Default)]
struct Search {
    best: Option<(Decomposition, f64)>,
    /// Why the last one that cannot be cannot.
    refusal: Option<String>,
    /// Decompositions whose step was predicted: others take longer whatever their messages do.
    predicted: usize,
    /// Plans made for the ranks on a line.
    planned: usize,
}

impl Search {
    fn new(config: &Config, ranks: usize, rates: &Rates) -> Self {
        let points = config.grid.points;
        let mut planner = Planner::new(config, points, config.compute.distributed);
        let mut search = Self::default();
        let mut compared = 0;
        for decomposition in Decomposition::all(ranks, points, 1) {
            if compared == MOST_COMPARED {
                break;
            }
            let work = match Work::of(&mut planner, decomposition) {
                Ok(work) => work,
                Err(sentence) => {
                    search.refusal = Some(sentence);
                    continue;
                }
            };
            compared += 1;
            let least = search.best.map_or(f64::INFINITY, |(_, seconds)| FASTER * seconds);
            if at_least(&work, rates, Network::Flat) >= least {
                continue;
            }
            search.predicted += 1;
            let seconds = step_seconds(&work, rates, Network::Flat);
            if seconds < least {
                search.best = Some((decomposition, seconds));
            }
        }
        search.planned = planner.planned();
        search
    }
}

impl Rates {
    /// One core a rank on a host of its own: assumed, from what a server of 2024 does.
    pub fn core() -> Self {
        Self {
            source: "a core of a server; assumed".into(),
            latency: 1e-6,
            overhead: 0.5e-6,
            bandwidth: 5e9,
            again: 8e9,
            one_way: 12e9,
            all_to_all: 3e9,
            staging: None,
            copy: 10e9,
            sweep: 0.8e-9,
            correct: 0.5e-9,
            pack: 5e9,
            combine: 5e9,
            deal: 2e9,
            launch: 2e-6,
            reduction: 2e-6,
            progress: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::model::predict;

    fn cut(points: [usize; 3], ranks: usize, rates: &Rates) -> Result<[usize; 3]> {
        fastest(&input(points, ""), ranks, rates).map(|(best, _)| best.ranks)
    }

    #[test]
    fn few_ranks_cut_one_axis_and_blocks_stay_long_enough_for_one_message() {
        let rates = Rates::core();
        assert_eq!(cut([128, 128, 128], 2, &rates).unwrap(), [1, 1, 2]);
        // Along z alone blocks would be shorter than compact6 reaches.
        assert_eq!(cut([256, 256, 64], 4, &rates).unwrap()[2], 1);
        // A flat grid is cut where it is long.
        assert_eq!(cut([512, 8, 8], 4, &rates).unwrap(), [4, 1, 1]);
    }

    fn input(points: [usize; 3], set: &str) -> Config {
        let input = format!(
            "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n{set}"
        );
        parse(&input, "test", &[]).unwrap()
    }

    /// The same by predicting every cut, each planned by itself.
    fn of_all(config: &Config, ranks: usize, rates: &Rates) -> Option<(Decomposition, f64)> {
        let points = config.grid.points;
        let mut best: Option<(Decomposition, f64)> = None;
        for cut in Decomposition::all(ranks, points, 1) {
            let work = Work::new(config, points, cut, config.compute.distributed);
            let seconds = work.map(|work| predict(&work, rates, Network::Flat).step_seconds);
            let Ok(seconds) = seconds else { continue };
            if best.is_none_or(|(_, least)| seconds < FASTER * least) {
                best = Some((cut, seconds));
            }
        }
        best
    }

    #[test]
    fn what_is_left_out_would_not_have_been_chosen() {
        for (points, set) in [
            ([64, 64, 64], ""),
            ([256, 128, 48], ""),
            ([96, 90, 100], "[compute]\ndistributed = 'pcr'\n"),
            ([40, 48, 56], "[compute]\ndistributed = 'transpose'\n"),
        ] {
            let config = input(points, set);
            for ranks in [2, 3, 4, 6, 8, 12, 16, 30, 64] {
                for rates in [Rates::core(), Rates::h200()] {
                    let found = fastest(&config, ranks, &rates).ok();
                    assert_eq!(found, of_all(&config, ranks, &rates), "{ranks} ranks, {points:?}");
                }
            }
        }
    }

    /// Catches what is planned for every rank of a line, or for every cut: that took longer than the square of the ranks.
    #[test]
    fn many_ranks_take_no_more_plans_than_few() {
        for (points, rates) in [
            ([8192; 3], Rates::h200()),
            ([4096; 3], Rates::core()),
            ([6000, 5000, 4000], Rates::core()),
        ] {
            let config = input(points, "");
            let Search { best, predicted, planned, .. } = Search::new(&config, 131_072, &rates);
            assert!(best.is_some());
            assert!(predicted <= 12 && planned <= 2000, "{points:?}: {predicted} {planned}");
        }
    }

    #[test]
    fn a_grid_that_cannot_be_cut_so_often_is_refused() {
        let told = cut([8, 8, 8], 1024, &Rates::core()).unwrap_err().to_string();
        assert!(told.contains("512"), "{told}");
    }
}
