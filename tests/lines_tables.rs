//! The tables of the parallel line solvers, applied on the host and compared with LU.

use kolmo::engine::closed_min_points;
use kolmo::lines::*;
use kolmo::scheme::*;

use crate::common::{all_schemes, max_difference};
use crate::lines::noise;

/// Couplings below this value are neglected.
const TOLERANCE: f64 = 1e-3 * f64::EPSILON;

/// The matrices of all operators on n points, cyclic and with closures, tridiagonal and pentadiagonal.
fn matrices(n: usize) -> Vec<(String, BandedMatrix)> {
    let filters = [0.45, 0.495, -0.3].map(|alpha| compact_filter(10, alpha));
    let schemes = all_schemes()
        .filter(|scheme| scheme.kind != Kind::MidpointInterpolation)
        .copied()
        .chain(filters);
    let mut all = Vec::new();
    for scheme in schemes.chain([CF90, LELE_CUTOFF]).filter(|scheme| scheme.half_band() > 0) {
        if n >= scheme.min_points() {
            let matrix = BandedMatrix::toeplitz(n, scheme.alpha, scheme.beta, true);
            all.push((format!("{} periodic, {n}", scheme.name), matrix));
        }
        if let Some(closure) =
            default_closure(&scheme).filter(|c| n >= closed_min_points(&scheme, c))
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

/// Panics unless `solver` agrees with LU to `limit` times max |x| for all matrices.
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

/// Replaces y, followed by b', with x.
fn close(border: &Border, x: &mut [f64]) {
    if border.width == 0 {
        return;
    }
    let (rows, p) = (border.rows(), border.width);
    let known: Vec<f64> = [&x[..p], &x[rows - p..]].concat();
    let last: Vec<f64> =
        border.unknowns.iter().map(|u| u.iter().zip(&known).map(|(a, b)| a * b).sum()).collect();
    for m in (0..border.head).chain(rows - border.tail..rows) {
        x[m] -= border.correction[m].iter().zip(&last).map(|(z, x)| z * x).sum::<f64>();
    }
    x[rows..].copy_from_slice(&last);
}

/// Replaces the interior of b with D⁻¹ b; p is the half-bandwidth.
fn eliminate(chunk: &Chunk, p: usize, b: &mut [f64]) {
    for j in p..b.len() {
        let before = |step: usize| if j >= p + step { b[j - step] } else { 0.0 };
        let [inverse, l1, l2] = chunk.lower[j];
        b[j] = b[j] * inverse - l1 * before(1) - l2 * before(2);
    }
    for j in (p..b.len()).rev() {
        let after = |step: usize| b.get(j + step).copied().unwrap_or(0.0);
        b[j] -= chunk.upper[j][0] * after(1) + chunk.upper[j][1] * after(2);
    }
}

fn solve_chunks(chunks: &Chunks, cyclic: bool, x: &mut [f64]) {
    let (p, count) = (chunks.half_band, chunks.count());
    let first = |k: usize| k * chunks.length - k.saturating_sub(chunks.long);
    let product = |a: &[[f64; 2]; 2], x: &[f64; 2]| a.map(|row| row[0] * x[0] + row[1] * x[1]);
    // Contribution of each chunk to the separators of the chunks before it and of those behind it.
    let mut contributions = vec![[[0.0; 2]; 2]; count];
    for k in 0..count {
        let chunk = &chunks.classes[chunks.class[k]];
        let b = &mut x[first(k)..][..chunk.points];
        eliminate(chunk, p, b);
        let value = |at: usize| b.get(at).copied().unwrap_or(0.0);
        let (mut own, mut next) = ([0.0; 2], [0.0; 2]);
        for i in 0..p {
            own[i] = b[i] - (0..p).map(|q| chunk.own[i][q] * b[p + q]).sum::<f64>();
            let g = chunk.next[i][..=p].iter().enumerate();
            let g = g.map(|(q, g)| g * (chunks.length + q).checked_sub(p + 1).map_or(0.0, value));
            next[i] = g.sum::<f64>();
        }
        let [before, behind] = &chunks.seen[k];
        let (before, behind) = (product(before, &next), product(behind, &own));
        for i in 0..p {
            contributions[k][0][i] = own[i] - before[i];
            contributions[k][1][i] = behind[i] - next[i];
        }
    }
    let at = |side: usize, k: isize| {
        let k = if cyclic { k.rem_euclid(count.cast_signed()) } else { k };
        usize::try_from(k)
            .ok()
            .and_then(|k| contributions.get(k))
            .map_or([0.0; 2], |contributions| contributions[side])
    };
    let separators = (0..count.cast_signed()).map(|k| {
        let mut x = [0.0; 2];
        let mut add = |m: isize, value: [f64; 2]| {
            let block =
                &chunks.weights[k.unsigned_abs()][(m + chunks.back.cast_signed()).unsigned_abs()];
            x.iter_mut().zip(product(block, &value)).for_each(|(x, v)| *x += v);
        };
        (0..=chunks.ahead.cast_signed()).for_each(|m| add(m, at(0, k + m)));
        (0..=chunks.back.cast_signed()).for_each(|m| add(-m, at(1, k - m - 1)));
        x
    });
    let separators: Vec<[f64; 2]> = separators.collect();
    for k in 0..count {
        let chunk = &chunks.classes[chunks.class[k]];
        let next = separators[(k + 1) % count];
        for (j, b) in x[first(k)..][..chunk.points].iter_mut().enumerate() {
            for q in 0..p {
                *b -= chunk.left[j][q] * separators[k][q] + chunk.right[j][q] * next[q];
            }
            if j < p {
                *b = separators[k][j];
            }
        }
    }
}

fn solve_banded_pcr(pcr: &BandedPcr, x: &mut [f64]) {
    let (p, n) = (pcr.half_band.cast_signed(), x.len());
    for (level, k) in pcr.levels.iter().enumerate() {
        let before = x.to_vec();
        let reached = |i: usize, j: isize| i.checked_add_signed(j << level).filter(|&at| at < n);
        for i in 0..n {
            for (k, j) in k[i].iter().zip((-p..=p).filter(|&j| j != 0)) {
                x[i] -= k * reached(i, j).map_or(0.0, |at| before[at]);
            }
        }
    }
    x.iter_mut().zip(&pcr.inverse).for_each(|(x, inverse)| *x *= inverse);
}

fn solve_cyclic_reduction(reduction: &CyclicReduction, x: &mut [f64]) {
    let row = |level: usize, r: usize| ((r + 1) << level) - 1;
    for (l, level) in reduction.levels.iter().enumerate() {
        for (i, [k1, k2]) in level.forward.iter().enumerate() {
            let r = 2 * i + 1;
            let above = if r + 1 < level.rows { x[row(l, r + 1)] } else { 0.0 };
            x[row(l, r)] -= k1 * x[row(l, r - 1)] + k2 * above;
        }
    }
    x[row(reduction.levels.len(), 0)] *= reduction.last;
    for (l, level) in reduction.levels.iter().enumerate().rev() {
        for (i, [inverse, a, c]) in level.backward.iter().enumerate() {
            let r = 2 * i;
            let below = if r > 0 { x[row(l, r - 1)] } else { 0.0 };
            let above = if r + 1 < level.rows { x[row(l, r + 1)] } else { 0.0 };
            x[row(l, r)] = x[row(l, r)] * inverse - a * below - c * above;
        }
    }
}

#[test]
fn bordering_solves_every_matrix_by_its_open_core() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        solve(&Factors::new(&border.core), &mut x[..border.rows()]);
        close(&border, x);
    });
}

