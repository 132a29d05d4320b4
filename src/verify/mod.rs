//! `kolmo verify`: whether the program is right on this machine.
//!
//! Every check measures one figure on the backend and the ranks that the user asks for, and holds it against a bound that
//! mathematics or a paper gives. [`FAMILIES`] is the table of contents; a family is a file.

mod agreement;
mod channels;
mod check;
mod closures;
pub mod conservation;
mod curved;
mod exact;
mod families;
mod fields;
mod filters;
mod forcing;
mod integrators;
pub mod invariance;
mod jet;
pub mod manufactured;
mod open;
mod operators;
mod options;
mod report;
mod scalars;
mod setup;
mod stretched;
mod taylor_green;
mod turbulence;
mod vortices;
mod walls;
pub mod waves;

use std::sync::Arc;
use std::time::Instant;

pub use check::Check;
pub use families::{FAMILIES, Family};
pub use options::VerifyOptions;
pub use report::Report;

use crate::comm::{Communicator, all_or_error};
use crate::error::Result;
use setup::Setup;

/// What is told while checks are carried out.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The family of this name begins.
    Begins(&'a str),
    /// A family has ended: its checks, as text.
    Ends(&'a str),
}

/// Carry out the checks that `options` ask for; `tell` is called on every rank as they go on. Collective.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) where it asks for what cannot be, before anything is run; what a device says; what `tell`
/// does. A check that fails is no error: the report has it.
pub fn verify(
    options: &VerifyOptions,
    comm: &Arc<dyn Communicator>,
    tell: &dyn Fn(Progress<'_>) -> Result<()>,
) -> Result<Report> {
    let families = all_or_error(&**comm, options.families())?;
    all_or_error(&**comm, options.check_page())?;
    let setup = Setup::new(options, comm)?;
    let mut report = Report::new(setup.place(), options.quick);
    for family in families {
        all_or_error(&**comm, tell(Progress::Begins(family.name)))?;
        let start = Instant::now();
        let checks = (family.checks)(&setup)?;
        report.add(family, checks, start.elapsed().as_secs_f64());
        all_or_error(&**comm, tell(Progress::Ends(&report.latest())))?;
    }
    Ok(report)
}
