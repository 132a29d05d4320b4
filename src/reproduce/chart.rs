//! Curves of an experiment, what they are based on, and the plot of them.

use super::Basis;
use super::finding::{Csv, cell};
use crate::io::plot::{Curve, Line, Plot, Point};

/// Where numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// From a paper.
    Published,
    /// From here.
    Here(Basis),
}

impl From {
    fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Here(basis) => basis.word(),
        }
    }
}

/// Points with a name.
struct Series {
    from: From,
    name: String,
    points: Vec<Point>,
}

/// Curves in one plot. What is measured and what is modelled never share one.
pub(super) struct Chart {
    title: String,
    x: &'static str,
    y: String,
    logarithmic: [bool; 2],
    series: Vec<Series>,
}

impl Chart {
    pub(super) fn new(title: &str, x: &'static str, y: &str) -> Self {
        let logarithmic = [false; 2];
        Self { title: title.into(), x, y: y.into(), logarithmic, series: Vec::new() }
    }

    /// With log₁₀ x, log₁₀ y.
    pub(super) fn logarithmic(self, logarithmic: [bool; 2]) -> Self {
        Self { logarithmic, ..self }
    }

    /// Add points; none where there are none.
    pub(super) fn add(&mut self, from: From, name: &str, points: Vec<Point>) {
        let other = |series: &Series| match (series.from, from) {
            (From::Here(a), From::Here(b)) => a != b,
            _ => false,
        };
        assert!(!self.series.iter().any(other), "measured and modelled numbers in one plot");
        if !points.is_empty() {
            self.series.push(Series { from, name: name.into(), points });
        }
    }

    /// Its rows in a CSV.
    pub(super) fn rows(&self, picture: &str, csv: &mut Csv) {
        for Series { from, name, points } in &self.series {
            for (x, y) in points {
                let [picture, from] =
                    [picture.trim_start_matches('-'), from.word()].map(String::from);
                csv.row([picture, from, name.clone(), cell(*x), cell(*y)]);
            }
        }
    }

    /// Published numbers are open circles in the colour of the curve of the same name; what is measured has a dot at every point.
    pub(super) fn svg(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for Series { name, .. } in &self.series {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let curve = |Series { from, name, points }: &Series| {
            let at = names.iter().position(|known| known == name).unwrap_or(0);
            let line = match from {
                From::Published => Line::Published(at),
                From::Here(Basis::Measured) => Line::Measured(at),
                From::Here(_) => Line::side_by_side(at),
            };
            Curve { label: format!("{name} ({})", from.word()), line, points: points.clone() }
        };
        let curves = self.series.iter().map(curve).collect();
        let plot = Plot::over_time(&self.title, &self.y, curves);
        let [logarithmic_x, logarithmic] = self.logarithmic;
        Plot { x_label: self.x, logarithmic_x, logarithmic, ..plot }.svg()
    }
}
