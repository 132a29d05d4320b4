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

macro_rules! families {
    ($($name:literal $module:ident $shows:literal)*) => {
        [$(Family { name: $name, shows: $shows, checks: $module::checks }),*]
    };
}

/// Every family, from the smallest parts of the method to complete flows.
pub static FAMILIES: [Family; 18] = families! {
    "operators" operators "order, error constant and modified wavenumber of every formula"
    "closures" closures "order and exactness of the rows at the ends of lines"
    "filters" filters "transfer function and order of every filter"
    "integrators" integrators "order and error constant of every explicit Runge-Kutta method"
    "manufactured" manufactured "the right-hand side against a manufactured solution"
    "waves" waves "sound, heat and shear: growth and frequency of linear viscous modes"
    "exact" exact "the cases with exact solutions: error and order"
    "walls" walls "walls: Couette flow, heat flux, Stokes layers, the cavity, channels"
    "curved" curved "curvilinear grids: free stream, kinetic energy, orders"
    "open" open "open faces: free stream, sound and vortices that leave"
    "conservation" conservation "mass, momentum, energies, and the energy budget"
    "forcing" forcing "forces: growth, momentum, power, and heat removal"
    "scalars" scalars "passive scalars: constants, variance and its budget, decay"
    "invariance" invariance "free stream, moving frame, turned axes, symmetries"
    "taylor-green" taylor_green "the Taylor-Green vortex: short-time series and reference curves"
    "vortices" vortices "Kida's vortex and the ABC flow: balance, symmetries and decay"
    "turbulence" turbulence "the start of isotropic turbulence: its spectrum and its pressure"
    "agreement" agreement "devices and ranks agree with one host"
};
