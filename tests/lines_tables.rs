//! The tables of the parallel line solvers, used on the host, against LU.

use kolmo::engine::closed_min_points;
use kolmo::lines::*;
use kolmo::scheme::*;

use crate::common::max_difference;
use crate::lines::noise;

/// Couplings below this count as none.
const TOLERANCE: f64 = 1e-3 * f64::EPSILON;

/// The matrices of every kind of operator with n points, cyclic and with closures, tri- and pentadiagonal.
fn matrices(n: usize) -> Vec<(String, BandedMatrix)> {
    let filters = [0.45, 0.495, -0.3].map(|alpha| compact_filter(10, alpha));
    let schemes = ALL_FIRST.iter().chain(&ALL_SECOND).chain(&ALL_MIDPOINT).chain(&filters);
    let mut all = Vec::new();
    for scheme in schemes.chain([&CF90, &LELE_CUTOFF]).filter(|scheme| scheme.half_band() > 0) {
        if n >= scheme.min_points() {
            let matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, true);
            all.push((format!("{} periodic, {n}", scheme.name), matrix));
        }
        if let Some(closure) = default_closure(scheme).filter(|c| n >= closed_min_points(scheme, c))
        {
            let mut matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, false);
            for (i, row) in closure.rows.iter().enumerate() {
                matrix.set_row(i, &row.lhs);
                let mirrored: Vec<_> = row.lhs.iter().map(|&(d, a)| (-d, a)).collect();
                matrix.set_row(n - 1 - i, &mirrored);
            }
            all.push((format!("{} closed, {n}", scheme.name), matrix));
        }
    }
    all
}

const SIZES: [usize; 16] = [5, 6, 7, 8, 9, 11, 16, 17, 31, 32, 33, 64, 97, 128, 257, 1031];

/// Panics unless `solver` agrees with LU to `limit` of max |x| for all matrices.
fn assert_agrees(limit: f64, solver: impl Fn(&BandedMatrix, &mut [f64])) {
    let mut worst = (0.0, String::new());
    for n in SIZES {
        for (name, matrix) in matrices(n) {
            let b = noise(n, 7);
            let mut expected = b.clone();
            solve(&Factors::new(&matrix), &mut expected);
            let mut found = b;
            solver(&matrix, &mut found);
            let largest = expected.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
            let error = max_difference(&found, &expected) / largest;
            assert!(found.iter().all(|x| x.is_finite()), "{name}: {found:?}");
            if error > worst.0 {
                worst = (error, name);
            }
        }
    }
    assert!(worst.0 < limit, "{worst:?}");
    assert!(worst.0 > 0.0, "nothing was compared");
}

#[test]
fn a_cyclic_matrix_is_solved_by_its_open_core() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        solve(&Factors::new(&border.core), &mut x[..border.rows()]);
        border.close(x);
    });
}

#[test]
fn chunks_of_any_length_solve_every_matrix() {
    for length in [4, 7, 8, 16] {
        assert_agrees(1e-13, |matrix, x| Chunks::new(matrix, length, TOLERANCE).solve(x));
    }
}

#[test]
fn banded_reduction_solves_every_matrix() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        BandedPcr::new(&border.core, TOLERANCE).solve(&mut x[..border.rows()]);
        border.close(x);
    });
}

#[test]
fn cyclic_reduction_solves_every_tridiagonal_matrix() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        if matrix.half_band() == 1 {
            CyclicReduction::new(&border.core).solve(&mut x[..border.rows()]);
        } else {
            solve(&Factors::new(&border.core), &mut x[..border.rows()]);
        }
        border.close(x);
    });
}

#[test]
fn reductions_of_compact_schemes_have_at_most_three_special_rows_an_end() {
    for n in SIZES {
        for (name, matrix) in matrices(n).into_iter().filter(|(_, a)| a.half_band() == 1) {
            let border = Border::new(&matrix, TOLERANCE);
            let classes = NearToeplitz::new(&CyclicReduction::new(&border.core));
            assert!(classes.is_some_and(|classes| classes.ends <= 3), "{name}");
        }
    }
}
