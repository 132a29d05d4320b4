//! The block-system solver against dense solves and plain loops.

#![allow(clippy::cast_possible_truncation, reason = "rounds to 32 bits on purpose")]

use std::sync::Arc;

use kolmo::Real;
use kolmo::backend::cpu::Cpu;
use kolmo::backend::{ComputeConfig, Simd};
use kolmo::blocks::{BlockMatrix, Colouring, Direction, Factored, Pattern, Sweeps};
use nalgebra::{DMatrix, DVector};

/// Numbers in [-1/2, 1/2).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}

/// The pattern with these columns in its rows.
pub(crate) fn pattern(rows: &[Vec<u32>]) -> Pattern {
    let mut starts = vec![0];
    starts.extend(rows.iter().scan(0, |end, row| {
        *end += row.len();
        Some(*end)
    }));
    Pattern::new(starts, rows.concat()).unwrap()
}

/// Graphs by name; each contains a structure that could fail on its own.
pub(crate) fn graphs() -> Vec<(&'static str, Pattern)> {
    let mut noise = Noise(7);
    let mut random = |n: u32, share: f64| {
        let row = |i: u32, noise: &mut Noise| {
            (0..n).rev().filter(|&j| j != i && noise.next() + 0.5 < share).collect()
        };
        (0..n).map(|i| row(i, &mut noise)).collect::<Vec<Vec<u32>>>()
    };
    let ring = |n: u32| (0..n).map(|i| vec![(i + 1) % n, (i + n - 1) % n]).collect::<Vec<_>>();
    let star: Vec<Vec<u32>> =
        (0..9).map(|i| if i == 4 { vec![0, 1, 2, 3, 5, 6, 7, 8] } else { vec![4] }).collect();
    // Two rings, and rows without neighbours.
    let parts: Vec<Vec<u32>> = vec![
        vec![6, 9],
        vec![],
        vec![4, 7],
        vec![],
        vec![2, 7],
        vec![],
        vec![0, 9],
        vec![2, 4],
        vec![],
        vec![0, 6],
    ];
    vec![
        ("no neighbours: one colour", pattern(&vec![vec![]; 7])),
        ("one row", pattern(&[vec![]])),
        ("an odd ring", pattern(&ring(11))),
        ("an even ring", pattern(&ring(12))),
        ("a star", pattern(&star)),
        ("a complete graph", pattern(&random(6, 2.0))),
        ("not symmetric", pattern(&random(13, 0.3))),
        ("disconnected parts", pattern(&parts)),
    ]
}

/// A matrix with this pattern and random blocks; diagonal blocks have large entries. `put` also receives the row, column and value of
/// each entry. If `rounded`, the values are identical in both formats.
pub(crate) fn filled<S: Real>(
    pattern: &Pattern,
    nb: usize,
    rounded: bool,
    put: impl FnMut(usize, usize, f64),
) -> BlockMatrix<S> {
    filled_as(pattern, Colouring::new(pattern), nb, rounded, put)
}

/// As [`filled`], with this colouring.
pub(crate) fn filled_as<S: Real>(
    pattern: &Pattern,
    colouring: Colouring,
    nb: usize,
    rounded: bool,
    mut put: impl FnMut(usize, usize, f64),
) -> BlockMatrix<S> {
    let mut matrix = BlockMatrix::zeros(Arc::new(colouring), nb).unwrap();
    let mut noise = Noise(nb as u64);
    for row in 0..pattern.rows() {
        for (block, &column) in pattern.row(row).zip(pattern.columns_of(row)) {
            for (at, to) in matrix.block_mut(block).iter_mut().enumerate() {
                let value = if rounded { f64::from(noise.next() as f32) } else { noise.next() };
                *to = S::of(value);
                put(row * nb + at % nb, column as usize * nb + at / nb, value);
            }
        }
        let (most, diagonal) = (pattern.row(row).len(), matrix.diagonal_mut(row));
        for (at, to) in diagonal.iter_mut().enumerate() {
            // The large entries are beside the diagonal: without row exchanges the first pivot is nearly 0.
            let large = at % nb == (at / nb + 1) % nb;
            *to = 1e-3 * noise.next() + if large { 0.8 * (nb * (most + 1)) as f64 } else { 0.0 };
            put(row * nb + at % nb, row * nb + at / nb, *to);
        }
    }
    matrix
}

