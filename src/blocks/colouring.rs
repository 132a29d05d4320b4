//! Multicolour ordering of block rows.

use super::Pattern;
use crate::error::{Error, Result};

/// Rows ordered by colour: rows of one colour are not coupled, so they can be solved at once. Zubair et al. (2017), sections II and III.
#[derive(Clone, Debug)]
pub struct Colouring {
    /// The caller's row at each index.
    rows: Vec<u32>,
    /// The index of each of the caller's rows, followed by the columns of other ranks.
    places: Vec<u32>,
    /// The first index of each colour, and the end.
    colours: Vec<usize>,
    /// The pattern in this order.
    pattern: Pattern,
    /// The new number of each of the caller's off-diagonal blocks.
    blocks: Vec<usize>,
}

impl Colouring {
    /// A colouring of any pattern, with rows first ordered by reverse Cuthill-McKee; the pattern need not be symmetric.
    pub fn new(pattern: &Pattern) -> Self {
        let graph = pattern.symmetric();
        let order = reverse_cuthill_mckee(&graph);
        let colour = colours(&graph, &order);
        let count = colour.iter().max().map_or(0, |most| *most as usize + 1);
        Self::ordered_by(pattern, (order, true), (count, &colour))
    }

    /// A colouring with `count` given colours, one for each column of the pattern. Rows of a colour and columns of a row stay in their
    /// order: if ranks agree on the colours, their sweeps are bitwise those of the whole matrix.
    ///
    /// # Errors
    /// If coupled rows have the same colour, or a colour is out of range.
    pub fn given(pattern: &Pattern, count: usize, colour: &[u32]) -> Result<Self> {
        let advice = "give every row a colour that none of its neighbours has";
        if colour.len() != pattern.width() || colour.iter().any(|it| *it as usize >= count) {
            let (given, width) = (colour.len(), pattern.width());
            let found = format!("{given} colours below {count} are given for {width} columns");
            return Err(Error::refused(found, advice));
        }
        for row in 0..pattern.rows() {
            let mut known = pattern.columns_of(row).iter();
            if let Some(column) = known.find(|column| colour[**column as usize] == colour[row]) {
                let found = format!("row {row} and column {column} have the same colour");
                return Err(Error::refused(found, advice));
            }
        }
        #[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
        let order = (0..pattern.rows() as u32).collect();
        Ok(Self::ordered_by(pattern, (order, false), (count, colour)))
    }

    /// Order the rows by colour, in the given order within a colour.
    #[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
    fn ordered_by(
        pattern: &Pattern,
        (order, rising): (Vec<u32>, bool),
        (count, colour): (usize, &[u32]),
    ) -> Self {
        let mut rows = order;
        rows.sort_by_key(|&row| colour[row as usize]);
        let begin = |it| rows.partition_point(|&row| (colour[row as usize] as usize) < it);
        let colours = (0..=count).map(begin).collect();
        let mut places: Vec<u32> = (0..pattern.width() as u32).collect();
        rows.iter().enumerate().for_each(|(at, &row)| places[row as usize] = at as u32);
        let (pattern, from) = pattern.reordered(&rows, &places, rising);
        let mut blocks = vec![0; from.len()];
        from.into_iter().enumerate().for_each(|(at, block)| blocks[block] = at);
        Self { rows, places, colours, pattern, blocks }
    }

