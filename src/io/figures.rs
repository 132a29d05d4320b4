//! The curves of a report, and the numbers derived from them.

use std::borrow::Cow;

use super::body::Shedding;
use super::page::escape;
use crate::io::plot::{Curve, Line, Plot};
use crate::io::reference::{Reference, energy_loss};
use crate::io::round_off::{RoundOff, largest};
use crate::io::series::Series;
use crate::io::summary::{Summary, kmax_etas};
use crate::io::verdict::RESOLVED_KMAX_ETA;

/// Names of the figures that are not in the tables below.
const OTHER_FIGURES: [&str; 14] = [
    "kinetic_energy",
    "dissipation",
    "budget",
    "surface",
    "resolution",
    "profile",
    "spectra",
    "structure",
    "gradients",
    "reynolds_number",
    "scales",
    "skewness",
    "wall_units",
    "stresses",
];

/// Whether a report may have a figure of this name.
pub(super) fn is_figure(name: &str) -> bool {
    let in_tables =
        COLUMN_FIGURES.iter().map(|it| it.0).chain(PASSIVE_FIGURES.iter().map(|it| it.0));
    in_tables.chain(OTHER_FIGURES).any(|known| known == name)
}

/// A plot of the report.
pub(crate) struct Figure {
    /// File name without `.svg`.
    pub(crate) name: Cow<'static, str>,
    /// The plot.
    pub(crate) plot: Plot,
    /// Caption: one or two sentences.
    pub(crate) caption: String,
}

/// Curves that are columns of the series: label, line, column.
type Columns = &'static [(&'static str, Line, &'static str)];

/// Figures made of columns only: name, title, y label, curves, caption.
const COLUMN_FIGURES: [(&str, &str, &str, Columns, &str); 12] = [
    (
        "enstrophy",
        "Enstrophy",
        "enstrophy Ω",
        &[("this run", Line::Solid, "enstrophy")],
        "Ω = ⟨ρ ω·ω⟩ / 2, with the vorticity ω = ∇×u.",
    ),
    (
        "forcing",
        "Forcing",
        "power",
        &[
            ("power of the force", Line::Solid, "forcing_power"),
            ("dissipation", Line::Dashed, "dissipation"),
            ("heat removed", Line::Dotted, "heat_removed"),
        ],
        "Power of the force P = ⟨F·u⟩, dissipation ε = ⟨τ : ∇u⟩, and heat Λ removed by a uniform sink.",
    ),
    (
        "forcing_coefficient",
        "Coefficient of the force",
        "A",
        &[("this run", Line::Solid, "forcing_coefficient")],
        "F = A ρ (u − {u}), with the mean velocity {u} = ⟨ρu⟩ / ⟨ρ⟩.",
    ),
    (
        "pressure_gradient",
        "Pressure gradient",
        "G",
        &[("this run", Line::Solid, "pressure_gradient")],
        "Driving force per unit volume.",
    ),
    (
        "friction",
        "Friction",
        "shear stress τ",
        &[
            ("at the low wall", Line::Solid, "wall_shear_low"),
            ("at the high wall", Line::Dashed, "wall_shear_high"),
        ],
        "Mean wall shear stress. In statistically steady flow, half the sum of both walls balances the force on half the channel.",
    ),
    (
        "drag",
        "Drag",
        "drag coefficient",
        &[
            ("this run", Line::Solid, "drag"),
            ("pressure", Line::Dashed, "drag_pressure"),
            ("friction", Line::Dotted, "drag_friction"),
        ],
        "Streamwise force on the body per unit span, divided by ½ ρ₀ V₀² L.",
    ),
    (
        "lift",
        "Lift",
        "lift coefficient",
        &[
            ("this run", Line::Solid, "lift"),
            ("pressure", Line::Dashed, "lift_pressure"),
            ("friction", Line::Dotted, "lift_friction"),
        ],
        "Cross-stream force on the body, positive to the left, per unit span, divided by ½ ρ₀ V₀² L.",
    ),
    (
        "scalar_variance",
        "Variance of the scalar",
        "⟨φ²⟩ − ⟨φ⟩²",
        &[("this run", Line::Solid, "scalar_variance")],
        "Without diffusion, the exact solution conserves it.",
    ),
    (
        "scalar_range",
        "Range of the scalar",
        "scalar φ",
        &[("largest", Line::Solid, "scalar_max"), ("smallest", Line::Dashed, "scalar_min")],
        "The exact solution stays within its initial range.",
    ),
    (
        "error",
        "Error",
        "error",
        &[("root mean square", Line::Solid, "error_l2"), ("largest", Line::Dashed, "error_max")],
        "Difference from the exact solution, of the quantity that the verdict names.",
    ),
    (
        "residual",
        "Residual",
        "residual",
        &[("this run", Line::Solid, "residual")],
        "Root mean square of dU/dt, scaled so that acoustic waves have about the same size in all variables.",
    ),
    (
        "implicit_work",
        "Work of implicit steps",
        "per step",
        &[
            ("matrix-vector products", Line::Solid, "linear_products"),
            ("Newton iterations", Line::Dashed, "newton_corrections"),
        ],
        "Work of the last step before each row, summed over its stages.",
    ),
];

