//! A study as a table, as JSON and as a figure.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use super::Prediction;
use super::study::{Eighty, Row, Study};
use crate::error::Result;
use crate::io::page::write_drawing;
use crate::io::plot::{Curve, Line, Plot};

const HEAD: &str = "   ranks  along x, y, z points/rank      step     local     pack  commun.  exposed  \
     reduced   MB sent messages  planes eff. %";

impl Display for Study {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        writeln!(to, "{} ({})", self.of, self.rates.source)?;
        let scaling = if self.weak { "weak" } else { "strong" };
        writeln!(
            to,
            "{scaling} scaling; times in ms on the rank that ends last, efficiency relative to {} rank{}",
            self.base,
            if self.base == 1 { "" } else { "s" }
        )?;
        let mut group = None;
        for row in &self.rows {
            if group != Some((row.network, row.method)) {
                group = Some((row.network, row.method));
                writeln!(to, "\n{}, {}", row.network, row.method)?;
                writeln!(to, "{HEAD}")?;
            }
            line(to, row)?;
        }
        for Eighty { network, method, points_of_a_rank } in &self.points_at_80_percent {
            let found = points_of_a_rank.map_or("not reached".into(), |points| {
                format!("{:.2e} points per rank ({:.0}³)", points, points.cbrt())
            });
            writeln!(to, "\n80 % efficiency on {network} by {method}: {found}")?;
        }
        Ok(())
    }
}

fn line(to: &mut Formatter<'_>, row: &Row) -> fmt::Result {
    let [px, py, pz] = row.decomposition;
    let shape = format!("{px} x {py} x {pz}");
    write!(to, "{:>8} {shape:>14} {:>11}", row.ranks, row.points_of_a_rank)?;
    let Some(prediction) = &row.prediction else {
        return writeln!(to, "  {}", row.refusal.as_deref().unwrap_or(""));
    };
    let Prediction { step_seconds, local, pack, communicate, exposed, reduced, .. } = *prediction;
    let ms = [step_seconds, local, pack, communicate, exposed, reduced].map(|s| 1e3 * s);
    let [step, local, pack, communicate, exposed, reduced] = ms;
    let (megabytes, messages) = (prediction.bytes / 1e6, prediction.messages);
    let efficiency = row.efficiency.map_or("-".into(), |e| format!("{:.1}", 100.0 * e));
    writeln!(
        to,
        " {step:>9.3} {local:>9.3} {pack:>8.3} {communicate:>8.3} {exposed:>8.3} {reduced:>8.3} \
         {megabytes:>9.2} {messages:>8.0} {:>7} {efficiency:>6}",
        prediction.planes
    )
}

impl Study {
    /// Draw efficiencies over the number of ranks, for the first network.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn draw(&self, path: &Path) -> Result<()> {
        let network = self.rows.first().map_or("", |row| row.network);
        let mut curves: Vec<Curve> = Vec::new();
        for row in self.rows.iter().filter(|row| row.network == network) {
            if curves.last().is_none_or(|curve| curve.label != row.method) {
                let line = Line::side_by_side(curves.len());
                curves.push(Curve { label: row.method.into(), line, points: Vec::new() });
            }
            let (Some(efficiency), Some(curve)) = (row.efficiency, curves.last_mut()) else {
                continue;
            };
            curve.points.push(((row.ranks as f64).log2(), 100.0 * efficiency));
        }
        let title = format!("{} scaling on a {network}", if self.weak { "Weak" } else { "Strong" });
        let plot = Plot {
            x_label: "log₂ of the number of ranks",
            mark: Some((80.0, "80 %".into())),
            ..Plot::over_time(&title, "efficiency, %", curves)
        };
        write_drawing(path, &plot.svg())
    }
}
