//! The points of a curvilinear grid in the plane of its first two axes: their source, and checks that they form a grid.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use super::Mapping;

/// Points coincide if their distance is below this fraction of the adjacent spacing: files have few digits.
const COINCIDENCE_TOLERANCE: f64 = 1e-3;
/// Lines are closed if the gap between their ends is at most this many times the adjacent spacing.
const MAX_GAP: f64 = 5.0;
/// A period below this fraction of the extent is round-off.
const ROUND_OFF: f64 = 1e-12;

/// Source of the points of a curvilinear grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Curvilinear {
    /// A map of the box.
    Map(Mapping),
    /// A file.
    File(NodeFile),
}

/// The points of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeFile {
    /// Absolute path.
    pub file: PathBuf,
    /// [`Nodes::checksum`].
    pub checksum: String,
    /// The points, closed: see [`Nodes::closed`].
    #[serde(skip)]
    pub nodes: Arc<Nodes>,
    /// Number of planes along z, and the distance between the first two if there are several.
    #[serde(skip)]
    pub planes: (usize, Option<f64>),
}

/// The points of a plane, first axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// Points along the two axes.
    pub points: [usize; 2],
    /// x and y.
    pub coordinates: [Vec<f64>; 2],
    /// Displacement of (x, y) over one period along each of the two axes, if they are periodic: (0, 0) for closed lines.
    pub periods: [[f64; 2]; 2],
}

impl Curvilinear {
    /// The points of a grid of `points` in the box of this origin and length; lines are periodic along the axes that `closes` marks. A file
    /// has its own.
    pub fn nodes(
        &self,
        points: [usize; 2],
        closes: [bool; 2],
        (origin, length): ([f64; 2], [f64; 2]),
    ) -> Nodes {
        let mapping = match self {
            Self::File(file) => return (*file.nodes).clone(),
            Self::Map(mapping) => mapping,
        };
        let [nx, ny] = points;
        let intervals: [f64; 2] =
            std::array::from_fn(|a| (points[a] - usize::from(!closes[a])) as f64);
        let place = mapping.place(origin, length, intervals[1]);
        let part = |at: usize| ((at % nx) as f64 / intervals[0], (at / nx) as f64 / intervals[1]);
        let places: Vec<[f64; 2]> = (0..nx * ny).map(|at| place(part(at).0, part(at).1)).collect();
        let coordinates = [0, 1].map(|k| places.iter().map(|place| place[k]).collect());
        let mut nodes = Nodes { points, coordinates, periods: [[0.0; 2]; 2] };
        for (a, end) in [place(1.0, 0.0), place(0.0, 1.0)].into_iter().enumerate() {
            if closes[a] {
                nodes.periods[a] = nodes.without_round_off(minus(end, places[0]));
            }
        }
        nodes
    }

    /// Whether periodic lines along the first axis are closed curves, without a displacement over one period.
    pub fn is_closed_curve(&self, place: ([f64; 2], [f64; 2])) -> bool {
        let [period, _] = match self {
            Self::File(file) => file.nodes.periods,
            // Enough points for any map.
            Self::Map(_) => self.nodes([2, 33], [true, false], place).periods,
        };
        period == [0.0; 2]
    }
}

pub(super) fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn size([x, y]: [f64; 2]) -> f64 {
    x.hypot(y)
}

impl Nodes {
    /// (x, y) at the point (i, j).
    fn place(&self, [i, j]: [usize; 2]) -> [f64; 2] {
        let at = i + self.points[0] * j;
        [self.coordinates[0][at], self.coordinates[1][at]]
    }

    /// (i, j) of point `along` on line `across` along axis `a`.
    fn index(a: usize, along: usize, across: usize) -> [usize; 2] {
        if a == 0 { [along, across] } else { [across, along] }
    }

    /// A period with round-off components set to zero.
    fn without_round_off(&self, period: [f64; 2]) -> [f64; 2] {
        let extent = self.coordinates.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
        period.map(|component| if component.abs() < ROUND_OFF * extent { 0.0 } else { component })
    }

    /// Checksum of the points, independent of the file: 128-bit XXH3.
    pub fn checksum(&self) -> String {
        let mut hash = Xxh3::new();
        self.points.iter().for_each(|n| hash.update(&(*n as u64).to_le_bytes()));
        let values = self.coordinates.iter().flatten().chain(self.periods.iter().flatten());
        values.for_each(|value| hash.update(&value.to_le_bytes()));
        format!("{:032x}", hash.digest128())
    }