/// Figures of a column of every passive scalar, named `SCALAR_column`: name, title, y label, column, caption.
const PASSIVE_FIGURES: [(&str, &str, &str, &str, &str); 2] = [
    (
        "passive_variance",
        "Variance of the passive scalars",
        "⟨ρφ''²⟩ / ⟨ρ⟩",
        "variance",
        "φ'' = φ − ⟨ρφ⟩/⟨ρ⟩.",
    ),
    (
        "passive_dissipation",
        "Dissipation of the passive scalars",
        "χ",
        "dissipation",
        "χ = ⟨2 μ/(Re Sc) ∂ⱼφ ∂ⱼφ⟩ from gradients: on a resolved grid, the rate at which diffusion reduces ⟨ρφ''²⟩.",
    ),
];

/// The terms of the kinetic-energy budget.
const BUDGET_TERMS: Columns = &[
    ("viscous", Line::Dashed, "ke_rate_viscous"),
    ("pressure", Line::Dotted, "ke_rate_pressure"),
    ("convection", Line::Long, "ke_rate_convection"),
    ("filter", Line::Thin, "ke_rate_filter"),
    ("force", Line::Ink, "ke_rate_forcing"),
];

/// The figures that the columns of a series allow, in the order of the report, without figures that would show only round-off.
pub(crate) fn figures(
    series: &Series,
    reference: Option<&Reference>,
    summary: &Summary,
) -> Vec<Figure> {
    let steady = summary.scheme.integrator == "steady";
    // Time means nothing where steps grow by orders of magnitude.
    let abscissa = if steady { "step" } else { "time" };
    let history = History { series, time: series.column(abscissa).unwrap_or_default() };
    let round_off = RoundOff::of(series, summary);
    let from_columns = COLUMN_FIGURES.map(|(name, title, y_label, columns, caption)| {
        let columns =
            columns.iter().map(|&(label, line, column)| history.column(label, line, column));
        let mut plot = Plot::over_time(title, y_label, columns.collect::<Option<_>>()?);
        plot.logarithmic = ["error", "residual"].contains(&name);
        Some(Figure { name: name.into(), plot, caption: caption.into() })
    });
    let [enstrophy, forces @ .., lift, variance, range, mut error, residual, work] = from_columns;
    if let Some(error) = error.as_mut().filter(|_| variance.is_some()) {
        error.caption = "Difference between the scalar and the exact solution.".into();
    }
    let has_vorticity = |omega2: &[f64]| largest(omega2) > round_off.enstrophy;
    let enstrophy = enstrophy.filter(|_| series.column("enstrophy").is_some_and(has_vorticity));
    let has_lift = |values: &[f64]| largest(values) > round_off.force;
    let mut lift = lift.filter(|_| series.column("lift").is_some_and(has_lift));
    if let (Some(lift), Some(shedding)) = (&mut lift, Shedding::of(series, &round_off)) {
        lift.caption = format!("{} {}", lift.caption, shedding.sentence());
    }
    let energy = kinetic_energy(&history, reference);
    let dissipation = dissipation(&history, reference, summary);
    let budget = round_off.has_budget(series).then(|| budget(&history, summary)).flatten();
    let all = [energy, dissipation, enstrophy, budget].into_iter().chain(forces);
    let all =
        all.chain([lift, resolution(&history, summary), variance, range, error, residual, work]);
    let mut all: Vec<Figure> = all.chain(passive(&history)).flatten().collect();
    if steady {
        all.iter_mut().for_each(|figure| figure.plot.x_label = "step");
    }
    all
}

