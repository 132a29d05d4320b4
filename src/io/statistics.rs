//! Figures of the tables in `statistics/`: spectra, structure functions, probability density functions, scales of turbulence,
//! profiles.

use std::path::Path;

use crate::Result;
use crate::io::figures::{Figure, cited, number};
use crate::io::plot::{Curve, Line, Plot, Point};
use crate::io::series::Series;
use crate::io::spectra::{ReferenceSpectrum, Spectra, Spectrum};
use crate::io::{optional, wall_profiles};

/// A function that makes the figures of a table.
type MakeFigures = fn(&Series) -> Result<Vec<Figure>>;

/// The tables in `statistics/` except the spectra, with the function that makes the figures of each.
const TABLES: [(&str, MakeFigures); 4] = [
    ("structure.csv", structure_figure),
    ("gradients.csv", gradient_figure),
    ("turbulence.csv", turbulence_figures),
    ("profiles.csv", wall_profiles::figures),
];

/// The figures that the files in `run_dir` allow; empty without files.
pub(crate) fn figures(run_dir: &Path) -> Result<Vec<Figure>> {
    let reference = optional(&run_dir.join("reference_spectrum.csv"), ReferenceSpectrum::read)?;
    let directory = run_dir.join("statistics");
    let spectra = optional(&directory.join("spectra.csv"), Spectra::read)?;
    let spectra = spectra.and_then(|spectra| spectrum_figure(&spectra, reference.as_ref()));
    let mut figures = Vec::from_iter(spectra);
    for (name, make_figures) in TABLES {
        let table = optional(&directory.join(name), Series::read)?;
        figures.extend(table.map_or(Ok(Vec::new()), |table| make_figures(&table))?);
    }
    Ok(figures)
}

/// Spectra on logarithmic axes, with the slope of the inertial range; `smallest`: the wavenumber of the first shell.
pub(crate) fn spectrum_plot(
    title: &str,
    of_scalar: bool,
    smallest: f64,
    mut curves: Vec<Curve>,
) -> Plot {
    let (last, level) = (largest(&curves, |point| point.0), largest(&curves, |point| point.1));
    // A decade from the second shell on, above all curves.
    let shells = (2..=20).map(f64::from);
    let slope = shells.map(|s| (s * smallest, 2.0 * level * (s / 2.0).powf(-5.0 / 3.0)));
    let points: Vec<Point> = slope.filter(|&(k, energy)| energy > 0.0 && k <= last).collect();
    if points.len() > 1 {
        curves.push(Curve { label: "slope −5/3".into(), line: Line::Thin, points });
    }
    let y_label = if of_scalar { "scalar variance per shell" } else { "energy per shell" };
    Plot::logarithmic(title, "wavenumber k", y_label, curves)
}

fn largest(curves: &[Curve], of: fn(&Point) -> f64) -> f64 {
    curves.iter().flat_map(|curve| &curve.points).map(of).fold(0.0, f64::max)
}

/// Spectra of the run at its first, middle and last time, and at the time of the reference, where there is one.
fn spectrum_figure(spectra: &Spectra, reference: Option<&ReferenceSpectrum>) -> Option<Figure> {
    let last = spectra.times.len().saturating_sub(1);
    let mut rows = vec![last, last / 2, 0];
    rows.dedup();
    let mut shown: Vec<&Spectrum> = rows.iter().filter_map(|&at| spectra.times.get(at)).collect();
    let at_reference = reference.and_then(|reference| spectra.nearest(reference.spectrum.time));
    shown.extend(at_reference.filter(|one| !shown.contains(one)));
    let curves = shown.iter().zip(Line::SIDE_BY_SIDE).map(|(spectrum, line)| {
        let label = format!("t = {:.2}", spectrum.time);
        Curve { label, line, points: spectrum.points() }
    });
    let mut curves: Vec<Curve> = curves.filter(|curve| !curve.points.is_empty()).collect();
    if curves.is_empty() {
        return None;
    }
    let what = if spectra.of_scalar { "variance" } else { "kinetic energy" };
    let mut caption = format!(
        "Contribution of each wavenumber shell to the {what}; the shells sum to the total. k is in 1/L, \
         a multiple of 2π over the longest side of the box."
    );
    if let Some(ReferenceSpectrum { source, spectrum }) = reference {
        // Beyond the last shell of the run there is nothing to compare.
        let ends = shown.iter().filter_map(|spectrum| spectrum.k.last());
        let last = ends.copied().fold(0.0, f64::max);
        curves.push(Curve {
            label: format!("reference, t = {:.2}", spectrum.time),
            line: Line::Reference,
            points: spectrum.points().into_iter().filter(|&(k, _)| k <= last).collect(),
        });
        let (time, source) = (number(spectrum.time), cited(source));
        caption += &format!(" Reference at t = {time}: {source}.");
    }
    let mut plot = spectrum_plot("Spectra", spectra.of_scalar, spectra.smallest(), curves);
    plot.frames =
        spectra.times.iter().map(|spectrum| frame(spectrum.time, spectrum.points())).collect();
    Some(Figure { name: "spectra".into(), plot, caption })
}

/// An additional curve at a time that a slider selects.
pub(super) fn frame(time: f64, points: Vec<Point>) -> (f64, Vec<Curve>) {
    (time, vec![Curve { label: format!("t = {time:.2}"), line: Line::Ink, points }])
}