/// A block matrix and its dense form.
struct System<S> {
    matrix: BlockMatrix<S>,
    dense: DMatrix<f64>,
}

fn system<S: Real>(pattern: &Pattern, nb: usize) -> System<S> {
    let mut dense = DMatrix::zeros(pattern.rows() * nb, pattern.rows() * nb);
    let matrix = filled(pattern, nb, false, |i, j, value| dense[(i, j)] = value);
    System { matrix, dense }
}

/// x after `$sweeps` from 0, in the caller's order.
macro_rules! solution {
    ($matrix:expr, $b:expr, $sweeps:expr, $cpu:expr) => {{
        let (matrix, cpu): (&Factored<_>, &Cpu<f64>) = (&$matrix, $cpu);
        let (nb, colouring) = (matrix.nb, matrix.colouring.clone());
        let (mut b, mut x) = (vec![0.0; $b.len()], vec![0.0; $b.len()]);
        colouring.ordered(nb, $b, &mut b);
        cpu.within(|| matrix.sweep(cpu.arch(), &b, &mut x, $sweeps));
        let mut restored = x.clone();
        colouring.restored(nb, &x, &mut restored);
        restored
    }};
}

pub(crate) fn right_hand_side(len: usize) -> Vec<f64> {
    let mut noise = Noise(99);
    (0..len).map(|_| noise.next()).collect()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let deviations = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    deviations.fold(0.0, |largest: f64, x| if x.is_nan() { f64::INFINITY } else { largest.max(x) })
        / size
}

/// Catches a wrong block, column, pivot, triangle or tile for any block size and any graph.
#[test]
fn converged_sweeps_match_dense_solves_for_all_block_sizes_and_graphs() {
    let cpu = &Cpu::<f64>::new(Some(2)).unwrap();
    let converged = Sweeps { count: 120, ..Sweeps::default() };
    let sizes = (1..=16).chain([31, 32, 33, 64, 65, 100]);
    for nb in sizes {
        for (name, pattern) in graphs() {
            let wide = system::<f64>(&pattern, nb);
            let b = right_hand_side(wide.dense.nrows());
            let exact = wide.dense.lu().solve(&DVector::from_column_slice(&b)).unwrap();
            let found = solution!(wide.matrix.factored().unwrap(), &b, converged, cpu);
            assert!(distance(&found, exact.as_slice()) < 1e-12, "{nb} rows, {name}, f64");
            let found = solution!(
                system::<f32>(&pattern, nb).matrix.factored().unwrap(),
                &b,
                converged,
                cpu
            );
            assert!(distance(&found, exact.as_slice()) < 1e-6, "{nb} rows, {name}, f32");
        }
    }
}

/// Catches an instruction set whose sums include values beyond a column, and sums that depend on the thread.
#[test]
fn all_instruction_sets_and_thread_counts_give_the_same_solution() {
    let three = Sweeps { count: 3, relaxation: 0.9, direction: Direction::Symmetric };
    // Many rows per colour, so that the threads get several parts.
    let ring: Vec<Vec<u32>> =
        (0..1201_u32).map(|i| vec![(i + 1) % 1201, (i + 1200) % 1201]).collect();
    let pattern = pattern(&ring);
    for nb in [1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 40, 70] {
        let matrix = filled::<f32>(&pattern, nb, true, |_, _, _| ()).factored().unwrap();
        let wide = filled::<f64>(&pattern, nb, true, |_, _, _| ()).factored().unwrap();
        let b = right_hand_side(pattern.rows() * nb);
        let first = solution!(matrix, &b, three, &Cpu::<f64>::new(Some(1)).unwrap());
        for threads in [2, 3] {
            let cpu = &Cpu::<f64>::new(Some(threads)).unwrap();
            assert_eq!(solution!(matrix, &b, three, cpu), first, "{nb} rows, {threads} threads");
        }
        for simd in [Simd::Baseline, Simd::Avx2, Simd::Avx512] {
            let compute =
                ComputeConfig { simd: Some(simd), threads: Some(2), ..Default::default() };
            // A processor supports some of them, and always the baseline.
            let Ok(cpu) = Cpu::<f64>::configured(&compute, None) else {
                assert_ne!(simd, Simd::Baseline);
                continue;
            };
            for found in [solution!(matrix, &b, three, &cpu), solution!(wide, &b, three, &cpu)] {
                assert!(distance(&found, &first) < 1e-14, "{nb} rows, {}", cpu.simd());
            }
        }
    }
}

