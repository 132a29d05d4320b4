//! Laminar boundary layer growing along a flat plate.

mod similarity;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use similarity::Similarity;

use super::{About, Definition, Domain, FlowPoint, GridCase, Place};
use crate::boundary::{Beyond, Boundaries, Known, Open, Wall};
use crate::error::{Error, Result};
use crate::gas::Gas;
use crate::typed::positive;

/// A stream with ρ = u = T = 1 along x over a plate at y = 0. The initial state is the boundary layer of [`Similarity`]. It enters at the
/// low end of x, where its displacement thickness δ* is the unit of length, so that Re is Re_δ* there, and leaves at the high end. The high
/// end of y is a far field, through which the displaced fluid leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoundaryLayer {
    /// T of the plate; `None` for an adiabatic plate.
    #[serde(deserialize_with = "positive")]
    pub wall_temperature: Option<f64>,
}

impl BoundaryLayer {
    pub(super) const ABOUT: About = About {
        name: "boundary-layer",
        title: "Boundary layer",
        summary: "laminar boundary layer on a flat plate; starts from the similarity solution",
        input: include_str!("../../../configs/boundary-layer.toml"),
        mach: |_| 0.2,
        reynolds: 300.0,
        domain: Domain { origin: [0.0; 3], length: [100.0, 20.0, 20.0] },
        needs: [true, true, false],
    };

    /// The initial similarity solution, if one exists.
    pub fn similarity(&self, gas: &Gas) -> Option<Similarity> {
        Similarity::new(gas, self.wall_temperature)
    }
}

impl Definition for BoundaryLayer {
    fn boundaries(&self, gas: &Gas) -> Boundaries {
        let inflow = Open::to(Beyond::Inflow(Known::Start));
        let outflow = Open::outflow(gas.reference_pressure());
        let far_field = Open::to(Beyond::FarField(Known::Start));
        let plate = self.wall_temperature.map_or(Wall::ADIABATIC, Wall::isothermal);
        Boundaries([
            Some([inflow.into(), outflow.into()]),
            Some([plate.into(), far_field.into()]),
            None,
        ])
    }

    fn problems(&self, gas: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        if gas.is_inviscid() {
            let what =
                "reynolds = inf: without viscosity there is no boundary layer\ngive it a number";
            return vec![("reynolds", what.into())];
        }
        if self.similarity(gas).is_some() {
            return Vec::new();
        }
        vec![("wall_temperature", no_layer_message(self, gas))]
    }
}

/// Message if no solution is found.
fn no_layer_message(layer: &BoundaryLayer, gas: &Gas) -> String {
    let plate = layer
        .wall_temperature
        .map_or("an adiabatic plate".into(), |t| format!("a plate of T = {t}"));
    format!(
        "no boundary layer with a displacement thickness was found over {plate} at mach = {}\nuse a warmer plate, or a slower stream",
        gas.mach
    )
}

impl GridCase for BoundaryLayer {
    fn start(&self, place: &Place<'_>, _: &[(usize, Vec<f64>)]) -> Result<Vec<FlowPoint>> {
        let Place { comm, decomposition, ref grid, domain, gas, .. } = *place;
        let layer = self.similarity(&gas);
        let layer =
            layer.ok_or_else(|| Error::refused_with_advice(&no_layer_message(self, &gas)))?;
        let block = decomposition.block(comm.rank(), grid.points);
        let inflow = layer.inflow();
        let point = |at: usize| {
            let [x, y, _] = grid.coordinates(block.index(at));
            layer.flow(inflow + x - domain.origin[0], y - domain.origin[1])
        };
        Ok((0..block.len()).into_par_iter().map(point).collect())
    }
}
