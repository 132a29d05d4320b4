//! The flow around a body: `surface.csv` along its wall with the separation points, and vortex shedding in the series.

use std::path::Path;

use crate::Result;
use crate::io::figures::{Figure, number};
use crate::io::optional;
use crate::io::plot::{Curve, Line, Plot};
use crate::io::round_off::{RoundOff, largest};
use crate::io::scale::extremes;
use crate::io::series::Series;

/// At the points of a body's wall: x, y, arc length up to the point, and the pressure and friction coefficients.
pub(crate) const SURFACE: &str = "surface.csv";

/// The figure of `surface.csv` in `run_dir`; `None` where there is none.
///
/// # Errors
/// Where it is damaged.
pub(crate) fn surface_figure(run_dir: &Path, end: f64) -> Result<Option<Figure>> {
    let Some(table) = optional(&run_dir.join(SURFACE), Series::read)? else { return Ok(None) };
    let [x, y, length, pressure, friction] =
        ["x", "y", "length", "pressure_coefficient", "friction_coefficient"]
            .map(|name| table.required(name));
    let (length, friction) = (length?, friction?);
    let curves = vec![
        Curve::new("pressure", Line::Solid, length, pressure?),
        Curve::new("friction", Line::Dashed, length, friction),
    ];
    let x_label = "arc length of the wall";
    let plot = Plot { x_label, ..Plot::over_time("Wall at the end", "coefficient", curves) };
    let points = separation(x?, y?, friction);
    let separates = match &points[..] {
        [] => "The flow does not separate.".into(),
        points => {
            let points = points.iter().map(|[x, y]| format!("({}, {})", number(*x), number(*y)));
            let points = points.collect::<Vec<_>>().join(", ");
            format!(
                "The friction changes sign at (x, y) = {points}: there the flow separates from a wall at rest."
            )
        }
    };
    let caption = format!(
        "At t = {end:.2}, along the wall from its first point: (p − p∞) and the wall shear stress, divided by ½ ρ₀ V₀². {separates}"
    );
    Ok(Some(Figure { name: "surface".into(), plot, caption }))
}

/// Points where the flow along a closed wall arrives from both sides: friction, positive in the order of the points, changes from
/// plus to minus.
fn separation(x: &[f64], y: &[f64], friction: &[f64]) -> Vec<[f64; 2]> {
    let n = friction.len();
    let pairs = (0..n).map(|i| (i, (i + 1) % n));
    let sign_changes = pairs.filter(|&(i, j)| friction[i] > 0.0 && friction[j] <= 0.0);
    let position = |(i, j): (usize, usize)| {
        let part = friction[i] / (friction[i] - friction[j]);
        [x, y].map(|of| of[i] + part * (of[j] - of[i]))
    };
    sign_changes.map(position).collect()
}

/// Periodic vortex shedding of a body, over whole periods at the end of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Shedding {
    periods: usize,
    /// f L / V₀.
    strouhal: f64,
    /// Mean drag coefficient.
    drag: f64,
    /// Half the range of the lift coefficient.
    lift: f64,
}

/// Minimum number of lift periods in the second half of a run.
const MIN_PERIODS: usize = 3;
/// Relative tolerance on the equality of their lengths and amplitudes.
const MAX_VARIATION: f64 = 0.05;

impl Shedding {
    /// The shedding in `series`; `None` where the lift is not periodic yet, or only round-off.
    pub(crate) fn of(series: &Series, round_off: &RoundOff) -> Option<Self> {
        let [time, drag, lift] = ["time", "drag", "lift"].map(|name| series.column(name));
        let (time, drag, lift) = (time?, drag?, lift?);
        let half = 0.5 * (time.first()? + time.last()?);
        let from = time.partition_point(|&t| t < half);
        let (time, drag, lift) = (&time[from..], &drag[from..], &lift[from..]);
        let [low, high] = extremes(lift.iter().copied());
        let middle = 0.5 * (low + high);
        let rises = (1..lift.len()).filter(|&i| lift[i - 1] < middle && lift[i] >= middle);
        let rises: Vec<(usize, f64)> = rises
            .map(|i| {
                let part = (middle - lift[i - 1]) / (lift[i] - lift[i - 1]);
                (i, time[i - 1] + part * (time[i] - time[i - 1]))
            })
            .collect();
        let lengths: Vec<f64> = rises.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        let heights = rises.windows(2).map(|pair| {
            let [low, high] = extremes(lift[pair[0].0..pair[1].0].iter().copied());
            high - low
        });
        let heights: Vec<f64> = heights.collect();
        let are_similar = |values: &[f64]| {
            let [low, high] = extremes(values.iter().copied());
            high - low <= MAX_VARIATION * high
        };
        let is_periodic =
            lengths.len() >= MIN_PERIODS && are_similar(&lengths) && are_similar(&heights);
        let (&(first, start), &(last, end)) = (rises.first()?, rises.last()?);
        let lift = 0.5 * largest(&heights);
        (is_periodic && lift > round_off.force).then(|| Self {
            periods: lengths.len(),
            strouhal: lengths.len() as f64 / (end - start),
            drag: mean(&time[first..=last], &drag[first..=last]),
            lift,
        })
    }

    /// The values in a sentence.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Over the last {} periods: Strouhal number f L / V₀ = {:.4}, mean drag {}, amplitude of the lift {}.",
            self.periods,
            self.strouhal,
            number(self.drag),
            number(self.lift)
        )
    }
}

/// The time average, by the trapezoidal rule.
fn mean(time: &[f64], values: &[f64]) -> f64 {
    let parts =
        (1..time.len()).map(|i| 0.5 * (values[i - 1] + values[i]) * (time[i] - time[i - 1]));
    parts.sum::<f64>() / (time[time.len() - 1] - time[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects attachment taken for separation, and a separation point missed where the closed wall starts.
    #[test]
    fn separation_points_are_where_the_wall_flow_converges() {
        let friction = [0.0, 1.0, 3.0, -1.0, -2.0, 2.0];
        let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let points = separation(&x, &x.map(|x| 10.0 * x), &friction);
        assert_eq!(points, [[2.75, 27.5], [0.0, 0.0]]);
    }

    /// The lift has a non-zero mean and twice the period of the drag. A growing lift gives no result.
    #[test]
    fn strouhal_number_is_the_frequency_of_the_lift() {
        let series = |growth_rate: f64| {
            let rows = (0..4800).map(|i| {
                let t = 0.01 * f64::from(i);
                let phase = std::f64::consts::TAU * 0.2 * t;
                let lift = 0.1 + 0.3 * (growth_rate * t).exp() * phase.sin();
                format!("{t},{},{lift}\n", 1.4 + 0.01 * (2.0 * phase).sin())
            });
            let text = std::iter::once("time,drag,lift\n".into()).chain(rows).collect::<String>();
            Series::parse(Path::new("series.csv"), &text).unwrap()
        };
        let round_off = RoundOff { vorticity: 0.0, enstrophy: 0.0, rate: 0.0, force: 0.0 };
        let shedding = Shedding::of(&series(0.0), &round_off).unwrap();
        assert_eq!(shedding.periods, 4);
        for (value, exact) in [(shedding.strouhal, 0.2), (shedding.drag, 1.4), (shedding.lift, 0.3)]
        {
            assert!((value - exact).abs() < 1e-4 * exact, "{value} {exact}");
        }
        assert_eq!(Shedding::of(&series(0.05), &round_off), None);
    }
}