/// Catches a wrong order of colours, old values in place of new ones, and relaxation of a wrong quantity.
#[test]
fn sweeps_visit_the_colours_in_the_requested_order() {
    let (nb, cpu) = (3, &Cpu::<f64>::new(Some(2)).unwrap());
    let (name, pattern) = graphs().swap_remove(6);
    let System { matrix, dense } = system::<f64>(&pattern, nb);
    let colouring = matrix.colouring.clone();
    let matrix = matrix.factored().unwrap();
    let b = right_hand_side(pattern.rows() * nb);
    let colours: Vec<_> = colouring.colours().collect();
    assert!(colours.len() > 2, "{name}");
    for (direction, relaxation, count) in [
        (Direction::Forward, 1.0, 1),
        (Direction::Forward, 0.7, 2),
        (Direction::Symmetric, 0.8, 2),
        (Direction::Symmetric, 1.0, 3),
    ] {
        let mut order: Vec<_> = colours.iter().collect();
        if direction == Direction::Symmetric {
            order.extend(colours.iter().rev().skip(1));
        }
        let mut expected = vec![0.0; b.len()];
        for _ in 0..count {
            for row in
                order.iter().flat_map(|colour| (*colour).clone()).map(|place| colouring.row(place))
            {
                let own = row * nb..(row + 1) * nb;
                let left: Vec<f64> = own
                    .clone()
                    .map(|i| {
                        let others = (0..b.len()).filter(|j| !own.contains(j));
                        b[i] - others.map(|j| dense[(i, j)] * expected[j]).sum::<f64>()
                    })
                    .collect();
                let block = dense.view((row * nb, row * nb), (nb, nb)).into_owned();
                let solved = block.lu().solve(&DVector::from_vec(left)).unwrap();
                for (i, y) in own.zip(solved.iter()) {
                    expected[i] += relaxation * (y - expected[i]);
                }
            }
        }
        let found = solution!(matrix, &b, Sweeps { count, direction, relaxation }, cpu);
        assert!(distance(&found, &expected) < 1e-14, "{direction:?} {relaxation}");
    }
}

/// Catches given colourings with coupled rows of the same colour, or with missing colours.
#[test]
fn invalid_given_colourings_are_rejected() {
    // Two local rows and one of another rank.
    let pattern = || Pattern::with_columns(3, vec![0, 1, 2], vec![2, 0]).unwrap();
    assert!(Colouring::given(&pattern(), 2, &[0, 1, 1]).is_ok());
    for (count, colours) in [(2, &[0, 0, 1][..]), (2, &[0, 1, 0]), (2, &[0, 1]), (1, &[0, 1, 1])] {
        let message = Colouring::given(&pattern(), count, colours).unwrap_err().to_string();
        assert!(message.contains("colour"), "{message}");
    }
}