/// A series and its times.
struct History<'a> {
    series: &'a Series,
    time: &'a [f64],
}

impl History<'_> {
    fn column(&self, label: &str, line: Line, name: &str) -> Option<Curve> {
        self.series.column(name).map(|values| Curve::new(label, line, self.time, values))
    }

    /// A reference curve over the times of the run.
    fn reference(&self, reference: &Reference, values: &[f64]) -> Curve {
        let end = self.time.iter().copied().fold(0.0, f64::max);
        let covered = reference.time.partition_point(|&time| time <= end);
        Curve::new("reference", Line::Reference, &reference.time[..covered], values)
    }
}

/// Figures of the passive scalars, where there are any.
fn passive(history: &History) -> [Option<Figure>; 2] {
    let names = history.series.names().iter();
    let scalars: Vec<&str> =
        names.filter_map(|name| name.strip_suffix("_rate_diffusion")).collect();
    PASSIVE_FIGURES.map(|(name, title, y_label, column, caption)| {
        let curves = scalars.iter().zip(Line::SIDE_BY_SIDE[..6].iter().cycle()).filter_map(
            |(scalar, &line)| history.column(scalar, line, &format!("{scalar}_{column}")),
        );
        let curves: Vec<Curve> = curves.collect();
        let plot = (!curves.is_empty()).then(|| Plot::over_time(title, y_label, curves))?;
        Some(Figure { name: name.into(), plot, caption: caption.into() })
    })
}

fn reference_note(reference: Option<&Reference>) -> String {
    reference.map_or(String::new(), |r| format!(" Reference: {}.", cited(&r.source)))
}

/// A data source as HTML without a full stop.
pub(crate) fn cited(source: &str) -> String {
    powers(&escape(source.trim_end_matches('.')))
}

/// `64^3` in plain text as an HTML superscript.
fn powers(html: &str) -> String {
    let mut parts = html.split('^');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        match part.split_at(digits) {
            ("", rest) => format!("{text}^{rest}"),
            (power, rest) => format!("{text}<sup>{power}</sup>{rest}"),
        }
    })
}

fn kinetic_energy(history: &History, reference: Option<&Reference>) -> Option<Figure> {
    let mut curves = vec![history.column("this run", Line::Solid, "kinetic_energy")?];
    curves.extend(reference.map(|r| history.reference(r, &r.kinetic_energy)));
    let plot = Plot::over_time("Kinetic energy", "kinetic energy E", curves);
    let caption = format!("E = ⟨ρ u·u⟩ / 2.{}", reference_note(reference));
    Some(Figure { name: "kinetic_energy".into(), plot, caption })
}

/// `None` for an inviscid flow, whose energy budget already shows all losses.
fn dissipation(
    history: &History,
    reference: Option<&Reference>,
    summary: &Summary,
) -> Option<Figure> {
    summary.reynolds?;
    let mut curves = vec![history.column("from gradients", Line::Solid, "dissipation")?];
    // Walls also do work.
    let loss = energy_loss(history.series).filter(|_| !summary.walls);
    curves
        .extend(loss.map(|loss| Curve::new("from the energy", Line::Dashed, history.time, &loss)));
    curves.extend(reference.map(|r| history.reference(r, &r.dissipation)));
    let plot = Plot::over_time("Dissipation", "dissipation ε", curves);
    let force = history.series.column("ke_rate_forcing").map_or("", |_| " + ⟨F·u⟩");
    let from_energy = match summary.walls {
        true => String::new(),
        false => format!(
            " From the energy: −dE/dt + ⟨p ∇·u⟩{force}. The gap between the two is numerical dissipation."
        ),
    };
    let caption =
        format!("From gradients: ε = ⟨τ : ∇u⟩.{from_energy}{}", reference_note(reference));
    Some(Figure { name: "dissipation".into(), plot, caption })
}

