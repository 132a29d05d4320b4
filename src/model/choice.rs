//! The decomposition with the shortest predicted step.

use super::predict::step_seconds;
use super::work::Planner;
use super::{Network, Rates};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Decomposition;

/// A step counts as faster if it is shorter than this fraction of the other.
const FASTER: f64 = 0.999;

/// Maximum number of decompositions that are compared, those with the smallest surface first: all of them on up to 64 ranks. The
/// others have elongated blocks, and lines cut so often that planning them takes long.
const MOST_COMPARED: usize = 64;

/// The decomposition of the grid of `config` over `ranks` ranks with the shortest predicted step, and that prediction in seconds.
/// Among equal ones it is the one with the smallest surface.
///
/// # Errors
/// If there is none: the possible numbers of ranks, or why the requested method is impossible.
pub fn fastest(config: &Config, ranks: usize, rates: &Rates) -> Result<(Decomposition, f64)> {
    let (points, method) = (config.grid.points, config.compute.distributed);
    search(&mut Planner::new(config, points, method), ranks, rates)
}

fn search(planner: &mut Planner, ranks: usize, rates: &Rates) -> Result<(Decomposition, f64)> {
    let points = planner.points;
    let (mut best, mut refusal, mut compared) = (None, None, 0);
    for decomposition in Decomposition::all(ranks, points) {
        if compared == MOST_COMPARED {
            break;
        }
        match planner.work(decomposition) {
            Err(sentence) => refusal = Some(sentence),
            Ok(work) => {
                compared += 1;
                let seconds = step_seconds(&work, rates, Network::Flat);
                if best.is_none_or(|(_, least)| seconds < FASTER * least) {
                    best = Some((decomposition, seconds));
                }
            }
        }
    }
    match (best, refusal) {
        (Some(best), _) => Ok(best),
        (None, Some(sentence)) => Err(Error::refused(
            format!("no way to cut the grid over {ranks} ranks: {sentence}"),
            "",
        )),
        (None, None) => Err(Decomposition::no_decomposition_error(ranks, points)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::of_case;

    /// Detects a plan per rank of a line, or per cut: its cost would grow faster than the square of the number of ranks.
    #[test]
    fn number_of_plans_is_bounded_for_many_ranks() {
        for (points, rates) in [
            ([8192; 3], Rates::h200()),
            ([4096; 3], Rates::core()),
            ([6000, 5000, 4000], Rates::core()),
        ] {
            let config = of_case("taylor-green", points, &[]).unwrap();
            let mut planner = Planner::new(&config, points, None);
            assert!(search(&mut planner, 131_072, &rates).is_ok());
            assert!(planner.planned() <= 2000, "{points:?}: {}", planner.planned());
        }
    }

    /// Detects a cut whose blocks are shorter than the boundary conditions at the ends of their lines need: a run rejects it.
    #[test]
    fn chosen_blocks_are_long_enough_for_open_faces() {
        let faces = "boundary.y={ low = 'outflow', high = 'outflow' }";
        let config = of_case("custom", [24, 18, 1], &[faces.to_string()]).unwrap();
        let (best, _) = fastest(&config, 2, &Rates::core()).unwrap();
        assert_eq!(best.ranks, [2, 1, 1]);
    }
}
