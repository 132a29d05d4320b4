//! What the time loop needs to know of a set of equations.

use crate::backend::cpu::{Cpu, Field};
use crate::config::Variable;
use crate::error::Result;
use crate::real::Real;

/// Where the run is: what an error message about the state says.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Moment {
    /// Steps done.
    pub step: u64,
    /// Non-dimensional time.
    pub time: f64,
}

/// A set of equations dU/dt = R(U) on a grid.
pub trait System<T: Real> {
    /// The backend the fields live on.
    fn backend(&self) -> &Cpu<T>;

    /// Number of fields in U.
    fn fields(&self) -> usize;

    /// U at t = 0.
    fn initial(&self) -> Vec<Field<T>>;

    /// `rate` = beta × `rate` + scale × R(`u`). With beta = 0 the old content is not read.
    fn rhs(&mut self, u: &[Field<T>], rate: &mut [Field<T>], beta: f64, scale: f64);

    /// The largest 1/dt that the stability limit asks for anywhere. Also looks at every point: a state that the
    /// equations have no meaning for is an error.
    fn inspect(&self, u: &[Field<T>], at: Moment) -> Result<f64>;

    /// Filter U once along every axis. Does nothing where there is no filter.
    fn filter(&mut self, u: &mut [Field<T>]);

    /// The quantity whose budget the series carries (kinetic energy; scalar variance), volume average.
    fn energy(&self, u: &[Field<T>]) -> f64;

    /// Names of what [`System::diagnostics`] returns.
    fn columns(&self) -> &'static [&'static str];

    /// One row of the series. `scratch` has the size of U and is overwritten; `filter_rate` is what the filter did to
    /// [`System::energy`] a unit of time.
    fn diagnostics(
        &mut self,
        u: &[Field<T>],
        scratch: &mut [Field<T>],
        filter_rate: f64,
    ) -> Vec<f64>;

    /// (root mean square, maximum) of the difference between the density, or the scalar, and the exact solution.
    fn error(&self, u: &[Field<T>], time: f64) -> Option<[f64; 2]>;

    /// A field to be written: its components at every point, one after another.
    fn output(&mut self, u: &[Field<T>], variable: Variable) -> Vec<T>;

    /// |ω| (or the scalar) at the points, for the pictures of the report, with its name.
    fn picture(&mut self, u: &[Field<T>]) -> (&'static str, Vec<f64>);
}