    /// The points of a file as points of a grid with periodic lines along the axes that `closes` marks. A last line that repeats the first
    /// is dropped: it coincides with the first, or lies one period beyond it and defines the period.
    ///
    /// # Errors
    /// Lines that do not close, or coinciding neighbours: a sentence, and advice on a second line.
    pub fn closed(mut self, closes: [bool; 2]) -> Result<Self, String> {
        for a in (0..2).filter(|&a| closes[a]) {
            match self.repeated(a) {
                Some(period) => {
                    self.periods[a] = self.without_round_off(period);
                    self.drop_last(a);
                }
                None => self.check_gap(a)?,
            }
        }
        self.check_distances(closes).map(|()| self)
    }

    /// The period along axis `a`, if the last line repeats the first.
    fn repeated(&self, a: usize) -> Option<[f64; 2]> {
        let displacement = |line| {
            let at = |i| self.place(Self::index(a, i, line));
            (minus(at(self.points[a] - 1), at(0)), size(minus(at(1), at(0))))
        };
        let all = |period: &[f64; 2]| {
            let near = |(displacement, h): ([f64; 2], f64)| {
                size(minus(displacement, *period)) <= COINCIDENCE_TOLERANCE * h
            };
            (0..self.points[1 - a]).map(displacement).all(near)
        };
        [[0.0; 2], displacement(0).0].into_iter().find(all)
    }

    fn drop_last(&mut self, a: usize) {
        let [before, _] = self.points;
        self.points[a] -= 1;
        let [nx, ny] = self.points;
        for values in &mut self.coordinates {
            let lines = values.chunks_exact(before).take(ny);
            *values = lines.flat_map(|line| &line[..nx]).copied().collect();
        }
    }

    /// Check that the last point of each line along axis `a` is a neighbour of its first. Of the lines that fail, the one whose end-to-end
    /// vector differs most from that of the first line is reported.
    fn check_gap(&self, a: usize) -> Result<(), String> {
        let n = self.points[a];
        let at = |i, line| self.place(Self::index(a, i, line));
        let end_to_end = |line| minus(at(n - 1, line), at(0, line));
        let gap = |line| {
            let [low, high] = [0, n - 2].map(|i| size(minus(at(i + 1, line), at(i, line))));
            (line, size(end_to_end(line)), low.max(high))
        };
        let open = (0..self.points[1 - a]).map(gap).filter(|(_, gap, h)| *gap > MAX_GAP * h);
        let deviation =
            |(line, _, h): &(usize, f64, f64)| size(minus(end_to_end(*line), end_to_end(0))) / h;
        let worst = open.max_by(|a, b| deviation(a).total_cmp(&deviation(b)));
        let Some((line, gap, spacing)) = worst else { return Ok(()) };
        let [first, last] = [0, n - 1].map(|i| shown(Self::index(a, i, line)));
        let name = ["x", "y"][a];
        Err(format!(
            "its lines along {name}, a periodic axis, do not close: the points {first} and {last} are {gap:.3e} apart, their neighbours \
             {spacing:.3e}\nrepeat the first line at the end, shifted by one period, or give boundary.{name} two ends"
        ))
    }

    /// Check that no neighbours coincide.
    fn check_distances(&self, closes: [bool; 2]) -> Result<(), String> {
        for a in 0..2 {
            let n = self.points[a];
            for line in 0..self.points[1 - a] {
                for i in 0..n - usize::from(!closes[a]) {
                    let [own, next] = [i, (i + 1) % n].map(|i| Self::index(a, i, line));
                    let mut way = minus(self.place(next), self.place(own));
                    if i + 1 == n {
                        way = [way[0] + self.periods[a][0], way[1] + self.periods[a][1]];
                    }
                    if way == [0.0; 2] {
                        let ([x, y], own, next) = (self.place(own), shown(own), shown(next));
                        return Err(format!(
                            "its points {own} and {next} coincide at ({x:.6}, {y:.6})\ngive all points different coordinates"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// (i, j) for a message.
fn shown([i, j]: [usize; 2]) -> String {
    format!("({i}, {j})")
}
