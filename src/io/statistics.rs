//! Figures of what lies in `statistics/`: spectra, structure functions, densities of probability.

use std::path::Path;

use crate::Result;
use crate::io::figures::{Figure, number, plot};
use crate::io::page::escape;
use crate::io::plot::{Curve, Line, Plot};
use crate::io::spectra::{ReferenceSpectrum, Spectra, Spectrum};
use crate::io::tidy::Tidy;

/// So many of the last times are drawn.
const LAST_TIMES: usize = 3;

/// How curves of different times, axes or quantities are drawn.
const LINES: [Line; 4] = [Line::Solid, Line::Dashed, Line::Dotted, Line::Long];

/// The figures that the files in `run_dir` allow; none where there are none.
pub(crate) fn figures(run_dir: &Path) -> Result<Vec<Figure>> {
    let folder = run_dir.join("statistics");
    let reference = run_dir.join("reference_spectrum.csv");
    let reference = reference.exists().then(|| ReferenceSpectrum::read(&reference)).transpose()?;
    let there = |name: &str| Some(folder.join(name)).filter(|path| path.exists());
    let spectra = there("spectra.csv").map(|path| Spectra::read(&path)).transpose()?;
    let structure = there("structure.csv").map(|path| Tidy::read(&path)).transpose()?;
    let gradients = there("gradients.csv").map(|path| Tidy::read(&path)).transpose()?;
    Ok([
        spectra.and_then(|spectra| spectrum_figure(&spectra, reference.as_ref())),
        structure.map(|table| structure_figure(&table)).transpose()?.flatten(),
        gradients.map(|table| gradient_figure(&table)).transpose()?.flatten(),
    ]
    .into_iter()
    .flatten()
    .collect())
}

/// Curves of spectra on logarithmic axes, with the slope of the inertial range.
pub(crate) fn spectrum_plot(title: &str, of_scalar: bool, mut curves: Vec<Curve>) -> Plot {
    let peak = |curve: &Curve| curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let level = curves.iter().map(peak).fold(0.0, f64::max);
    // From the second shell over a decade, from above all curves down.
    let slope = (2..=20).map(f64::from).map(|k| (k, 2.0 * level * (k / 2.0).powf(-5.0 / 3.0)));
    let last =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.0).fold(0.0, f64::max);
    let points: Vec<_> = slope.filter(|&(k, energy)| energy > 0.0 && k <= last).collect();
    if points.len() > 1 {
        curves.push(Curve { label: "slope −5/3".into(), line: Line::Thin, points });
    }
    Plot {
        x_label: "wavenumber k",
        logarithmic_x: true,
        logarithmic: true,
        ..plot(title, if of_scalar { "spectrum of the scalar" } else { "spectrum E(k)" }, curves)
    }
}

/// The run at the time of the reference, where there is one, and at its last times.
fn spectrum_figure(spectra: &Spectra, reference: Option<&ReferenceSpectrum>) -> Option<Figure> {
    let mut shown: Vec<&Spectrum> = spectra.times.iter().rev().take(LAST_TIMES).collect();
    let at_reference = reference.and_then(|reference| spectra.nearest(reference.spectrum.time));
    if let Some(nearest) = at_reference.filter(|one| !shown.contains(one)) {
        shown.push(nearest);
    }
    let mut curves: Vec<Curve> = shown
        .iter()
        .zip(LINES)
        .map(|(spectrum, line)| Curve {
            label: format!("t = {:.2}", spectrum.time),
            line,
            points: spectrum.points(),
        })
        .filter(|curve| !curve.points.is_empty())
        .collect();
    if curves.is_empty() {
        return None;
    }
    // Beyond the last shell of the run there is nothing to compare.
    let last = shown.iter().filter_map(|spectrum| spectrum.k.last()).copied().fold(0.0, f64::max);
    curves.extend(reference.map(|reference| Curve {
        label: format!("reference, t = {:.2}", reference.spectrum.time),
        line: Line::Reference,
        points: reference.spectrum.points().into_iter().filter(|&(k, _)| k <= last).collect(),
    }));
    let what = if spectra.of_scalar { "variance" } else { "kinetic energy" };
    let source = reference.map_or(String::new(), |reference| {
        let source = escape(reference.source.trim_end_matches('.'));
        format!(" Reference at t = {}: {source}.", number(reference.spectrum.time))
    });
    Some(Figure {
        name: "spectra",
        plot: spectrum_plot("Spectra", spectra.of_scalar, curves),
        caption: format!(
            "What each shell of wavenumbers has of the {what}; all shells together have all of it. k counts periods \
             in the longest side of the box.{source}"
        ),
    })
}

/// Second-order longitudinal structure functions of the last time, along each axis.
fn structure_figure(table: &Tidy) -> Result<Option<Figure>> {
    let Some(last) = table.last("time")? else { return Ok(None) };
    let (time, r) = (table.numbers("time")?, table.numbers("r")?);
    let (axis, values) = (table.texts("axis")?, table.numbers("longitudinal_2")?);
    let mut curves: Vec<Curve> = Vec::new();
    for (name, line) in ["x", "y", "z"].into_iter().zip(LINES) {
        let rows = (0..r.len()).filter(|&row| time[row] == last && axis[row] == name);
        let points: Vec<_> = rows
            .map(|row| (r[row], values[row]))
            .filter(|&(r, value)| r > 0.0 && value > 0.0)
            .collect();
        if !points.is_empty() {
            curves.push(Curve { label: format!("along {name}"), line, points });
        }
    }
    let Some(&(near, _)) = curves.first().and_then(|curve| curve.points.first()) else {
        return Ok(None);
    };
    let far =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.0).fold(near, f64::max);
    let level =
        curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max);
    let slope = [0.1 * far, 0.5 * far].map(|r| (r, 1.5 * level * (r / far).powf(2.0 / 3.0)));
    curves.push(Curve { label: "slope 2/3".into(), line: Line::Thin, points: slope.to_vec() });
    Ok(Some(Figure {
        name: "structure",
        plot: Plot {
            x_label: "distance r",
            logarithmic_x: true,
            logarithmic: true,
            ..plot("Structure functions", "⟨(δu)²⟩", curves)
        },
        caption: format!(
            "Mean square of the difference of the velocity along an axis between points r apart on it, at t = {last:.2}. \
             In the inertial range it goes as r<sup>2/3</sup> (Kolmogorov 1941), in the dissipative range as r²."
        ),
    }))
}

/// Densities of probability of the last time, one curve a quantity.
fn gradient_figure(table: &Tidy) -> Result<Option<Figure>> {
    let Some(last) = table.last("time")? else { return Ok(None) };
    let (time, quantity) = (table.numbers("time")?, table.texts("quantity")?);
    let (value, density) = (table.numbers("value")?, table.numbers("density")?);
    let mut curves: Vec<Curve> = Vec::new();
    for row in (0..time.len()).filter(|&row| time[row] == last && density[row] > 0.0) {
        if curves.last().is_none_or(|curve| curve.label != quantity[row]) {
            let Some(&line) = LINES.get(curves.len()) else { break };
            curves.push(Curve { label: quantity[row].to_string(), line, points: Vec::new() });
        }
        if let Some(curve) = curves.last_mut() {
            curve.points.push((value[row], density[row]));
        }
    }
    Ok((!curves.is_empty()).then(|| Figure {
        name: "gradients",
        plot: Plot {
            x_label: "value",
            logarithmic: true,
            ..plot("Velocity gradients", "probability density", curves)
        },
        caption: format!("Densities of probability over all points, at t = {last:.2}."),
    }))
}
