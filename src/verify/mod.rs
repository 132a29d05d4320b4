//! `kolmo verify`: checks that the program computes correct results on this machine.
//!
//! Every check measures one value on the requested backend and ranks, and compares it with a bound from theory or from a paper.
//! [`FAMILIES`] is the list of all families; each family is a file.

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

/// Progress messages during the checks.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The family of this name begins.
    Begins(&'a str),
    /// A family has ended, with its checks as text.
    Ends(&'a str),
}

/// Run the checks requested by `options`; `tell` is called on every rank to report progress. Collective.
///
/// # Errors
/// [`Error::Config`](crate::Error::Config) for an impossible request, before anything is run; errors of a device; errors of
/// `tell`. A failed check is not an error: it is part of the report.
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
