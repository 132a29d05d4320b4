//! Figures of profiles between two walls.

use crate::Result;
use crate::io::figures::{Figure, number};
use crate::io::plot::{Curve, Line, Plot, Point};
use crate::io::series::Series;
use crate::io::statistics::frame;

/// κ and B of the log law u⁺ = ln y⁺ / κ + B of turbulent flow along a smooth wall.
const LOG_LAW: [f64; 2] = [0.41, 5.2];
/// Where the two laws are drawn, in y⁺.
const VISCOUS_RANGE: [f64; 2] = [0.5, 12.0];
const LOG_LAW_START: f64 = 5.0;

/// Mean velocity in wall units and stresses, averaged up to the last time of the table; a slider shows the other times.
pub(crate) fn figures(table: &Series) -> Result<Vec<Figure>> {
    let time = table.required("time")?;
    let Some(&last) = time.last() else { return Ok(Vec::new()) };
    let mut times = time.to_vec();
    times.dedup();
    // The rows of one time are consecutive.
    let column = |name: &str, at: f64| -> Result<Vec<f64>> {
        let column = table.required(name)?;
        let rows = time.iter().zip(column).filter(|(time, _)| **time == at);
        Ok(rows.map(|(_, value)| *value).collect())
    };
    let weight = column("weight", last)?.first().copied().unwrap_or(0.0);
    let average = match weight > 0.0 {
        true => format!("averaged over the last {} time units, at t = {last:.2}", number(weight)),
        false => format!("at t = {last:.2}"),
    };
    let columns = |at: f64| -> Result<Vec<Vec<f64>>> {
        let names = ["y_plus", "u_plus", "u_plus_van_driest", "coordinate"];
        names.into_iter().map(|name| column(name, at)).collect()
    };
    let mut plot = velocity_plot(&columns(last)?);
    if let Some(plot) = &mut plot {
        let shown = |&at: &f64| Ok(frame(at, lower_half(&columns(at)?, 1)));
        plot.frames = times.iter().map(shown).collect::<Result<_>>()?;
    }
    let friction = column("friction_reynolds", last)?.first().copied().unwrap_or(f64::NAN);
    let velocity = plot.map(|plot| Figure {
        name: "wall_units".into(),
        plot,
        caption: format!(
            "Mean velocity along the lower wall in wall units, {average}; Re<sub>τ</sub> = {}. Near the wall u⁺ = y⁺; further away \
             turbulent flow follows the log law, ln y⁺ / {} + {}. The transformation of van Driest (1951) removes the effect of the mean density.",
            number(friction),
            LOG_LAW[0],
            LOG_LAW[1],
        ),
    });
    let y = column("coordinate", last)?;
    let stress = |(name, label, line): (&str, &str, Line)| -> Result<Curve> {
        Ok(Curve::new(label, line, &y, &column(name, last)?))
    };
    let mut curves = [
        ("viscous_stress", "viscous", Line::Dashed),
        ("turbulent_stress", "turbulent", Line::Dotted),
        ("total_stress", "total", Line::Solid),
    ]
    .map(stress)
    .into_iter()
    .collect::<Result<Vec<_>>>()?;
    // The total stress where a uniform force balances the shear of both walls.
    let ends: Vec<Point> =
        curves[0].points.iter().copied().take(1).chain(curves[0].points.last().copied()).collect();
    curves.push(Curve { label: "straight line".into(), line: Line::Level, points: ends });
    let mut plot = Plot::over_time("Shear stress", "stress along the flow", curves);
    plot.x_label = "wall-normal coordinate";
    let total = |&at: &f64| -> Result<(f64, Vec<Curve>)> {
        let points = column("coordinate", at)?.into_iter().zip(column("total_stress", at)?);
        Ok(frame(at, points.collect()))
    };
    plot.frames = times.iter().map(total).collect::<Result<_>>()?;
    let stresses = Figure {
        name: "stresses".into(),
        plot,
        caption: format!(
            "Viscous stress, turbulent stress −⟨ρu''v''⟩ and their sum, {average}. In statistically steady flow driven by a uniform \
             force, the sum is a straight line between the walls. The slider adds the sum at other times."
        ),
    };
    Ok(velocity.into_iter().chain([stresses]).collect())
}

/// One column over y⁺ in the half next to the lower wall.
fn lower_half(columns: &[Vec<f64>], column: usize) -> Vec<Point> {
    let [y_plus, .., y] = columns else { return Vec::new() };
    let (Some(low), Some(high)) = (y.first(), y.last()) else { return Vec::new() };
    let middle = 0.5 * (low + high);
    let points =
        (0..y.len()).filter(|&j| y[j] <= middle + 1e-9).map(|j| (y_plus[j], columns[column][j]));
    points.filter(|(y, u)| *y > 0.0 && u.is_finite()).collect()
}

/// The half next to the lower wall; `None` without wall shear.
fn velocity_plot(columns: &[Vec<f64>]) -> Option<Plot> {
    let curve = |label: &str, line, points| Curve { label: label.into(), line, points };
    let mut curves = vec![
        curve("u⁺", Line::Solid, lower_half(columns, 1)),
        curve("van Driest", Line::Dashed, lower_half(columns, 2)),
    ];
    let &(largest_y_plus, _) = curves[0].points.last()?;
    let law_points = |from: f64, to: f64, law: &dyn Fn(f64) -> f64| -> Vec<Point> {
        let step = |at: i32| from * (to / from).powf(f64::from(at) / 40.0);
        (0..=40).map(step).map(|y| (y, law(y))).collect()
    };
    curves.push(curve("y⁺", Line::Level, law_points(VISCOUS_RANGE[0], VISCOUS_RANGE[1], &|y| y)));
    if largest_y_plus > LOG_LAW_START {
        let [kappa, constant] = LOG_LAW;
        let points = law_points(LOG_LAW_START, largest_y_plus, &|y| y.ln() / kappa + constant);
        curves.push(curve("log law", Line::Long, points));
    }
    let plot = Plot::over_time("Mean velocity in wall units", "u⁺", curves);
    Some(Plot { x_label: "y⁺", logarithmic_x: true, ..plot })
}
