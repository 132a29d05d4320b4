//! A study as a table, as JSON, as CSV, as a picture and as a page.

use std::fmt::{self, Display, Formatter, Write as _};
use std::io::Write as _;
use std::path::Path;

use super::{Row, Study};
use crate::error::Result;
use crate::io::figures::{Figure, plot};
use crate::io::page::{self, escape, text_table};
use crate::io::plot::{Curve, Line, Plot};
use crate::io::report::grid;
use crate::io::{make_directory, write_whole};

impl Study {
    /// Write `converge.csv`, `converge.svg` and `converge.html`.
    pub(super) fn write(&self, directory: &Path) -> Result<()> {
        make_directory(directory)?;
        let write = |name: &str, text: &str| {
            write_whole(&directory.join(name), |writer| writer.write_all(text.as_bytes()))
        };
        write("converge.csv", &self.csv())?;
        let drawn = page::draw(vec![self.figure()], |_| directory.join("converge.svg"))?;
        let (header, rows) = self.cells();
        let mut html = page::head("converge", "Convergence", &self.what());
        html += &format!("<p>Error {}.</p>\n<p>{}.</p>\n", escape(&self.error), escape(&self.step));
        html += &page::table(&header, &rows);
        for note in &self.notes {
            html += &format!("<p>Note: {}.</p>\n", escape(note));
        }
        html += &page::gallery("Picture", &drawn);
        html += &page::foot(env!("CARGO_PKG_VERSION"), "<code>converge.csv</code>");
        write("converge.html", &html)
    }

    /// As JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.unwrap_or_else(|_| unreachable!("numbers and words have a JSON")) + "\n"
    }

    /// `acoustic-wave at t = 1, compact6 (order 6), hale64 (order 4)`.
    fn what(&self) -> String {
        format!(
            "{} at t = {}, {} (order {}), {} (order {})",
            self.case,
            self.time,
            self.scheme,
            self.formal_order,
            self.integrator,
            self.integrator_order
        )
    }

    /// All digits; what is not there is NaN.
    fn csv(&self) -> String {
        let mut text = String::from(
            "points,points_x,points_y,points_z,steps,dt,error_l2,error_max,order_l2,order_max,floor,floor_reached,wall_seconds\n",
        );
        for row in &self.rows {
            let [x, y, z] = row.grid;
            let Row { points, steps, dt, floor, wall_seconds, .. } = row;
            let reached = u8::from(row.floor_reached);
            let [l2, max, order_l2, order_max] =
                [row.error_l2, row.error_max, row.order_l2, row.order_max]
                    .map(|value| value.unwrap_or(f64::NAN));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{points},{x},{y},{z},{steps},{dt:?},{l2:?},{max:?},{order_l2:?},{order_max:?},{floor:?},{reached},{wall_seconds:?}"
            );
        }
        text
    }

    fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let header = [
            "points",
            "steps",
            "mean dt",
            "error_l2",
            "order",
            "error_max",
            "order",
            "floor",
            "wall s",
        ];
        let error = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3e}"));
        let order = |row: &Row, value: Option<f64>| match value {
            Some(value) => format!("{value:.2}"),
            None if row.floor_reached => "floor reached".into(),
            None => "-".into(),
        };
        let rows = self.rows.iter().map(|row| {
            vec![
                grid(row.grid),
                row.steps.to_string(),
                format!("{:.2e}", row.dt),
                error(row.error_l2),
                order(row, row.order_l2),
                error(row.error_max),
                order(row, row.order_max),
                format!("{:.1e}", row.floor),
                format!("{:.2}", row.wall_seconds),
            ]
        });
        (header.map(String::from).to_vec(), rows.collect())
    }

    /// Errors over points on logarithmic axes, with the slope of the formal order.
    #[allow(clippy::cast_precision_loss, reason = "to be drawn")]
    fn figure(&self) -> Figure {
        let curve = |label: &str, line, of: fn(&Row) -> Option<f64>| Curve {
            label: label.into(),
            line,
            points: self
                .rows
                .iter()
                .filter_map(|row| Some((row.points as f64, of(row)?)))
                .collect(),
        };
        let mut curves = vec![
            curve("root mean square", Line::Marked, |row| row.error_l2),
            curve("largest", Line::MarkedDashed, |row| row.error_max),
        ];
        if let Some(&(from, level)) = curves[0].points.first() {
            let order = self.formal_order;
            let slope = |n: f64| (n, 0.5 * level * (from / n).powf(f64::from(order)));
            let points = curves[0].points.iter().map(|&(n, _)| slope(n)).collect();
            curves.push(Curve { label: format!("slope −{order}"), line: Line::Thin, points });
        }
        if self.rows.iter().any(|row| row.floor_reached) {
            curves.push(curve("floor", Line::Dotted, |row| Some(row.floor)));
        }
        Figure {
            name: "converge",
            plot: Plot {
                x_label: "points n along an axis",
                logarithmic_x: true,
                logarithmic: true,
                ..plot(&format!("{}: error over points", self.case), "error", curves)
            },
            caption: format!("Error {}.", escape(&self.error)),
        }
    }
}

impl Display for Study {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        writeln!(to, "{}\nerror {}\n{}", self.what(), self.error, self.step)?;
        let (header, rows) = self.cells();
        to.write_str(&text_table(&header, &rows))?;
        self.notes.iter().try_for_each(|note| writeln!(to, "note: {note}"))
    }
}
