//! A study as a table, as JSON, as CSV, as a figure and as a page.

use std::fmt::{self, Display, Formatter};

use super::{Row, Study};
use crate::error::Result;
use crate::io::figures::Figure;
use crate::io::page::{self, Page, Table, escape, write_drawing};
use crate::io::plot::{Curve, Line, Plot};
use crate::io::report::grid;
use crate::io::write_text;

impl Study {
    /// Write `converge.csv`, `converge.svg` and `converge.html` into the directory of the study.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self) -> Result<()> {
        let directory = &self.directory;
        write_text(&directory.join("converge.csv"), &self.csv())?;
        let drawn = page::draw(vec![self.figure()], |_, svg| {
            write_drawing(&directory.join("converge.svg"), svg)
        })?;
        let mut page = Page::new("converge", "Convergence", &self.what());
        page.paragraph(&format!("Error {}.", self.error));
        page.paragraph(&format!("{}.", self.step));
        page.push(&self.table().html());
        for note in &self.notes {
            page.paragraph(&format!("Note: {note}."));
        }
        page.gallery("Picture", &drawn);
        let path = directory.join("converge.html");
        page.write(&path, env!("CARGO_PKG_VERSION"), "<code>converge.csv</code>")
    }

    /// `acoustic-wave at t = 1, compact6 (order 6), hale64 (order 4)`.
    fn what(&self) -> String {
        let Self { case, time, scheme, formal_order, integrator, integrator_order, .. } = self;
        format!(
            "{case} at t = {time}, {scheme} (order {formal_order}), {integrator} (order {integrator_order})"
        )
    }

    /// All digits; absent values are NaN.
    fn csv(&self) -> String {
        let mut text = String::from(
            "points,points_x,points_y,points_z,steps,dt,error_l2,error_max,order_l2,order_max,floor,floor_reached,wall_seconds\n",
        );
        for row in &self.rows {
            let Row { points, grid: [x, y, z], steps, dt, floor, wall_seconds, .. } = row;
            let reached = u8::from(row.floor_reached);
            let [l2, max, order_l2, order_max] =
                [row.error_l2, row.error_max, row.order_l2, row.order_max]
                    .map(|value| value.unwrap_or(f64::NAN));
            text += &format!(
                "{points},{x},{y},{z},{steps},{dt:?},{l2:?},{max:?},{order_l2:?},{order_max:?},{floor:?},{reached},{wall_seconds:?}\n"
            );
        }
        text
    }

    fn table(&self) -> Table {
        let (l2, max) = ("error_l2", "error_max");
        let header = ["points", "steps", "mean dt", l2, "order", max, "order", "floor", "wall s"];
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
        Table { header: header.map(String::from).to_vec(), rows: rows.collect() }
    }

    /// Errors over the number of points on logarithmic axes, with the slope of the formal order.
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
            curve("root mean square", Line::Measured(0), |row| row.error_l2),
            curve("largest", Line::Measured(1), |row| row.error_max),
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
        let title = format!("{}: error over points", self.case);
        let plot = Plot::logarithmic(&title, "points n along an axis", "error", curves);
        Figure { name: "converge".into(), plot, caption: format!("Error {}.", escape(&self.error)) }
    }
}

impl Display for Study {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        writeln!(to, "{}\nerror {}\n{}", self.what(), self.error, self.step)?;
        to.write_str(&self.table().text())?;
        self.notes.iter().try_for_each(|note| writeln!(to, "note: {note}"))
    }
}
