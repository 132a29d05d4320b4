//! Which curves a report shows, and what can be said of them in numbers.

use super::page::escape;
use crate::io::plot::{Curve, Line, Plot};
use crate::io::reference::{Reference, energy_loss};
use crate::io::series::Series;
use crate::io::summary::{Summary, kmax_etas};
use crate::io::verdict::RESOLVED_KMAX_ETA;

/// A plot of the report.
pub(crate) struct Figure {
    /// File name without `.svg`.
    pub(crate) name: &'static str,
    /// The plot.
    pub(crate) plot: Plot,
    /// What to see, in a sentence or two.
    pub(crate) caption: String,
}

/// The figures that the columns of a series allow, in the order of the report.
pub(crate) fn figures(
    series: &Series,
    reference: Option<&Reference>,
    summary: &Summary,
) -> Vec<Figure> {
    let over = Over { series, time: series.column("time").unwrap_or_default() };
    [
        kinetic_energy(&over, reference),
        dissipation(&over, reference, summary),
        enstrophy(&over),
        budget(&over),
        resolution(&over, summary),
        variance(&over),
        extremes(&over),
        error(&over),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A series and its times.
struct Over<'a> {
    series: &'a Series,
    time: &'a [f64],
}

impl Over<'_> {
    fn curve(&self, label: &str, line: Line, values: &[f64]) -> Curve {
        let points = self.time.iter().copied().zip(values.iter().copied()).collect();
        Curve { label: label.to_string(), line, points }
    }

    fn column(&self, label: &str, line: Line, name: &str) -> Option<Curve> {
        self.series.column(name).map(|values| self.curve(label, line, values))
    }

    /// A curve of the reference over the times of the run.
    fn reference(&self, reference: &Reference, values: &[f64]) -> Curve {
        let end = self.time.iter().copied().fold(0.0, f64::max);
        let points = reference.time.iter().copied().zip(values.iter().copied());
        let points = points.filter(|&(t, _)| t <= end).collect();
        Curve { label: "reference".to_string(), line: Line::Reference, points }
    }
}

/// Curves over time.
pub(crate) fn plot(title: &str, y_label: &str, curves: Vec<Curve>) -> Plot {
    Plot {
        x_label: "time t",
        logarithmic_x: false,
        title: title.to_string(),
        y_label: y_label.to_string(),
        curves,
        mark: None,
        logarithmic: false,
    }
}

fn source(reference: Option<&Reference>) -> String {
    reference.map_or(String::new(), |r| {
        format!(" Reference: {}.", escape(r.source.trim_end_matches('.')))
    })
}

fn kinetic_energy(over: &Over, reference: Option<&Reference>) -> Option<Figure> {
    let mut curves = vec![over.column("this run", Line::Solid, "kinetic_energy")?];
    curves.extend(reference.map(|r| over.reference(r, &r.kinetic_energy)));
    Some(Figure {
        name: "kinetic_energy",
        plot: plot("Kinetic energy", "kinetic energy E", curves),
        caption: format!("E = ⟨ρ u·u⟩ / 2.{}", source(reference)),
    })
}

/// Nothing for an inviscid flow, where the energy budget says all there is to say.
fn dissipation(over: &Over, reference: Option<&Reference>, summary: &Summary) -> Option<Figure> {
    summary.reynolds?;
    let mut curves = vec![over.column("from gradients", Line::Solid, "dissipation")?];
    curves.extend(
        energy_loss(over.series).map(|loss| over.curve("from the energy", Line::Dashed, &loss)),
    );
    curves.extend(reference.map(|r| over.reference(r, &r.dissipation)));
    Some(Figure {
        name: "dissipation",
        plot: plot("Dissipation", "dissipation ε", curves),
        caption: format!(
            "From gradients: ε = ⟨τ : ∇u⟩. From the energy: −dE/dt + ⟨p ∇·u⟩. What lies between the two, the scheme \
             dissipates.{}",
            source(reference)
        ),
    })
}

fn enstrophy(over: &Over) -> Option<Figure> {
    let curve = over.column("this run", Line::Solid, "enstrophy")?;
    Some(Figure {
        name: "enstrophy",
        plot: plot("Enstrophy", "enstrophy Ω", vec![curve]),
        caption: "Ω = ⟨ρ ω·ω⟩ / 2, with the vorticity ω = ∇×u.".to_string(),
    })
}

/// The terms of the kinetic-energy budget: column, name, line.
const TERMS: [(&str, &str, Line); 4] = [
    ("ke_rate_viscous", "viscous", Line::Dashed),
    ("ke_rate_pressure", "pressure", Line::Dotted),
    ("ke_rate_convection", "convection", Line::Long),
    ("ke_rate_filter", "filter", Line::Thin),
];