#[test]
fn chunks_of_several_lengths_solve_every_matrix() {
    for length in [4, 7, 8, 16] {
        assert_agrees(1e-13, |matrix, x| {
            solve_chunks(&Chunks::new(matrix, length, f64::EPSILON / 8.0), matrix.is_cyclic(), x)
        });
    }
}

#[test]
fn banded_reduction_solves_every_matrix() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        solve_banded_pcr(&BandedPcr::new(&border.core, TOLERANCE), &mut x[..border.rows()]);
        close(&border, x);
    });
}

#[test]
fn cyclic_reduction_solves_every_tridiagonal_matrix() {
    assert_agrees(1e-13, |matrix, x| {
        let border = Border::new(matrix, TOLERANCE);
        if matrix.half_band() == 1 {
            solve_cyclic_reduction(&CyclicReduction::new(&border.core), &mut x[..border.rows()]);
        } else {
            solve(&Factors::new(&border.core), &mut x[..border.rows()]);
        }
        close(&border, x);
    });
}

#[test]
fn compact_scheme_reductions_have_at_most_eight_special_rows_per_end() {
    for n in SIZES {
        for (name, matrix) in matrices(n).into_iter().filter(|(_, a)| a.half_band() == 1) {
            let border = Border::new(&matrix, TOLERANCE);
            let classes = NearToeplitz::new(&CyclicReduction::new(&border.core));
            assert!(classes.is_some_and(|classes| classes.ends <= 8), "{name}");
        }
    }
}
