//! The columns of `series.csv`.

use super::problem::Problem;
use super::{Force, ForcingConfig};

/// Columns of a flow, in order: non-dimensional, volume averages over the box.
pub const FLOW_COLUMNS: [&str; 22] = [
    "step",
    "time",
    "dt",
    "kinetic_energy",
    "enstrophy",
    "dissipation",
    "dissipation_solenoidal",
    "dissipation_dilatational",
    "pressure_dilatation",
    "ke_rate",
    "ke_rate_convection",
    "ke_rate_pressure",
    "ke_rate_viscous",
    "ke_rate_filter",
    "mass",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "total_energy",
    "max_mach",
    "min_density",
    "min_temperature",
];

/// Columns of an advected scalar φ, in order; `mass` is ⟨φ⟩ and `scalar_variance` is ⟨φ²⟩ − ⟨φ⟩².
pub const SCALAR_COLUMNS: [&str; 7] =
    ["step", "time", "dt", "mass", "scalar_variance", "scalar_min", "scalar_max"];

/// Columns added if a force acts; the last one only for a linear force: the contribution of the force to the kinetic energy according to
/// the right-hand side, and its part of `ke_rate`; ⟨F·u⟩, Λ and A of the force at that time.
pub const FORCING_COLUMNS: [&str; 4] =
    ["ke_rate_forcing", "forcing_power", "heat_removed", "forcing_coefficient"];

/// Columns added if a pressure gradient drives the flow, after the first three of [`FORCING_COLUMNS`]: the gradient G, and the bulk
/// velocity ⟨ρu⟩/⟨ρ⟩ along it.
pub const GRADIENT_COLUMNS: [&str; 2] = ["pressure_gradient", "bulk_velocity"];

/// Columns added after these between two walls: the shear stress along the gradient at each wall, the heat flux from each wall into the
/// gas, and the friction Reynolds number √(ρ_w τ_w) δ/μ_w, averaged over both walls, with δ half their distance.
pub const CHANNEL_COLUMNS: [&str; 5] = [
    "wall_shear_low",
    "wall_shear_high",
    "wall_heat_flux_low",
    "wall_heat_flux_high",
    "friction_reynolds",
];

/// Columns added on a curvilinear grid around a body: the drag coefficient along the far-field stream, its pressure and friction parts, and
/// the lift coefficient to the left of the stream. Forces per unit span are in ½ ρ₀ V₀² L.
pub const BODY_COLUMNS: [&str; 6] =
    ["drag", "drag_pressure", "drag_friction", "lift", "lift_pressure", "lift_friction"];

/// Columns added if the exact solution is known: error norms of [`crate::cases::Case::error_quantity`].
pub const ERROR_COLUMNS: [&str; 2] = ["error_l2", "error_max"];

/// Columns of a passive scalar φ, each with the prefix of its name and `_`, in order: mean m = ⟨ρφ⟩/⟨ρ⟩, variance ⟨ρ(φ − m)²⟩/⟨ρ⟩,
/// extremes, ⟨2 μ/(Re Sc) ∂ⱼφ ∂ⱼφ⟩, and the rate of ⟨ρ(φ − m)²⟩ with its terms.
const PASSIVE_SCALAR_COLUMNS: [&str; 9] = [
    "mean",
    "variance",
    "min",
    "max",
    "dissipation",
    "rate",
    "rate_convection",
    "rate_diffusion",
    "rate_filter",
];

/// The columns of the passive scalar `name`.
pub fn columns_of(name: &str) -> impl Iterator<Item = String> {
    PASSIVE_SCALAR_COLUMNS.iter().map(move |column| format!("{name}_{column}"))
}

/// The columns of the series of `problem`, in order, except for [`ERROR_COLUMNS`].
pub fn columns(problem: &Problem) -> Vec<String> {
    let columns = if problem.case.is_flow() { &FLOW_COLUMNS[..] } else { &SCALAR_COLUMNS };
    let forced: &[&[&str]] = match &problem.forcing {
        None => &[],
        Some(ForcingConfig { kind: Force::Linear(_), .. }) => &[&FORCING_COLUMNS],
        Some(ForcingConfig { kind: Force::Stochastic(_), .. }) => &[&FORCING_COLUMNS[..3]],
        Some(ForcingConfig { kind: Force::PressureGradient(_), .. }) => {
            match problem.axis_between_walls() {
                None => &[&FORCING_COLUMNS[..3], &GRADIENT_COLUMNS],
                Some(_) => &[&FORCING_COLUMNS[..3], &GRADIENT_COLUMNS, &CHANNEL_COLUMNS],
            }
        }
    };
    let body = if problem.has_body() { &BODY_COLUMNS[..] } else { &[] };
    let scalars = problem.scalars.iter().flat_map(|scalar| columns_of(&scalar.name));
    columns
        .iter()
        .chain(forced.iter().copied().flatten())
        .chain(body)
        .map(ToString::to_string)
        .chain(scalars)
        .collect()
}
