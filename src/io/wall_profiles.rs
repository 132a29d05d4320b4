//! Figures of profiles between two walls.

use crate::Result;
use crate::io::figures::{Figure, number};
use crate::io::plot::{Curve, Line, Plot, Point};
use crate::io::series::Series;

/// u⁺ = ln y⁺ / κ + B of turbulent flow along a smooth wall.
const LOG_LAW: [f64; 2] = [0.41, 5.2];
/// Where the two laws are drawn, in y⁺.
const VISCOUS: [f64; 2] = [0.5, 12.0];
const LOGARITHMIC: f64 = 5.0;

/// The mean velocity in wall units and the stresses, as averaged at the last time of the table.
pub(crate) fn figures(table: &Series) -> Result<Vec<Figure>> {
    let time = table.required("time")?;
    let Some(&last) = time.last() else { return Ok(Vec::new()) };
    let rows: Vec<usize> = (0..time.len()).filter(|&row| time[row] == last).collect();
    let column = |name: &str| -> Result<Vec<f64>> {
        let column = table.required(name)?;
        Ok(rows.iter().map(|&row| column[row]).collect())
    };
    let weight = column("weight")?.first().copied().unwrap_or(0.0);
    let span = match weight > 0.0 {
        true => format!("averaged over the last {} of time, at t = {last:.2}", number(weight)),
        false => format!("at t = {last:.2}"),
    };
    let velocity = velocity([
        column("y_plus")?,
        column("u_plus")?,
        column("u_plus_van_driest")?,
        column("coordinate")?,
    ]);
    let friction = column("friction_reynolds")?.first().copied().unwrap_or(f64::NAN);
    let velocity = velocity.map(|plot| Figure {
        name: "wall_units",
        plot,
        caption: format!(
            "Mean velocity along the lower wall in wall units, {span}; Re<sub>τ</sub> = {}. Next to the wall u⁺ = y⁺; further away \
             turbulence has the law of the wall, ln y⁺ / {} + {}. The transform of van Driest (1951) takes out what the density changes.",
            number(friction),
            LOG_LAW[0],
            LOG_LAW[1],
        ),
    });
    let y = column("coordinate")?;
    let stress = |(name, label, line): (&str, &str, Line)| -> Result<Curve> {
        Ok(Curve::new(label, line, &y, &column(name)?))
    };
    let mut curves = [
        ("viscous_stress", "viscous", Line::Dashed),
        ("turbulent_stress", "turbulent", Line::Dotted),
        ("total_stress", "total", Line::Solid),
    ]
    .map(stress)
    .into_iter()
    .collect::<Result<Vec<_>>>()?;
    // Where a uniform force balances the shear of both walls.
    let ends: Vec<Point> =
        curves[0].points.iter().copied().take(1).chain(curves[0].points.last().copied()).collect();
    curves.push(Curve { label: "line between the walls".into(), line: Line::Level, points: ends });
    let mut plot = Plot::over_time("Shear stress", "stress along the flow", curves);
    plot.x_label = "coordinate across";
    let stresses = Figure {
        name: "stresses",
        plot,
        caption: format!(
            "Viscous stress, turbulent stress −⟨ρu''v''⟩ and their sum, {span}. Where a statistically steady flow is driven by a uniform \
             force the sum is a straight line between the walls."
        ),
    };
    Ok(velocity.into_iter().chain([stresses]).collect())
}

/// The half next to the lower wall; nothing where no shear is.
fn velocity([y_plus, u_plus, van_driest, y]: [Vec<f64>; 4]) -> Option<Plot> {
    let middle = 0.5 * (y.first()? + y.last()?);
    let half = |values: &[f64]| -> Vec<Point> {
        let points =
            (0..y.len()).filter(|&j| y[j] <= middle + 1e-9).map(|j| (y_plus[j], values[j]));
        points.filter(|(y, u)| *y > 0.0 && u.is_finite()).collect()
    };
    let curve = |label: &str, line, points| Curve { label: label.into(), line, points };
    let mut curves = vec![
        curve("u⁺", Line::Solid, half(&u_plus)),
        curve("van Driest", Line::Dashed, half(&van_driest)),
    ];
    let &(far, _) = curves[0].points.last()?;
    let between = |from: f64, to: f64, law: &dyn Fn(f64) -> f64| -> Vec<Point> {
        let step = |at: i32| from * (to / from).powf(f64::from(at) / 40.0);
        (0..=40).map(step).map(|y| (y, law(y))).collect()
    };
    curves.push(curve("y⁺", Line::Level, between(VISCOUS[0], VISCOUS[1], &|y| y)));
    if far > LOGARITHMIC {
        let [kappa, constant] = LOG_LAW;
        let points = between(LOGARITHMIC, far, &|y| y.ln() / kappa + constant);
        curves.push(curve("log law", Line::Long, points));
    }
    let plot = Plot::over_time("Mean velocity in wall units", "u⁺", curves);
    Some(Plot { x_label: "y⁺", logarithmic_x: true, ..plot })
}
