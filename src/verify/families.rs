//! The table of all families of checks.

use super::check::Check;
use super::setup::Setup;
use super::{
    agreement, closures, conservation, curved, exact, filters, forcing, integrators, invariance,
    manufactured, open, operators, scalars, taylor_green, turbulence, vortices, walls, waves,
};
use crate::error::Result;

/// A group of related checks.
pub struct Family {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description of the properties that it verifies.
    pub shows: &'static str,
    /// Runs its checks. Collective.
    pub(super) checks: fn(&Setup) -> Result<Vec<Check>>,
}

/// Every family, from the smallest parts of the method to complete flows.
pub static FAMILIES: [Family; 18] = [
    family(
        "operators",
        "order, error constant and modified wavenumber of every formula",
        operators::checks,
    ),
    family("closures", "order and exactness of the rows at the ends of lines", closures::checks),
    family("filters", "transfer function and order of every filter", filters::checks),
    family(
        "integrators",
        "order and error constant of every explicit Runge-Kutta method",
        integrators::checks,
    ),
    family(
        "manufactured",
        "the right-hand side against a manufactured solution",
        manufactured::checks,
    ),
    family(
        "waves",
        "sound, heat and shear: growth and frequency of linear viscous modes",
        waves::checks,
    ),
    family("exact", "the cases with exact solutions: error and order", exact::checks),
    family(
        "walls",
        "walls: Couette flow, heat flux, Stokes layers, the cavity, channels",
        walls::checks,
    ),
    family("curved", "curvilinear grids: free stream, kinetic energy, orders", curved::checks),
    family("open", "open faces: free stream, sound and vortices that leave", open::checks),
    family("conservation", "mass, momentum, energies, and the energy budget", conservation::checks),
    family("forcing", "forces: growth, momentum, power, and heat removal", forcing::checks),
    family(
        "scalars",
        "passive scalars: constants, variance and its budget, decay",
        scalars::checks,
    ),
    family("invariance", "free stream, moving frame, turned axes, symmetries", invariance::checks),
    family(
        "taylor-green",
        "the Taylor-Green vortex: short-time series and reference curves",
        taylor_green::checks,
    ),
    family(
        "vortices",
        "Kida's vortex and the ABC flow: balance, symmetries and decay",
        vortices::checks,
    ),
    family(
        "turbulence",
        "the start of isotropic turbulence: its spectrum and its pressure",
        turbulence::checks,
    ),
    family("agreement", "devices and ranks agree with one host", agreement::checks),
];

const fn family(
    name: &'static str,
    shows: &'static str,
    checks: fn(&Setup) -> Result<Vec<Check>>,
) -> Family {
    Family { name, shows, checks }
}
