//! The final state along a line: `profile.csv` with an exact solution, and its figure.

use std::path::Path;

use crate::Result;
use crate::grid::Axis;
use crate::io::figures::Figure;
use crate::io::plot::{Curve, Line, Plot};
use crate::io::series::Series;
use crate::io::{malformed, optional};

/// The file: a coordinate, the computed values, the exact values.
pub(crate) const PROFILE: &str = "profile.csv";

/// The figure of `profile.csv` in `run_dir`; `None` where there is none.
///
/// # Errors
/// Where it is damaged.
pub(crate) fn figure(run_dir: &Path, end: f64) -> Result<Option<Figure>> {
    let path = run_dir.join(PROFILE);
    let Some(table) = optional(&path, Series::read)? else { return Ok(None) };
    let [axis, quantity, _] = table.names() else {
        return Err(malformed(&path, "a profile has three columns"));
    };
    let Some(x_label) = Axis::ALL.map(Axis::name).into_iter().find(|name| name == axis) else {
        return Err(malformed(&path, format!("`{axis}` is not a coordinate")));
    };
    // The density of small waves is nearly one.
    let (label, base) = match &**quantity {
        "density" => ("density ρ − 1", 1.0),
        "momentum_x" => ("momentum ρu", 0.0),
        "momentum_y" => ("momentum ρv", 0.0),
        "momentum_z" => ("momentum ρw", 0.0),
        _ => ("scalar φ", 0.0),
    };
    let x = table.required(axis)?;
    let curve = |label: &str, line, values: &[f64]| {
        let values: Vec<f64> = values.iter().map(|value| value - base).collect();
        Curve::new(label, line, x, &values)
    };
    let curves = vec![
        curve("this run", Line::Solid, table.required(quantity)?),
        curve("exact", Line::Reference, table.required("exact")?),
    ];
    let plot = Plot { x_label, ..Plot::over_time("Profile at the end", label, curves) };
    let caption = format!(
        "On the line along {x_label} through the middle of the box, at t = {end:.2}. Circles: the exact solution."
    );
    Ok(Some(Figure { name: "profile".into(), plot, caption }))
}
