//! Tetrahedral meshes of boxes.

use crate::blocks::Pattern;
use crate::error::Result;
use crate::splitmix::{STEP, mixed};

/// Points of a box connected by the edges of tetrahedra. Every cell and every face is cut through its point with the smallest
/// label, so that neighbouring cells cut their common face in the same way (Dompierre, Labbé, Vallet and Camarero 1999). The
/// labels are a hash, so that the edges are as irregular as those of a mesh of scattered points: on average 14 per interior
/// point.
#[allow(clippy::cast_possible_truncation, reason = "a box of fewer than 2^32 points")]
pub(super) fn tetrahedra(points: [usize; 3]) -> Result<Pattern> {
    let rows: usize = points.iter().product();
    let strides = [1, points[0], points[0] * points[1]];
    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(7 * rows);
    for row in 0..rows {
        let index = [row % points[0], row / strides[1] % points[1], row / strides[2]];
        // The edges, faces and cell that begin at this point, by the axes along which they extend.
        for axes in 1..8_usize {
            let along = |axis: &usize| axes >> axis & 1 == 1;
            let axes: Vec<usize> = (0..3).filter(along).collect();
            if axes.iter().any(|&axis| index[axis] + 1 == points[axis]) {
                continue;
            }
            let corner = |bits: usize| {
                let steps = axes.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
                row + steps.map(|(_, &axis)| strides[axis]).sum::<usize>()
            };
            let corners = 1 << axes.len();
            let label = |bits: &usize| mixed((corner(*bits) as u64).wrapping_mul(STEP));
            let first = (0..corners).min_by_key(label).unwrap_or(0);
            edges.push([corner(first) as u32, corner(corners - 1 - first) as u32]);
        }
    }
    let mut starts = vec![0; rows + 1];
    edges.iter().flatten().for_each(|&row| starts[row as usize + 1] += 1);
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let (mut next, mut columns) = (starts.clone(), vec![0; 2 * edges.len()]);
    for [a, b] in edges {
        for (row, column) in [(a, b), (b, a)] {
            columns[next[row as usize]] = column;
            next[row as usize] += 1;
        }
    }
    Pattern::new(starts, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mesh_has_the_exact_number_of_edges_and_a_symmetric_pattern() {
        let [x, y, z] = [20, 21, 19];
        let pattern = tetrahedra([x, y, z]).unwrap();
        // Edges along the axes, one diagonal per face, and one per cell: an interior point has 14 neighbours on average.
        let edges = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
        let faces = (x - 1) * (y - 1) * z + (x - 1) * y * (z - 1) + x * (y - 1) * (z - 1);
        let cells = (x - 1) * (y - 1) * (z - 1);
        assert_eq!(pattern.blocks(), 2 * (edges + faces + cells));
        let degrees: Vec<usize> = (0..pattern.rows()).map(|row| pattern.row(row).len()).collect();
        assert!(degrees.iter().any(|&n| n < 8) && degrees.iter().any(|&n| n > 20));
        for row in 0..pattern.rows() {
            for &column in pattern.columns_of(row) {
                assert!(pattern.columns_of(column as usize).contains(&u32::try_from(row).unwrap()));
            }
        }
    }
}
