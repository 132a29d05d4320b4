//! The filter F as a rate: (F U − U)/τ is a part of dU/dt and replaces the filter of the state between steps. A steady flow then does not
//! depend on the sizes of the steps taken to reach it.

use super::navier_stokes::NavierStokes;
use super::slots::{conserved, exactly};
use super::system::add_scaled;
use crate::backend::{Backend, Field, Weights};
use crate::error::Result;

/// 1/τ, and F U − U.
pub(super) struct FilterRate {
    rate: f64,
    difference: Vec<Field>,
}

impl FilterRate {
    /// For a flow in fields of `len` values.
    pub(super) fn new(backend: &dyn Backend, time: f64, len: usize) -> Result<Self> {
        let difference =
            (0..conserved::COUNT).map(|_| backend.zeros(len)).collect::<Result<_>>()?;
        Ok(Self { rate: 1.0 / time, difference })
    }
}

impl NavierStokes {
    /// Compute F U − U of the flow `u`, if the filter is a rate.
    pub(super) fn update_filter_difference(&mut self, u: &[Field]) {
        let Some(FilterRate { difference, .. }) = &mut self.filter_rate else { return };
        let backend = &*self.backend;
        for (difference, u) in difference.iter_mut().zip(u) {
            backend.copy(u, difference);
        }
        let mut to: [&mut Field; conserved::COUNT] = exactly(difference.iter_mut());
        for sweep in &self.filter_sweeps {
            backend.run(sweep, &[], &mut to, Weights::ADD);
        }
        add_scaled(backend, &self.formulas.add_scaled, difference, -1.0, u);
    }

    /// `rate` += (F U − U)/τ, and `u` += `advance` times the same, with the difference computed from U before.
    pub(super) fn add_filter(&self, [u, rate]: [&mut [Field]; 2], advance: f64) {
        let Some(filter) = &self.filter_rate else { return };
        let (backend, add) = (&*self.backend, &self.formulas.add_scaled);
        add_scaled(backend, add, rate, filter.rate, &filter.difference);
        if advance != 0.0 {
            add_scaled(backend, add, u, advance * filter.rate, &filter.difference);
        }
    }

    /// Rate of change of ½ ⟨ρ u·u⟩ by the filter, if it is a rate. Collective.
    pub(super) fn filter_energy_rate(&mut self, u: &[Field]) -> Result<Option<f64>> {
        self.update_filter_difference(u);
        let Some(FilterRate { rate, difference }) = &self.filter_rate else { return Ok(None) };
        Ok(Some(rate * self.energy_rate_of(u, difference)?))
    }
}
