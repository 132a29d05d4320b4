//! Curves of an experiment, the basis of their numbers, and their plot.

use super::Basis;
use super::finding::{Csv, cell};
use crate::io::plot::{Curve, Line, Plot, Point};

/// Points and their name.
struct Series {
    basis: Basis,
    name: String,
    points: Vec<Point>,
}

/// Curves in one plot, which never mixes measured and modelled numbers.
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

    /// Sets whether the x and y axes are logarithmic.
    pub(super) fn logarithmic(self, logarithmic: [bool; 2]) -> Self {
        Self { logarithmic, ..self }
    }

    /// Add points; does nothing if the list is empty.
    pub(super) fn add(&mut self, basis: Basis, name: &str, points: Vec<Point>) {
        let other = |series: &Series| {
            series.basis != basis && ![series.basis, basis].contains(&Basis::Published)
        };
        assert!(!self.series.iter().any(other), "measured and modelled numbers in one plot");
        if !points.is_empty() {
            self.series.push(Series { basis, name: name.into(), points });
        }
    }

    /// Append its points to a CSV.
    pub(super) fn rows(&self, picture: &str, csv: &mut Csv) {
        let picture = picture.trim_start_matches('-');
        for Series { basis, name, points } in &self.series {
            for (x, y) in points {
                csv.row([&picture, &basis.word(), name, &cell(*x), &cell(*y)]);
            }
        }
    }

    /// Published numbers are open circles in the colour of the curve of the same name; measured curves have a dot at every point.
    pub(super) fn svg(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for Series { name, .. } in &self.series {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let curve = |Series { basis, name, points }: &Series| {
            let at = names.iter().position(|known| known == name).unwrap_or(0);
            let line = match basis {
                Basis::Published => Line::Published(at),
                Basis::Measured => Line::Measured(at),
                _ => Line::side_by_side(at),
            };
            Curve { label: format!("{name} ({})", basis.word()), line, points: points.clone() }
        };
        let curves = self.series.iter().map(curve).collect();
        let plot = Plot::over_time(&self.title, &self.y, curves);
        let [logarithmic_x, logarithmic] = self.logarithmic;
        Plot { x_label: self.x, logarithmic_x, logarithmic, ..plot }.svg()
    }
}
