//! How to cut a grid: the way that the model finds fastest.

use super::{Network, Rates, Work, predict};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::grid::Decomposition;

/// The decomposition of the grid of `config` over `ranks` ranks whose step is predicted to be the shortest, with that
/// prediction in seconds. Among equals it is the one with the least surface.
///
/// # Errors
/// Where there is none: how many ranks there can be, or why the method that is asked for cannot.
pub fn fastest(config: &Config, ranks: usize, rates: &Rates) -> Result<(Decomposition, f64)> {
    let points = config.grid.points;
    let mut best: Option<(Decomposition, f64)> = None;
    let mut refusal = None;
    for decomposition in Decomposition::all(ranks, points, 1) {
        let work = Work::new(config, points, decomposition, config.compute.distributed);
        match work.map(|work| predict(&work, rates, Network::Flat).step_seconds) {
            // A difference of less is none.
            Ok(seconds) if best.is_none_or(|(_, least)| seconds < 0.999 * least) => {
                best = Some((decomposition, seconds));
            }
            Ok(_) => {}
            Err(sentence) => refusal = Some(sentence),
        }
    }
    match (best, refusal) {
        (Some(best), _) => Ok(best),
        (None, Some(sentence)) => Err(Error::Config(vec![
            format!("error: no way to cut the grid over {ranks} ranks: {sentence}"),
            "1 error; nothing was run".into(),
        ])),
        (None, None) => Decomposition::choose(ranks, points, 1).map(|one| (one, f64::NAN)),
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

    fn cut(points: [usize; 3], ranks: usize, rates: &Rates) -> Result<[usize; 3]> {
        let input = format!(
            "[case]\nname = 'taylor-green'\n[grid]\npoints = {points:?}\n[time]\nmax_steps = 1\n"
        );
        let config = parse(&input, "test", &[]).unwrap();
        fastest(&config, ranks, rates).map(|(best, _)| best.ranks)
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

    #[test]
    fn a_grid_that_cannot_be_cut_so_often_is_refused() {
        let told = cut([8, 8, 8], 1024, &Rates::core()).unwrap_err().to_string();
        assert!(told.contains("512"), "{told}");
    }
}