    /// Number of block rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The colours, each as a range of indices.
    pub fn colours(
        &self,
    ) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> + ExactSizeIterator {
        self.colours.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// The index of the caller's `row`.
    pub fn place(&self, row: usize) -> usize {
        self.places[row] as usize
    }

    /// The caller's row at the index `place`.
    pub fn row(&self, place: usize) -> usize {
        self.rows[place] as usize
    }

    /// The number in this order of the caller's off-diagonal `block`.
    pub fn block(&self, block: usize) -> usize {
        self.blocks[block]
    }

    /// The pattern in this order.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Reorder a vector with `nb` numbers per row, from the caller's order to this one.
    pub fn ordered(&self, nb: usize, from: &[f64], to: &mut [f64]) {
        for (to, row) in to.chunks_exact_mut(nb).zip(&self.rows) {
            to.copy_from_slice(&from[*row as usize * nb..][..nb]);
        }
    }

    /// Reorder a vector from this order to the caller's.
    pub fn restored(&self, nb: usize, from: &[f64], to: &mut [f64]) {
        for (from, row) in from.chunks_exact(nb).zip(&self.rows) {
            to[*row as usize * nb..][..nb].copy_from_slice(from);
        }
    }
}

/// Reverse Cuthill-McKee (Cuthill and McKee 1969, reversed by George 1971), with each connected component started from a pseudo-peripheral
/// row (George and Liu 1979).
#[allow(clippy::cast_possible_truncation, reason = "rows are fewer than 2^32")]
fn reverse_cuthill_mckee(graph: &Pattern) -> Vec<u32> {
    let degree = |row: u32| graph.columns_of(row as usize).len();
    let mut by_degree: Vec<u32> = (0..graph.rows() as u32).collect();
    by_degree.sort_by_key(|&row| degree(row));
    let mut levels = Levels { visit: vec![0; graph.rows()], visits: 0 };
    let (mut order, mut done) = (Vec::with_capacity(graph.rows()), vec![false; graph.rows()]);
    for row in by_degree {
        if done[row as usize] {
            continue;
        }
        let mut at = order.len();
        let first = levels.at_edge(graph, row);
        order.push(first);
        done[first as usize] = true;
        while let Some(&row) = order.get(at) {
            let found = order.len();
            let new = graph.columns_of(row as usize).iter();
            order.extend(new.filter(|&&row| !std::mem::replace(&mut done[row as usize], true)));
            order[found..].sort_by_key(|&row| degree(row));
            at += 1;
        }
    }
    order.reverse();
    order
}

/// Level sets of rows by their distance from a first row.
struct Levels {
    /// The last search that visited each row.
    visit: Vec<usize>,
    visits: usize,
}

impl Levels {
    /// The rows of the last level from `row`, and the number of levels.
    fn last(&mut self, graph: &Pattern, row: u32) -> (Vec<u32>, usize) {
        self.visits += 1;
        self.visit[row as usize] = self.visits;
        let (mut level, mut depth) = (vec![row], 1);
        loop {
            let neighbours = level.iter().flat_map(|&row| graph.columns_of(row as usize));
            let new = |row: &u32| {
                std::mem::replace(&mut self.visit[*row as usize], self.visits) != self.visits
            };
            let next: Vec<u32> = neighbours.copied().filter(new).collect();
            if next.is_empty() {
                return (level, depth);
            }
            (level, depth) = (next, depth + 1);
        }
    }

    /// A pseudo-peripheral row: one with the largest number of levels that repeated searches find.
    fn at_edge(&mut self, graph: &Pattern, mut row: u32) -> u32 {
        let (mut last, mut depth) = self.last(graph, row);
        loop {
            let least = last.iter().min_by_key(|&&row| graph.columns_of(row as usize).len());
            let Some(&candidate) = least else { return row };
            let (next, deeper) = self.last(graph, candidate);
            if deeper <= depth {
                return row;
            }
            (row, last, depth) = (candidate, next, deeper);
        }
    }
}

/// The first colour that no neighbour has, in this order (greedy: Welsh and Powell 1967).
fn colours(graph: &Pattern, order: &[u32]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut colour = vec![NONE; graph.rows()];
    // For each colour, the last row that has a neighbour of that colour.
    let mut taken: Vec<u32> = Vec::new();
    for &row in order {
        for &neighbour in graph.columns_of(row as usize) {
            let of = colour[neighbour as usize];
            if of != NONE {
                taken[of as usize] = row;
            }
        }
        let free = taken.iter().position(|&by| by != row);
        let free = free.unwrap_or_else(|| {
            taken.push(NONE);
            taken.len() - 1
        });
        #[allow(clippy::cast_possible_truncation, reason = "colours are fewer than rows")]
        let free = free as u32;
        colour[row as usize] = free;
    }
    colour
}
