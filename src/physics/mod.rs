//! The equations: terms composed of operators along the axes, and the same terms in fused sweeps.

mod advection;
mod base_state;
mod body;
mod channel;
mod collective;
mod columns;
mod composed;
mod context;
mod diagnostics;
mod discretisation;
mod drawn;
mod equations;
mod filter_rate;
mod forcing;
mod formulas;
mod fused;
mod gradients;
mod heat_flux;
mod jacobian;
mod metric;
mod navier_stokes;
mod open;
mod options;
mod passive;
mod problem;
mod quantities;
mod rhs;
mod schedule;
mod slots;
mod stability;
mod stage_sweep;
mod step;
mod system;
mod term_group;
mod volume;
mod walls;

pub use advection::Advection;
pub use base_state::BaseState;
pub use columns::{
    BODY_COLUMNS, CHANNEL_COLUMNS, ERROR_COLUMNS, FLOW_COLUMNS, FORCING_COLUMNS, GRADIENT_COLUMNS,
    SCALAR_COLUMNS, columns, columns_of,
};
pub use drawn::Drawn;
pub(crate) use forcing::longest;
pub use forcing::{
    Force, ForcingConfig, GradientStrength, Held, Linear, PressureGradient, Stochastic,
};
pub(crate) use formulas::AddScaled;
pub use jacobian::{Jacobian, PseudoTime};
pub use navier_stokes::NavierStokes;
pub use options::{Convection, EnergyForm, SchemeConfig, Variable, ViscousForm};
pub use problem::Problem;
pub use stability::Limits;
pub(crate) use stability::instabilities;
pub use stage_sweep::{StagePart, StageSweep};
pub use step::StageWork;
pub(crate) use step::{
    FieldCounts, StepParts, all_sweeps, composed_scratch_fields, sweeps_of_stages,
};
pub(crate) use system::add_scaled;
pub use system::{Diagnostics, PendingCheck, Stage, System, TimeLevel};
pub use term_group::TermGroup;
pub(crate) use volume::VolumeAverage;

pub use crate::gas::{Gas, Viscosity};
