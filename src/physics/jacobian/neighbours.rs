//! The neighbours of the points of a block, within the block and on other ranks.

use crate::backend::Backend;
use crate::blocks::{Halo, Shift};
use crate::grid::{Block, Grid};

/// The points of a block, followed by the adjacent points of other ranks, plane by plane.
pub(super) struct Neighbours<'a> {
    grid: &'a Grid,
    pub(super) block: Block,
    /// The rank beyond each end of each axis and the index of its first point; `None` if lines are not split there.
    beyond: [[Option<(usize, usize)>; 2]; 3],
    /// Number of points of the block and adjacent to it.
    pub(super) count: usize,
}

impl<'a> Neighbours<'a> {
    pub(super) fn new(backend: &dyn Backend, grid: &'a Grid) -> Self {
        let (block, decomposition) = (backend.block(grid.points), backend.decomposition());
        let position = decomposition.position(backend.comm().rank());
        let mut count = block.len();
        let mut beyond = [[None; 2]; 3];
        for (a, ends) in beyond.iter_mut().enumerate() {
            let ranks = decomposition.ranks[a];
            for (end, beyond) in ends.iter_mut().enumerate() {
                let outermost = position[a] == [0, ranks - 1][end];
                if ranks == 1 || (outermost && !grid.is_closed_along(a)) {
                    continue;
                }
                let mut other = position;
                other[a] = (position[a] + [ranks - 1, 1][end]) % ranks;
                *beyond = Some((decomposition.rank(other), count));
                count += block.len() / block.points[a];
            }
        }
        Self { grid, block, beyond, count }
    }

    /// The point next to point `at` of the block on one side of axis `a`; `None` beyond the end of a line.
    pub(super) fn of(&self, at: usize, a: usize, end: usize) -> Option<usize> {
        let (n, stride) = self.lines(a);
        let i = at / stride % n;
        if i != [0, n - 1][end] {
            return Some(if end == 0 { at - stride } else { at + stride });
        }
        if let Some((_, first)) = self.beyond[a][end] {
            return Some(first + at / (stride * n) * stride + at % stride);
        }
        let closes = self.grid.is_closed_along(a) && n == self.grid.points[a] && n > 2;
        closes.then(|| if end == 0 { at + (n - 1) * stride } else { at - (n - 1) * stride })
    }

    /// The number of colours and the colour of each point, independent of the number of ranks, such that neighbours differ: two colours,
    /// or three if a periodic axis has an odd number of points. Along each axis colours alternate from 0, with 2 at the end of an odd
    /// periodic line; the colours of the axes are added.
    pub(super) fn colours(&self) -> (usize, Vec<u32>) {
        let points = self.grid.points;
        let is_odd_periodic =
            |a: usize| self.grid.is_closed_along(a) && points[a] > 2 && points[a] % 2 == 1;
        let count = if (0..3).any(is_odd_periodic) { 3 } else { 2 };
        let along =
            |a: usize, i: usize| if is_odd_periodic(a) && i + 1 == points[a] { 2 } else { i % 2 };
        let colour = |index: [usize; 3]| {
            let sum: usize = (0..3).map(|a| along(a, index[a])).sum();
            #[allow(clippy::cast_possible_truncation, reason = "below 3")]
            let colour = (sum % count) as u32;
            colour
        };
        let mut colours: Vec<u32> =
            (0..self.block.len()).map(|at| colour(self.block.index(at))).collect();
        // Adjacent planes, in the order of `new`.
        for (a, ends) in self.beyond.iter().enumerate() {
            for end in (0..2).filter(|&end| ends[end].is_some()) {
                let last = points[a] - 1;
                colours.extend(self.plane(a, end).map(|at| {
                    let mut index = self.block.index(at);
                    index[a] = match end {
                        0 => index[a].checked_sub(1).unwrap_or(last),
                        _ if index[a] == last => 0,
                        _ => index[a] + 1,
                    };
                    colour(index)
                }));
            }
        }
        (count, colours)
    }

    /// The exchange between ranks after the points of each colour are solved.
    pub(super) fn halo(&self, (count, colours): (usize, &[u32])) -> Halo {
        let mut halo = vec![Vec::new(); count];
        for (a, ends) in self.beyond.iter().enumerate() {
            for end in 0..2 {
                // Send towards this end, receive from beyond the other.
                let (to, from) = (ends[end], ends[1 - end]);
                #[allow(clippy::cast_possible_truncation, reason = "checked by the pattern")]
                let rows = self.plane(a, end).map(|at| at as u32).filter(|_| to.is_some());
                let size = self.block.len() / self.block.points[a];
                #[allow(clippy::cast_possible_truncation, reason = "checked by the pattern")]
                let columns =
                    from.into_iter().flat_map(|(_, first)| first as u32..(first + size) as u32);
                let (rows, columns): (Vec<u32>, Vec<u32>) = (rows.collect(), columns.collect());
                for (colour, shifts) in halo.iter_mut().enumerate() {
                    let of = |points: &[u32]| {
                        let own = |at: &u32| colours[*at as usize] as usize == colour;
                        points.iter().copied().filter(own).collect::<Vec<u32>>()
                    };
                    let (to, from) = (to.map(|it| it.0), from.map(|it| it.0));
                    shifts.push(Shift { to, rows: of(&rows), from, columns: of(&columns) });
                }
            }
        }
        halo.iter_mut().for_each(|shifts| shifts.retain(|it| it.to.is_some() || it.from.is_some()));
        Halo(halo)
    }

    /// The points of the first or last plane of the block along axis `a`.
    fn plane(&self, a: usize, end: usize) -> impl Iterator<Item = usize> + use<> {
        let (n, stride) = self.lines(a);
        let i = [0, n - 1][end];
        let count = self.block.len() / n;
        (0..count).map(move |q| (q / stride * n + i) * stride + q % stride)
    }

    /// Number of points of the block along axis `a`, and their distance in a field.
    fn lines(&self, a: usize) -> (usize, usize) {
        (self.block.points[a], self.block.points[..a].iter().product())
    }
}