fn budget(history: &History, summary: &Summary) -> Option<Figure> {
    let mut curves = vec![history.column("dE/dt", Line::Solid, "ke_rate")?];
    for &(label, line, column) in BUDGET_TERMS {
        // Terms that are switched off need no curve; the others are informative even where they are zero.
        let off = match column {
            "ke_rate_filter" => history.series.column(column).is_some_and(|v| largest(v) == 0.0),
            "ke_rate_viscous" => summary.reynolds.is_none(),
            _ => false,
        };
        if !off {
            curves.extend(history.column(label, line, column));
        }
    }
    let closes = budget_residual(history.series).map_or(String::new(), |(residual, largest)| {
        let (residual, largest) = (number(residual), number(largest));
        format!(" The terms add up to dE/dt within {residual} (largest |dE/dt|: {largest}).")
    });
    let plot = Plot::over_time("Energy budget", "rate of change of E", curves);
    let caption = format!("Budget terms of dE/dt in the discrete equations.{closes}");
    Some(Figure { name: "budget".into(), plot, caption })
}

/// The largest |dE/dt − sum of its terms| and the largest |dE/dt| over all finite rows.
pub(crate) fn budget_residual(series: &Series) -> Option<(f64, f64)> {
    let rate = series.column("ke_rate")?;
    let present = |(_, _, column): &&(_, _, &str)| {
        *column != "ke_rate_forcing" || series.column(column).is_some()
    };
    let terms = BUDGET_TERMS.iter().filter(present).map(|(_, _, column)| series.column(column));
    let terms: Vec<&[f64]> = terms.collect::<Option<_>>()?;
    let residual = |row: usize| (rate[row] - terms.iter().map(|term| term[row]).sum::<f64>()).abs();
    let largest = |f: &dyn Fn(usize) -> f64| {
        (0..rate.len()).map(f).filter(|v| v.is_finite()).reduce(f64::max)
    };
    Some((largest(&residual)?, largest(&|row| rate[row].abs())?))
}

/// `None` where the error is known: it says more than kmax η.
fn resolution(history: &History, summary: &Summary) -> Option<Figure> {
    summary.resolution.filter(|_| !history.series.has_error())?;
    let values = kmax_etas(history.series, &summary.parts())?;
    values.iter().any(|value| value.is_finite()).then_some(())?;
    let curve = Curve::new("this run", Line::Solid, history.time, &values);
    let mut plot = Plot::over_time("Resolution", "kmax η", vec![curve]);
    plot.mark = Some((RESOLVED_KMAX_ETA, format!("resolved above {RESOLVED_KMAX_ETA}")));
    let caption = "Largest wavenumber of the grid, kmax = π/h, times the Kolmogorov length \
                   η = (ν³/ε)<sup>1/4</sup>.";
    Some(Figure { name: "resolution".into(), plot, caption: caption.into() })
}

/// Drift of the conserved quantities over the whole run: name and number. Between walls only mass is conserved, between symmetry
/// planes not the momentum.
pub(crate) fn conservation(series: &Series, summary: &Summary) -> Vec<(&'static str, f64)> {
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
    let Summary { walls, symmetry, .. } = *summary;
    let momentum = momentum.into_iter().filter_map(drift).reduce(f64::max);
    [
        ("mass, relative", relative("mass")),
        ("momentum, absolute", momentum.filter(|_| !walls && !symmetry)),
        ("total energy, relative", relative("total_energy").filter(|_| !walls)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// A number as HTML: three digits, as a power of ten where it is far from one.
pub(crate) fn number(value: f64) -> String {
    let text = if value == 0.0 {
        "0".to_string()
    } else if (0.001..1e5).contains(&value.abs()) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 5")]
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
    fn powers_are_superscripts() {
        let shown = powers("64^3 modes, t^18 (a^b) of x^");
        assert_eq!(shown, "64<sup>3</sup> modes, t<sup>18</sup> (a^b) of x^");
    }

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
