//! Rows of A⁻¹, their decay, and the error of truncating them.

use std::f64::consts::TAU;

use kolmo::engine::LineOperator;
use kolmo::engine::distributed::{Method, shortest};
use kolmo::lines;
use nalgebra::Complex;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::operators::Line;
use crate::waves::wavenumbers;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    line: Line,
    row: usize,
    /// Number of entries of a row kept on either side.
    keep: usize,
}

impl Request {
    pub(crate) fn answer(self) -> Result<Value, String> {
        let (operator, scheme) = (self.line.operator()?, self.line.scheme()?);
        let n = operator.len();
        let Self { row, keep, .. } = self;
        if row >= n {
            return Err(format!("row {row}; the last of {n} is {}", n - 1));
        }
        let inverse = inverse(&operator);
        let periodic = self.line.is_periodic();
        let distance = |i: usize, j: usize| match periodic {
            true => i.abs_diff(j).min(n - i.abs_diff(j)),
            false => i.abs_diff(j),
        };
        // The largest entries at each distance from the diagonal, of this row and of all rows.
        let largest = |rows: &mut dyn Iterator<Item = usize>| {
            let mut largest = vec![0.0_f64; n];
            for i in rows {
                for j in 0..n {
                    let at = &mut largest[distance(i, j)];
                    *at = at.max(inverse[i][j].abs());
                }
            }
            largest
        };
        let of_all = largest(&mut (0..n));
        let scale = of_all.iter().copied().fold(0.0, f64::max);
        let reach = [1e-4, 1e-8, 1e-12, f64::EPSILON]
            .map(|fraction| of_all.iter().rposition(|entry| *entry > fraction * scale));
        // Both errors, that of the truncation and that of the scheme, are those for a wave exp(iwj), relative to its exact derivative
        // at this row. On a periodic line only waves that are periodic on it are used.
        let waves: Vec<f64> = match periodic {
            true => (1..=n / 2).map(|j| TAU * j as f64 / n as f64).collect(),
            false => wavenumbers().skip(1).collect(),
        };
        let errors = waves.iter().map(|&w| {
            let wave = |at: isize| Complex::from_polar(1.0, w * (at - row.cast_signed()) as f64);
            let (mut kept, mut left_out) = (Complex::new(0.0, 0.0), Complex::new(0.0, 0.0));
            for (j, entry) in inverse[row].iter().enumerate() {
                let terms = operator.row(j).into_iter();
                let right: Complex<f64> =
                    terms.map(|(offset, weight)| wave(j.cast_signed() + offset) * weight).sum();
                let sum = if distance(row, j) <= keep { &mut kept } else { &mut left_out };
                *sum += right * *entry;
            }
            let error = kept + left_out - Complex::new(0.0, w);
            (left_out.norm() / w, error.norm() / w)
        });
        let (truncation, discretization): (Vec<f64>, Vec<f64>) = errors.unzip();
        let root = (1.0 - 4.0 * scheme.alpha.powi(2)).sqrt();
        let tridiagonal = scheme.half_band() == 1 && root > 0.0;
        Ok(json!({
            "row": inverse[row],
            "of_row": largest(&mut std::iter::once(row)),
            "of_all": of_all,
            "ratio": tridiagonal.then(|| (1.0 - root) / (2.0 * scheme.alpha)),
            "diagonal": tridiagonal.then(|| 1.0 / root),
            "reach": reach,
            "block": shortest(&operator, Method::Neighbour),
            "w": waves,
            "cut": truncation,
            "own": discretization,
        }))
    }
}

/// Returns A⁻¹, row by row.
fn inverse(operator: &LineOperator) -> Vec<Vec<f64>> {
    let n = operator.len();
    let mut inverse = vec![vec![0.0; n]; n];
    for j in 0..n {
        let mut column = vec![0.0; n];
        column[j] = 1.0;
        lines::solve(operator.factors(), &mut column);
        for (row, entry) in inverse.iter_mut().zip(column) {
            row[j] = entry;
        }
    }
    inverse
}