/// Second-order longitudinal structure functions at the last time, along each axis.
fn structure_figure(table: &Series) -> Result<Vec<Figure>> {
    let (time, r) = (table.required("time")?, table.required("r")?);
    let (axis, values) = (table.text_column("axis")?, table.required("longitudinal_2")?);
    let Some(&last) = time.last() else { return Ok(Vec::new()) };
    let along = |(name, line): (&str, Line)| {
        let rows = (0..r.len()).filter(|&row| time[row] == last && axis[row] == name);
        let points = rows.map(|row| (r[row], values[row])).filter(|&(r, v)| r > 0.0 && v > 0.0);
        Curve { label: format!("along {name}"), line, points: points.collect() }
    };
    let curves = ["x", "y", "z"].into_iter().zip(Line::SIDE_BY_SIDE).map(along);
    let mut curves: Vec<Curve> = curves.filter(|curve| !curve.points.is_empty()).collect();
    if curves.is_empty() {
        return Ok(Vec::new());
    }
    let (largest_distance, level) =
        (largest(&curves, |point| point.0), largest(&curves, |point| point.1));
    let slope = [0.1 * largest_distance, 0.5 * largest_distance]
        .map(|r| (r, 1.5 * level * (r / largest_distance).powf(2.0 / 3.0)));
    curves.push(Curve { label: "slope 2/3".into(), line: Line::Thin, points: slope.to_vec() });
    Ok(vec![Figure {
        name: "structure".into(),
        plot: Plot::logarithmic("Structure functions", "distance r", "⟨(δu)²⟩", curves),
        caption: format!(
            "Mean square of the longitudinal velocity difference between points a distance r apart along an axis, at t = {last:.2}. \
             In the inertial range it scales as r<sup>2/3</sup> (Kolmogorov 1941), in the dissipative range as r²."
        ),
    }])
}

/// Probability density functions at the last time, one curve per quantity.
fn gradient_figure(table: &Series) -> Result<Vec<Figure>> {
    let (time, quantity) = (table.required("time")?, table.text_column("quantity")?);
    let (value, density) = (table.required("value")?, table.required("density")?);
    let Some(&last) = time.last() else { return Ok(Vec::new()) };
    let mut curves: Vec<Curve> = Vec::new();
    for row in (0..time.len()).filter(|&row| time[row] == last && density[row] > 0.0) {
        if curves.last().is_none_or(|curve| curve.label != quantity[row]) {
            let Some(&line) = Line::SIDE_BY_SIDE.get(curves.len()) else { break };
            curves.push(Curve { label: quantity[row].clone(), line, points: Vec::new() });
        }
        if let Some(curve) = curves.last_mut() {
            curve.points.push((value[row], density[row]));
        }
    }
    if curves.is_empty() {
        return Ok(Vec::new());
    }
    let mut plot = Plot::over_time("Velocity gradients", "probability density", curves);
    (plot.x_label, plot.logarithmic) = ("gradient / its root mean square", true);
    let caption = format!(
        "Probability density functions of ∂uᵢ/∂xᵢ (longitudinal) and ∂uᵢ/∂xⱼ (transverse) over all points, at t = {last:.2}."
    );
    Ok(vec![Figure { name: "gradients".into(), plot, caption }])
}

/// Reynolds number, length scales and gradient skewness over time.
fn turbulence_figures(table: &Series) -> Result<Vec<Figure>> {
    let time = table.required("time")?;
    let figure = |name: &'static str, title, y_label, columns: &[(&str, &str)], caption: &str| {
        let curve = |((column, label), line): (&(&str, &str), Line)| {
            Ok(Curve::new(label, line, time, table.required(column)?))
        };
        let curves = columns.iter().zip(Line::SIDE_BY_SIDE).map(curve);
        let mut plot = Plot::over_time(title, y_label, curves.collect::<Result<_>>()?);
        plot.logarithmic = columns.len() > 1;
        Ok(Figure { name: name.into(), plot, caption: caption.into() })
    };
    let figures: Result<Vec<Figure>> = [
        figure(
            "reynolds_number",
            "Reynolds number",
            "Re_λ",
            &[("reynolds_taylor", "Re_λ")],
            "Re<sub>λ</sub> = u'λ/ν with the root mean square u' of a velocity component and the Taylor scale λ.",
        ),
        figure(
            "scales",
            "Scales of turbulence",
            "length",
            &[("integral_scale", "integral L"), ("taylor_scale", "Taylor λ"), ("kolmogorov_length", "Kolmogorov η")],
            "Integral scale π/(2u'²) ∫E/k dk, Taylor scale u'/⟨(∂u/∂x)²⟩<sup>1/2</sup>, Kolmogorov length (ν³/ε)<sup>1/4</sup>.",
        ),
        figure(
            "skewness",
            "Skewness of the velocity gradient",
            "skewness of ∂u/∂x",
            &[("skewness", "this run")],
            "⟨g³⟩/⟨g²⟩<sup>3/2</sup> of the longitudinal gradients g. It is 0 for random phases and −0.4 to −0.5 in turbulence \
             at low Reynolds numbers (Kerr 1985).",
        ),
    ]
    .into_iter()
    .collect();
    // Without viscosity some columns have no finite values.
    let is_finite = |curve: &Curve| curve.points.iter().any(|(_, value)| value.is_finite());
    let figures = figures?.into_iter().filter(|figure| figure.plot.curves.iter().any(is_finite));
    Ok(figures.collect())
}