fn budget(over: &Over) -> Option<Figure> {
    let mut curves = vec![over.column("dE/dt", Line::Solid, "ke_rate")?];
    for (column, label, line) in TERMS {
        // A filter that is off needs no curve; the other terms say something by being zero.
        let off = || over.series.column(column).is_some_and(|v| v.iter().all(|&v| v == 0.0));
        if column != "ke_rate_filter" || !off() {
            curves.extend(over.column(label, line, column));
        }
    }
    let caption = match closure(over.series) {
        Some((residual, largest)) => format!(
            "What each term of the discrete equations does to E. The terms add up to dE/dt within {} \
             (largest |dE/dt|: {}).",
            number(residual),
            number(largest)
        ),
        None => "What each term of the discrete equations does to E.".to_string(),
    };
    Some(Figure {
        name: "budget",
        plot: plot("Energy budget", "rate of change of E", curves),
        caption,
    })
}

/// The largest |dE/dt − sum of its terms|, and the largest |dE/dt|, over all rows that are finite.
pub(crate) fn closure(series: &Series) -> Option<(f64, f64)> {
    let rate = series.column("ke_rate")?;
    let terms: Vec<&[f64]> =
        TERMS.iter().map(|(column, _, _)| series.column(column)).collect::<Option<_>>()?;
    let residual = |row: usize| (rate[row] - terms.iter().map(|term| term[row]).sum::<f64>()).abs();
    let largest = |f: &dyn Fn(usize) -> f64| {
        (0..rate.len()).map(f).filter(|v| v.is_finite()).reduce(f64::max)
    };
    Some((largest(&residual)?, largest(&|row| rate[row].abs())?))
}

fn resolution(over: &Over, summary: &Summary) -> Option<Figure> {
    summary.resolution?;
    let values = kmax_etas(over.series, &summary.parts())?;
    let mut plot = plot("Resolution", "kmax η", vec![over.curve("this run", Line::Solid, &values)]);
    plot.mark = Some((RESOLVED_KMAX_ETA, format!("resolved above {RESOLVED_KMAX_ETA}")));
    Some(Figure {
        name: "resolution",
        plot,
        caption: "Largest wavenumber of the grid, kmax = π/h, times the Kolmogorov length \
                  η = (ν³/ε)<sup>1/4</sup>."
            .to_string(),
    })
}

fn variance(over: &Over) -> Option<Figure> {
    let curve = over.column("this run", Line::Solid, "scalar_variance")?;
    Some(Figure {
        name: "scalar_variance",
        plot: plot("Variance of the scalar", "⟨φ²⟩ − ⟨φ⟩²", vec![curve]),
        caption: "Without diffusion the exact solution keeps it.".to_string(),
    })
}

fn extremes(over: &Over) -> Option<Figure> {
    let curves = vec![
        over.column("largest", Line::Solid, "scalar_max")?,
        over.column("smallest", Line::Dashed, "scalar_min")?,
    ];
    Some(Figure {
        name: "scalar_range",
        plot: plot("Range of the scalar", "scalar φ", curves),
        caption: "The exact solution never leaves the range that it starts in.".to_string(),
    })
}

fn error(over: &Over) -> Option<Figure> {
    let curves = vec![
        over.column("root mean square", Line::Solid, "error_l2")?,
        over.column("largest", Line::Dashed, "error_max")?,
    ];
    Some(Figure {
        name: "error",
        plot: Plot { logarithmic: true, ..plot("Error", "error", curves) },
        caption: "Distance from the exact solution.".to_string(),
    })
}

/// Drift of what the equations conserve, over the whole run: name and number.
pub(crate) fn conservation(series: &Series) -> Vec<(&'static str, f64)> {
    let drift = |column: &str| {
        let values = series.column(column)?;
        let first = *values.first()?;
        values.iter().map(|v| (v - first).abs()).filter(|v| v.is_finite()).reduce(f64::max)
    };
    let relative = |column: &str| {
        let first = *series.column(column)?.first()?;
        (first != 0.0).then_some(())?;
        Some(drift(column)? / first.abs())
    };
    let momentum = ["momentum_x", "momentum_y", "momentum_z"];
    [
        ("mass, relative", relative("mass")),
        ("momentum, absolute", momentum.into_iter().filter_map(drift).reduce(f64::max)),
        ("total energy, relative", relative("total_energy")),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// A number for people, as HTML: three digits, as a power of ten where it is far from one.
pub(crate) fn number(value: f64) -> String {
    let text = if value == 0.0 {
        "0".to_string()
    } else if (0.001..1e5).contains(&value.abs()) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=5"
        )]
        let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 5.0) as usize;
        format!("{value:.decimals$}")
    } else if value.is_finite() {
        let text = format!("{value:.1e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{mantissa}·10<sup>{exponent}</sup>")
    } else {
        value.to_string()
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_or_a_power_of_ten() {
        let shown =
            [0.0, 0.0125678, 2.0, 12.345, 8430.4, -0.5, 3.46e-18, f64::INFINITY].map(number);
        assert_eq!(
            shown,
            ["0", "0.0126", "2.00", "12.3", "8430", "−0.500", "3.5·10<sup>−18</sup>", "inf"]
        );
    }
}
