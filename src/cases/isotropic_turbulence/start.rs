//! Construction of the initial fields.

use num_complex::Complex;
use rayon::prelude::*;

use super::waves::Wave;
use super::{IsotropicTurbulence, Pressure};
use crate::cases::{FlowPoint, GridCase, Place};
use crate::comm::{Communicator, all_or_error};
use crate::error::{Error, Result};
use crate::fourier::{Fourier, Mode, Shells, pressure};

/// The modes of the initial state.
struct Modes<'a> {
    case: &'a IsotropicTurbulence,
    shells: Shells,
    /// √(2 E_s/N_s), the length of û, for every shell.
    lengths: Vec<f64>,
    is_plane: bool,
}

impl Modes<'_> {
    /// (|û|, its random part); `None` where û is zero.
    fn wave(&self, mode: &Mode) -> Option<(f64, Wave)> {
        let k = self.shells.wavenumber(mode);
        let length = self.lengths.get(self.shells.shell(k)).copied().filter(|&length| length > 0.0);
        length.map(|length| (length, Wave::new(self.case.seed, mode.periods, k, self.is_plane)))
    }

    /// The field whose coefficients `part` computes from the length of û and its random part. Collective.
    fn field(
        &self,
        comm: &dyn Communicator,
        fourier: &Fourier,
        part: impl Fn(f64, &Wave) -> Complex<f64> + Sync,
    ) -> Vec<f64> {
        let mut modes = fourier.zero_modes(comm);
        modes.add(|_, mode| self.wave(mode).map_or(Complex::ZERO, |(length, w)| part(length, &w)));
        fourier.inverse(comm, modes)
    }
}

/// The number of modes in each of the first `count` shells, including conjugates. Collective.
fn counts(comm: &dyn Communicator, fourier: &Fourier, shells: &Shells, count: usize) -> Vec<f64> {
    let modes = fourier.zero_modes(comm);
    let mut counts = vec![0.0; count];
    for at in 0..modes.values.len() {
        let mode = modes.mode(at);
        if let Some(sum) = counts.get_mut(shells.shell(shells.wavenumber(&mode))) {
            *sum += mode.count;
        }
    }
    // Integers: exact in any order.
    comm.sum(&mut counts);
    counts
}

impl GridCase for IsotropicTurbulence {
    /// u, p, and the values of five fields of [`FlowPoint`].
    fn values(&self) -> usize {
        9
    }

    fn start(&self, place: &Place<'_>, _: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>> {
        let Place { comm, decomposition, ref grid, gas, .. } = *place;
        let energies = self.energies(grid).map_err(|(key, sentence)| {
            Error::refused_with_advice(&format!("case.{key}: {sentence}"))
        });
        let energies = all_or_error(comm, energies)?;
        let fourier = Fourier::new(decomposition, grid.points, comm.size());
        let shells = Shells::new(grid);
        let counts = counts(comm, &fourier, &shells, energies.len());
        let lengths =
            energies.iter().zip(counts).map(|(energy, count)| (2.0 * energy / count).sqrt());
        let is_plane = grid.active_axes().count() == 2;
        let modes = Modes { case: self, shells, lengths: lengths.collect(), is_plane };

        let [sound, vortices] = [self.dilatational, 1.0 - self.dilatational].map(f64::sqrt);
        let mut velocity = [0, 1, 2].map(|a| {
            modes.field(comm, &fourier, |length, wave| vortices * length * wave.solenoidal[a])
        });
        let fluctuation = match self.pressure {
            Pressure::Uniform => vec![0.0; velocity[0].len()],
            Pressure::Poisson => {
                let parts = velocity.each_ref().map(Vec::as_slice);
                let mut pressure_modes = pressure(comm, &fourier, grid, parts);
                if sound > 0.0 {
                    pressure_modes.add(|_, mode| {
                        let sound_pressure =
                            |(length, wave): (f64, Wave)| sound * length / gas.mach * wave.pressure;
                        modes.wave(mode).map_or(Complex::ZERO, sound_pressure)
                    });
                }
                fourier.inverse(comm, pressure_modes)
            }
        };
        if sound > 0.0 {
            for (a, component) in velocity.iter_mut().enumerate() {
                let added = modes
                    .field(comm, &fourier, |length, wave| sound * length * wave.dilatational[a]);
                component.iter_mut().zip(added).for_each(|(u, added)| *u += added);
            }
        }
        let point = |at: usize| {
            let velocity = velocity.each_ref().map(|component| component[at]);
            self.start.point(&gas, velocity, fluctuation[at])
        };
        Ok((0..fluctuation.len()).into_par_iter().map(point).collect())
    }
}
