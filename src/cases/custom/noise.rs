//! Random numbers that depend only on the point.

use serde::{Deserialize, Serialize};

use super::{Expression, Quantity};
use crate::splitmix::{mixed, number, unit};
use crate::typed::whole;

/// `noise = { amplitude, seed, variables }`: A(x, y, z) r is added to each of the variables, with r uniform in [−1, 1) and independent from
/// point to point and from variable to variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// A.
    pub amplitude: Expression,
    /// Seed of the random numbers.
    #[serde(default, deserialize_with = "whole::<u64, 0, { i64::MAX }, _, _>")]
    pub seed: u64,
    /// The variables with noise.
    #[serde(default = "velocity")]
    pub variables: Vec<Quantity>,
}

fn velocity() -> Vec<Quantity> {
    vec![Quantity::U, Quantity::V, Quantity::W]
}

/// r of `quantity` at the point (i, j, k) of a grid of `points`, independent of ranks and of the order of evaluation.
///
/// Number 6 (i + nx (j + ny k)) + quantity of the sequence SplitMix64 (Steele, Lea and Flood 2014), any number of which can be computed
/// without the previous ones. It starts from the hash of the seed: the sequences of consecutive seeds are unrelated.
pub(super) fn uniform(
    seed: u64,
    quantity: Quantity,
    [i, j, k]: [usize; 3],
    points: [usize; 3],
) -> f64 {
    let [nx, ny, _] = points.map(|n| n as u64);
    let point = i as u64 + nx * (j as u64 + ny * k as u64);
    let at = 6 * point + quantity as u64;
    2.0 * unit(number(mixed(seed), at + 1)) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_uniform_and_independent_between_points_variables_and_seeds() {
        let points = [13, 11, 7];
        let all = |seed, quantity| -> Vec<f64> {
            let index = |at: usize| [at % 13, at / 13 % 11, at / 143];
            (0..1001).map(|at| uniform(seed, quantity, index(at), points)).collect()
        };
        let streams = [
            all(1, Quantity::U),
            all(1, Quantity::V),
            all(1, Quantity::T),
            all(2, Quantity::U),
            // The next point along x.
            all(1, Quantity::U).into_iter().skip(1).chain([0.0]).collect(),
        ];
        let mean = |f: &dyn Fn(usize) -> f64| (0..1001).map(f).sum::<f64>() / 1001.0;
        for (a, one) in streams.iter().enumerate() {
            assert!(one.iter().all(|r| (-1.0..1.0).contains(r)));
            // Five standard deviations of the means of r and r²: 1/√3 and √(4/45), over √1001.
            assert!(mean(&|at| one[at]).abs() < 0.092, "stream {a}");
            assert!((mean(&|at| one[at] * one[at]) - 1.0 / 3.0).abs() < 0.048, "stream {a}");
            for (b, other) in streams.iter().enumerate().skip(a + 1) {
                // For a product: 1/3 over √1001.
                let together = mean(&|at| one[at] * other[at]);
                assert!(together.abs() < 0.053, "streams {a} and {b}: {together}");
            }
        }
    }
}
