//! Diagnostics of passive scalars between steps.

use super::PassiveScalars;
use super::sweep::term_slots;
use crate::backend::{Backend, Field, Weights};
use crate::error::Result;
use crate::physics::slots::{self, conserved, exactly};
use crate::physics::system::PendingCheck;
use crate::physics::volume::VolumeAverage;

impl PassiveScalars {
    /// The columns of each scalar in the series, one scalar after another: see [`columns_of`](super::super::columns_of). `scratch` has the
    /// size of U and is overwritten; `filter_rates` is the rate of change of ⟨ρφ''²⟩ of each scalar by the filter. Collective.
    pub(in crate::physics) fn diagnostics(
        &self,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        u: &[Field],
        scratch: &mut [Field],
        filter_rates: &[f64],
    ) -> Result<Vec<f64>> {
        let (flow, state) = u.split_at(conserved::COUNT);
        let mut row = Vec::new();
        for ((of, state), filter) in self.each.iter().zip(state).zip(filter_rates) {
            let pair = [&flow[conserved::MASS], state];
            let [mass, carried, _] = volume.of(backend, &self.moments, &pair, &[])?;
            let [max, negative_min] = backend.reduce(&self.extrema, &pair, &[])?.wait()?;
            let mean = carried / mass;
            let mut terms: [&mut Field; term_slots::COUNT] =
                exactly(scratch.iter_mut().take(term_slots::COUNT));
            terms.iter_mut().for_each(|field| backend.clear(field));
            let mut fields: [&Field; 12] = [state; 12];
            fields[..conserved::COUNT].copy_from_slice(&slots::flow(flow));
            let read = self.metric.append_to(&fields[..=conserved::COUNT]);
            backend.run_all(&mut of.terms.iter(), &read, &mut terms, Weights::ADD);
            for (field, term) in fields[conserved::COUNT + 1..].iter_mut().zip(terms) {
                *field = term;
            }
            let parameters = [mean, of.diffusivity];
            let [square, dissipation, convection, diffusion] =
                volume.of(backend, &self.terms, &fields, &parameters)?;
            row.extend([mean, square / mass, -negative_min, max, dissipation]);
            row.extend([convection + diffusion + filter, convection, diffusion, *filter]);
        }
        Ok(row)
    }

    /// Write ⟨ρφ''²⟩ of each scalar into `to`, φ'' the deviation from ⟨ρφ⟩/⟨ρ⟩.
    pub(in crate::physics) fn variances(
        &self,
        backend: &dyn Backend,
        volume: &VolumeAverage,
        u: &[Field],
        to: &mut [f64],
    ) -> Result<()> {
        let (flow, state) = u.split_at(conserved::COUNT);
        for (state, to) in state.iter().zip(to) {
            let pair = [&flow[conserved::MASS], state];
            let [mass, mean, square] = volume.of(backend, &self.moments, &pair, &[])?;
            *to = square - mean * mean / mass;
        }
        Ok(())
    }

    /// Start the reduction for the extreme values of each scalar. Collective.
    pub(in crate::physics) fn begin_check(
        &self,
        backend: &dyn Backend,
        u: &[Field],
        pending: &mut PendingCheck,
    ) -> Result<()> {
        let (flow, state) = u.split_at(conserved::COUNT);
        for state in state {
            pending.push(backend.reduce(&self.extrema, &[&flow[conserved::MASS], state], &[])?);
        }
        Ok(())
    }

    /// φ of the scalar `name`, written to `to`; `None` if there is no such scalar.
    pub(in crate::physics) fn fraction<'a>(
        &self,
        backend: &dyn Backend,
        u: &[Field],
        name: &str,
        to: &'a mut Field,
    ) -> Option<&'a Field> {
        let at = self.each.iter().position(|of| of.name == name)?;
        let pair = [&u[conserved::MASS], &u[conserved::COUNT + at]];
        backend.map(&self.fraction, &pair, &mut [&mut *to], &[]);
        Some(to)
    }
}
