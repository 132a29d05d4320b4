"""Meanings and units of the columns of tables and of the fields of a run.

Everything is non-dimensional: lengths in L, velocities in V₀, densities in ρ₀, temperatures in T₀, times in L/V₀. Averages
⟨·⟩ are over the volume of the box.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kolmo.errors import KolmoError


class Meaning(NamedTuple):
    """Meaning of a column or a field, and its unit; `1` for a pure number."""

    what: str
    unit: str


_ENERGY, _RATE, _STRESS, _HEAT = "ρ₀V₀²", "ρ₀V₀³/L", "ρ₀V₀²", "ρ₀V₀³"

FIELDS: dict[str, Meaning] = {
    "velocity": Meaning("velocity u", "V₀"),
    "density": Meaning("density ρ", "ρ₀"),
    "pressure": Meaning("pressure p", "ρ₀V₀²"),
    "temperature": Meaning("temperature T", "T₀"),
    "vorticity": Meaning("vorticity ω = curl u", "V₀/L"),
    "q_criterion": Meaning("Q = -∂uᵢ/∂xⱼ ∂uⱼ/∂xᵢ / 2", "V₀²/L²"),
    "dilatation": Meaning("dilatation div u", "V₀/L"),
    "momentum_x": Meaning("momentum ρu", "ρ₀V₀"),
    "momentum_y": Meaning("momentum ρv", "ρ₀V₀"),
    "momentum_z": Meaning("momentum ρw", "ρ₀V₀"),
    "total_energy": Meaning("total energy ρE", _ENERGY),
    "scalar": Meaning("scalar φ", "1"),
}

SERIES: dict[str, Meaning] = {
    "step": Meaning("number of the step", "1"),
    "time": Meaning("time t", "L/V₀"),
    "dt": Meaning("size of the step", "L/V₀"),
    "kinetic_energy": Meaning("⟨ρ u·u⟩/2", _ENERGY),
    "enstrophy": Meaning("⟨ρ ω·ω⟩/2", "ρ₀V₀²/L²"),
    "dissipation": Meaning("⟨τ : ∇u⟩", _RATE),
    "dissipation_solenoidal": Meaning("⟨μ ω·ω⟩/Re", _RATE),
    "dissipation_dilatational": Meaning("4/3 ⟨μ (div u)²⟩/Re", _RATE),
    "pressure_dilatation": Meaning("⟨(p − p₀) div u⟩", _RATE),
    "ke_rate": Meaning("dE/dt of the discrete equations, E the kinetic energy; sum of the terms below", _RATE),
    "ke_rate_convection": Meaning("dE/dt due to convection", _RATE),
    "ke_rate_pressure": Meaning("dE/dt due to the pressure", _RATE),
    "ke_rate_viscous": Meaning("dE/dt due to viscosity", _RATE),
    "ke_rate_filter": Meaning("dE/dt due to the filter", _RATE),
    "ke_rate_forcing": Meaning("dE/dt due to the force", _RATE),
    "mass": Meaning("⟨ρ⟩", "ρ₀"),
    "momentum_x": Meaning("⟨ρu⟩", "ρ₀V₀"),
    "momentum_y": Meaning("⟨ρv⟩", "ρ₀V₀"),
    "momentum_z": Meaning("⟨ρw⟩", "ρ₀V₀"),
    "total_energy": Meaning("⟨ρE⟩", _ENERGY),
    "max_mach": Meaning("largest Mach number", "1"),
    "min_density": Meaning("smallest ρ", "ρ₀"),
    "min_temperature": Meaning("smallest T", "T₀"),
    "forcing_power": Meaning("power of the force ⟨F·u⟩", _RATE),
    "heat_removed": Meaning("uniform sink of heat Λ", _RATE),
    "forcing_coefficient": Meaning("A of linear forcing", "V₀/L"),
    "pressure_gradient": Meaning("pressure gradient G that drives the flow", "ρ₀V₀²/L"),
    "bulk_velocity": Meaning("⟨ρu⟩/⟨ρ⟩ along the pressure gradient", "V₀"),
    "wall_shear_low": Meaning("mean shear stress at the low wall", _STRESS),
    "wall_shear_high": Meaning("mean shear stress at the high wall", _STRESS),
    "wall_heat_flux_low": Meaning("mean heat flux from the low wall into the gas", _HEAT),
    "wall_heat_flux_high": Meaning("mean heat flux from the high wall into the gas", _HEAT),
    "friction_reynolds": Meaning("Re_τ = √(ρ_w τ_w) δ/μ_w", "1"),
    "error_l2": Meaning("root mean square of the error of the density, of ρu or ρv of shear flows, or of the scalar", "ρ₀, ρ₀V₀, or 1"),
    "error_max": Meaning("largest of the same errors", "ρ₀, ρ₀V₀, or 1"),
    "drag": Meaning("drag over ½ρ₀V₀²L", "1"),
    "drag_pressure": Meaning("pressure drag over ½ρ₀V₀²L", "1"),
    "drag_friction": Meaning("friction drag over ½ρ₀V₀²L", "1"),
    "lift": Meaning("lift over ½ρ₀V₀²L", "1"),
    "lift_pressure": Meaning("pressure part of the lift over ½ρ₀V₀²L", "1"),
    "lift_friction": Meaning("friction part of the lift over ½ρ₀V₀²L", "1"),
    "residual": Meaning("root mean square of dU/dt", "V₀/L"),
    "newton_corrections": Meaning("Newton iterations in the last step", "1"),
    "linear_products": Meaning("matrix-vector products of the linear solver in the last step", "1"),
    "scalar_variance": Meaning("⟨φ²⟩ - ⟨φ⟩²", "1"),
    "scalar_min": Meaning("smallest φ", "1"),
    "scalar_max": Meaning("largest φ", "1"),
}

# Computed from the series.
ENERGY_LOSS = Meaning("⟨(p − p₀) div u⟩ − dE/dt plus the rate due to a force", _RATE)

# Columns of each passive scalar; the key follows its name.
_SCALAR: dict[str, Meaning] = {
    "_mean": Meaning("m = ⟨ρφ⟩/⟨ρ⟩ of {}", "1"),
    "_variance": Meaning("⟨ρ(φ - m)²⟩/⟨ρ⟩ of {}", "1"),
    "_min": Meaning("smallest {}", "1"),
    "_max": Meaning("largest {}", "1"),
    "_dissipation": Meaning("⟨2 μ/(Re Sc) ∂ⱼφ ∂ⱼφ⟩ of {}", "ρ₀V₀/L"),
    "_rate": Meaning("d⟨ρ(φ - m)²⟩/dt of {}, sum of the terms below", "ρ₀V₀/L"),
    "_rate_convection": Meaning("d⟨ρ(φ - m)²⟩/dt of {} due to convection", "ρ₀V₀/L"),
    "_rate_diffusion": Meaning("d⟨ρ(φ - m)²⟩/dt of {} due to diffusion", "ρ₀V₀/L"),
    "_rate_filter": Meaning("d⟨ρ(φ - m)²⟩/dt of {} due to the filter", "ρ₀V₀/L"),
}

# Columns of `profile.csv` and `surface.csv`.
LINES: dict[str, Meaning] = {
    **{axis: Meaning(f"coordinate {axis}", "L") for axis in "xyz"},
    "density": FIELDS["density"],
    "scalar": FIELDS["scalar"],
    "exact": Meaning("exact solution", "that of the previous column"),
    "length": Meaning("arc length along the wall up to the point", "L"),
    "pressure_coefficient": Meaning("(p - p∞)/(½ρ₀V₀²)", "1"),
    "friction_coefficient": Meaning("wall friction in the direction of increasing index, over ½ρ₀V₀²", "1"),
}

# Columns of the tables of `statistics/`: those of all tables, then those of each.
_COMMON: dict[str, Meaning] = {
    "step": SERIES["step"],
    "time": SERIES["time"],
    "weight": Meaning("averaging time", "L/V₀"),
    "axis": Meaning("axis of the increments", ""),
    "quantity": Meaning("quantity of the row", ""),
    "density_rms": Meaning("root mean square of ρ - ⟨ρ⟩", "ρ₀"),
    "pressure_rms": Meaning("root mean square of p - ⟨p⟩", "ρ₀V₀²"),
    "temperature_rms": Meaning("root mean square of T - ⟨T⟩", "T₀"),
    "friction_reynolds": SERIES["friction_reynolds"],
}

_MEANS: dict[str, Meaning] = {
    "density": Meaning("⟨ρ⟩", "ρ₀"),
    "pressure": Meaning("⟨p⟩", "ρ₀V₀²"),
    "temperature": Meaning("⟨T⟩", "T₀"),
    "scalar": Meaning("⟨φ⟩", "1"),
    "viscosity": Meaning("⟨μ⟩/Re", "ρ₀V₀L"),
    "density_variance": Meaning("⟨(ρ - ⟨ρ⟩)²⟩", "ρ₀²"),
    "pressure_variance": Meaning("⟨(p - ⟨p⟩)²⟩", "ρ₀²V₀⁴"),
    "temperature_variance": Meaning("⟨(T - ⟨T⟩)²⟩", "T₀²"),
    "scalar_variance": Meaning("⟨(φ - ⟨φ⟩)²⟩", "1"),
}

STATISTICS: dict[str, dict[str, Meaning]] = {
    "moments": _MEANS,
    "spectra": {
        "k": Meaning("wavenumber of the shell, a multiple of 2π over the longest side", "1/L"),
        "modes": Meaning("modes of the shell", "1"),
        "energy": Meaning("energy of the shell; the shells sum to ⟨u·u⟩/2", "V₀²"),
        "energy_solenoidal": Meaning("solenoidal part of the energy", "V₀²"),
        "energy_dilatational": Meaning("dilatational part of the energy", "V₀²"),
        "energy_density_weighted": Meaning("spectrum of √ρ u, which sums to ⟨ρ u·u⟩/2", _ENERGY),
        "dissipation": Meaning("spectrum of the dissipation ⟨τ : ∇u⟩", "ρ₀V₀³/L"),
        "density": Meaning("spectrum of the variance of ρ", "ρ₀²"),
        "pressure": Meaning("spectrum of the variance of p", "ρ₀²V₀⁴"),
        "scalar": Meaning("spectrum of the variance of φ", "1"),
    },
    "structure": {
        "r": Meaning("distance between two points", "L"),
        **{
            f"{side}_{n}": Meaning(f"⟨(δu)^{n}⟩, {side}", f"V₀^{n}")
            for side in ("longitudinal", "transverse")
            for n in (2, 3, 4, 6)
        },
    },
    "gradients": {
        "value": Meaning("gradient over its root mean square", "1"),
        "density": Meaning("probability density", "1"),
    },
    "gradient_moments": {
        "mean_square": Meaning("⟨g²⟩", "V₀²/L²"),
        "skewness": Meaning("⟨g³⟩/⟨g²⟩^(3/2)", "1"),
        "flatness": Meaning("⟨g⁴⟩/⟨g²⟩²", "1"),
    },
    "turbulence": {
        "u_rms": Meaning("u' = (⟨uᵢ'uᵢ'⟩/3)^½", "V₀"),
        "kinetic_energy": Meaning("⟨uᵢ'uᵢ'⟩/2, per unit mass", "V₀²"),
        "dissipation": Meaning("dissipation per unit mass", "V₀³/L"),
        "taylor_scale": Meaning("Taylor scale λ", "L"),
        "reynolds_taylor": Meaning("Re_λ = u'λ/ν", "1"),
        "kolmogorov_length": Meaning("η = (ν³/ε)^¼", "L"),
        "kolmogorov_velocity": Meaning("(νε)^¼", "V₀"),
        "kolmogorov_time": Meaning("(ν/ε)^½", "L/V₀"),
        "kmax_eta": Meaning("πη/h, h the largest spacing", "1"),
        "turbulent_mach": Meaning("⟨uᵢ'uᵢ'⟩^½/⟨c⟩", "1"),
        "integral_scale": Meaning("L₁₁ = π/(2u'²) ∫E/k dk", "L"),
        "turnover_time": Meaning("L₁₁/u'", "L/V₀"),
        "skewness": Meaning("⟨g³⟩/⟨g²⟩^(3/2) of longitudinal gradients, mean of those along x, y, z", "1"),
        "flatness": Meaning("⟨g⁴⟩/⟨g²⟩² of longitudinal gradients, mean of those along x, y, z", "1"),
        "dilatational_energy": Meaning("fraction of the energy in the dilatational velocity", "1"),
        "dilatational_dissipation": Meaning("fraction of the dissipation due to dilatation", "1"),
    },
    "profiles": _MEANS
    | {
        "coordinate": Meaning("wall-normal coordinate", "L"),
        "viscous_stress": Meaning("mean viscous shear stress ⟨τ⟩ on a plane parallel to the walls", _STRESS),
        "turbulent_stress": Meaning("-⟨ρu''v''⟩", _STRESS),
        "total_stress": Meaning("sum of viscous and turbulent stress", _STRESS),
        "heat_conduction": Meaning("-⟨λ ∂T/∂y⟩", _HEAT),
        "turbulent_heat_flux": Meaning("c_p ⟨ρv''T''⟩", _HEAT),
        "total_heat_flux": Meaning("sum of conduction and turbulent heat flux", _HEAT),
        "friction_velocity": Meaning("u_τ = √(τ_w/ρ_w)", "V₀"),
        "wall_distance": Meaning("distance from the nearer wall", "L"),
        "y_plus": Meaning("y ρ_w u_τ/μ_w", "1"),
        "u_plus": Meaning("velocity relative to the wall over u_τ", "1"),
        "u_plus_van_driest": Meaning("∫ √(⟨ρ⟩/ρ_w) du⁺ (van Driest 1951)", "1"),
        "y_star": Meaning("y √(⟨ρ⟩τ_w)/⟨μ⟩ (Huang, Coleman and Bradshaw 1995)", "1"),
        "u_plus_trettel_larsson": Meaning("velocity of Trettel and Larsson (2016)", "1"),
    },
}

# Vectors and tensors; the components follow the key.
_TENSORS: dict[str, Meaning] = {
    "velocity_": Meaning("mean velocity ⟨u_{}⟩", "V₀"),
    "favre_velocity_": Meaning("⟨ρu_{}⟩/⟨ρ⟩", "V₀"),
    "reynolds_stress_": Meaning("⟨u'u'⟩ of the components {}", "V₀²"),
    "favre_stress_": Meaning("⟨ρu''u''⟩/⟨ρ⟩ of the components {}", "V₀²"),
}


def names_of(requested: str | Iterable[str] | None) -> list[str] | None:
    """Return the names of the requested fields, one or several; None for all of them."""
    if requested is None:
        return None
    names = [requested] if isinstance(requested, str) else list(requested) if isinstance(requested, Iterable) else [requested]
    if not all(isinstance(name, str) for name in names):
        raise KolmoError(f"names = {requested!r}; allowed: the name of a field, several of them, or None for all")
    return names


def of_series(name: str, scalars: tuple[str, ...] = ()) -> Meaning | None:
    """Return the meaning of a column of `series.csv` of a run with these passive scalars; None if it is not known."""
    if name in SERIES:
        return SERIES[name]
    for scalar in scalars:
        found = _SCALAR.get(name.removeprefix(scalar)) if name.startswith(scalar) else None
        if found:
            return Meaning(found.what.format(scalar), found.unit)
    return None


def of_statistics(table: str, name: str, scalars: tuple[str, ...] = ()) -> Meaning | None:
    """Return the meaning of a column of a table of `statistics/` of a run with these passive scalars; None if it is not known."""
    for scalar in scalars:
        if (table, name) == ("spectra", f"{scalar}_variance"):
            return Meaning(f"spectrum of the variance of {scalar}", "1")
    own = STATISTICS.get(table, {}) | _COMMON
    if name in own:
        return own[name]
    over_time = of_statistics(table, name.removeprefix("average_")) if name.startswith("average_") else None
    if over_time:
        return Meaning(f"{over_time.what}, also averaged over time", over_time.unit)
    start = next((start for start in _TENSORS if name.startswith(start)), "")
    found = _TENSORS.get(start)
    return Meaning(found.what.format(name.removeprefix(start)), found.unit) if found else None


def of_field(name: str) -> Meaning | None:
    """Return the meaning of a field of a run; None for a passive scalar, whose name the user chose."""
    return FIELDS.get(name)