/// Catches coupled rows of the same colour, also where only one of them couples to the other, and a lost row or block.
#[test]
fn rows_of_one_colour_are_not_coupled_and_every_row_has_a_colour() {
    for (name, pattern) in graphs() {
        let colouring = Colouring::new(&pattern);
        let colour =
            |row| colouring.colours().position(|c| c.contains(&colouring.place(row))).unwrap();
        let mut blocks: Vec<usize> =
            (0..pattern.blocks()).map(|block| colouring.block(block)).collect();
        for row in 0..pattern.rows() {
            assert_eq!(colouring.row(colouring.place(row)), row);
            for (block, &column) in pattern.row(row).zip(pattern.columns_of(row)) {
                assert_ne!(colour(row), colour(column as usize), "{name}");
                let place = colouring.pattern().row(colouring.place(row));
                assert!(place.contains(&colouring.block(block)));
                let at = colouring.block(block) - place.start;
                let ordered = colouring.pattern().columns_of(colouring.place(row))[at];
                assert_eq!(colouring.row(ordered as usize), column as usize);
            }
        }
        blocks.sort_unstable();
        assert!(blocks.into_iter().eq(0..pattern.blocks()));
        let count = colouring.colours().len();
        match name {
            "no neighbours: one colour" | "one row" => assert_eq!(count, 1),
            "an even ring" | "a star" => assert_eq!(count, 2, "{name}"),
            "an odd ring" | "disconnected parts" => assert_eq!(count, 3, "{name}"),
            "a complete graph" => assert_eq!(count, 6),
            _ => (),
        }
    }
}

/// Catches a division by zero that would fill the flow with NaN.
#[test]
fn singular_diagonal_blocks_are_reported_with_their_row() {
    let (_, pattern) = graphs().swap_remove(6);
    for (nb, wrong) in [(1, 0.0), (5, 0.0), (5, f64::NAN), (5, f64::INFINITY), (40, 0.0)] {
        let mut matrix = filled::<f32>(&pattern, nb, true, |_, _, _| ());
        matrix.diagonal_mut(9)[(nb - 1) * nb..].fill(wrong);
        let error = matrix.factored().unwrap_err().to_string();
        assert!(error.contains("diagonal block of row 9 is singular"), "{nb} {wrong}: {error}");
    }
    // Columns that are linear combinations of others except for round-off; then columns that are only small.
    let mut matrix = filled::<f32>(&pattern, 3, true, |_, _, _| ());
    matrix.diagonal_mut(4).copy_from_slice(&[0.1, 0.4, 0.7, 0.2, 0.5, 0.8, 0.3, 0.6, 0.9]);
    let error = matrix.factored().unwrap_err().to_string();
    assert!(error.contains("row 4 is singular: column 2"), "{error}");
    let mut matrix = filled::<f32>(&pattern, 3, true, |_, _, _| ());
    matrix.diagonal_mut(4).copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1e-200, 0.0, 0.0, 0.0, 1e200]);
    assert!(matrix.factored().is_ok());
}

/// Catches a panic or a wrong result in place of an error message.
#[test]
fn invalid_patterns_are_rejected_with_their_row() {
    for (starts, columns, message) in [
        (vec![], vec![], "begin and end at"),
        (vec![1, 1], vec![0], "begin and end at"),
        (vec![0, 1], vec![], "begin and end at"),
        (vec![0, 2, 1, 2], vec![1, 2], "row 1 has the blocks 2..1 of 2"),
        (vec![0, 9, 2], vec![1, 0], "row 0 has the blocks 0..9 of 2"),
        (vec![0, 1, 2], vec![1, 2], "row 1 has a block in column 2 of 2"),
        (vec![0, 1, 2], vec![1, 1], "row 1 lists its diagonal block"),
        (vec![0, 2, 3], vec![1, 1, 0], "row 0 has two blocks in column 1"),
    ] {
        let error = Pattern::new(starts.clone(), columns).unwrap_err().to_string();
        assert!(error.contains(message), "{starts:?}: {error}");
    }
    let colouring = Arc::new(Colouring::new(&pattern(&[vec![]])));
    for nb in [0, 65_537] {
        let error = BlockMatrix::<f32>::zeros(colouring.clone(), nb).unwrap_err().to_string();
        assert!(error.contains(&format!("blocks of {nb} x {nb}")), "{error}");
    }
    let nothing = pattern(&[]);
    let matrix = BlockMatrix::<f64>::zeros(Arc::new(Colouring::new(&nothing)), 5).unwrap();
    matrix.factored().unwrap().sweep(pulp::Arch::new(), &[], &mut [], Sweeps::default());
}
