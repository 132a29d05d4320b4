//! Two shear layers in a periodic box that roll up (Bell, Colella and Glaz 1989; Brown and Minion 1995; Minion and Brown 1997).

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{About, Definition, Domain, FlowCase, FlowPoint, require};
use crate::gas::Gas;
use crate::typed::positive;

/// Published layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// s = 30 (Bell, Colella and Glaz 1989).
    #[default]
    Thick,
    /// s = 80 (Minion and Brown 1997).
    Thin,
}

/// In the box [0, 1]², with L its length:
///
/// ```text
/// u = tanh s(y − ¼) for y ≤ ½, tanh s(¾ − y) for y > ½
/// v = δ sin 2πx,  w = 0,  ρ = 1,  p = 1 / (γ Ma²)
/// ```
///
/// This u has a kink where the layers meet, of slope 8 s exp(−s/2). Here u is the sum over all periodic images,
///
/// ```text
/// u = −1 + Σₘ [tanh s(y − ¼ − m) − tanh s(y − ¾ − m)]
/// ```
///
/// which is smooth and differs from the published one by at most 2 exp(−s/2) (6e-7 for the thick layer). In another box x and y are in
/// units of its lengths. A uniform pressure is not that of the incompressible flow, whose p' is O(δ): the difference radiates as sound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DoubleShearLayer {
    /// The published layer.
    pub layer: Layer,
    /// s, overriding that of `layer`.
    #[serde(deserialize_with = "positive")]
    pub sharpness: Option<f64>,
    /// δ.
    pub perturbation: f64,
}

impl Default for DoubleShearLayer {
    fn default() -> Self {
        DoubleShearLayer { layer: Layer::Thick, sharpness: None, perturbation: 0.05 }
    }
}

/// Smallest s: below it, the layers overlap, and more images would matter.
const MIN_SHARPNESS: f64 = 10.0;
/// The images included, −2 to 2: the next are below 2 exp(−4.5 s) = 6e-20.
const IMAGES: i32 = 2;

impl DoubleShearLayer {
    pub(super) const ABOUT: About = About {
        name: "double-shear-layer",
        title: "Double shear layer",
        summary: "two shear layers that roll up into vortices; thin ones test under-resolved schemes (2-D)",
        input: include_str!("../../configs/double-shear-layer.toml"),
        mach: |_| 0.1,
        reynolds: 1e4,
        domain: Domain::cube(1.0),
        needs: [true, true, false],
    };

    /// s.
    fn s(&self) -> f64 {
        self.sharpness.unwrap_or(match self.layer {
            Layer::Thick => 30.0,
            Layer::Thin => 80.0,
        })
    }
}

impl Definition for DoubleShearLayer {
    fn problems(&self, _: &Gas, _: &Domain) -> Vec<(&'static str, String)> {
        let s = self.s();
        require(s >= MIN_SHARPNESS, "sharpness", || {
            format!("sharpness = {s} lets the layers overlap; it must be at least {MIN_SHARPNESS}")
        })
    }
}

impl FlowCase for DoubleShearLayer {
    fn at(&self, gas: &Gas, domain: &Domain, _: [bool; 3], x: [f64; 3], _: f64) -> FlowPoint {
        let [x, y] = [0, 1].map(|j| (x[j] - domain.origin[j]) / domain.length[j]);
        let layer = |middle: f64| (self.s() * (y - middle)).tanh();
        let images = (-IMAGES..=IMAGES).map(f64::from);
        let u = images.map(|m| layer(0.25 + m) - layer(0.75 + m)).sum::<f64>() - 1.0;
        let v = self.perturbation * (TAU * x).sin();
        FlowPoint { density: 1.0, velocity: [u, v, 0.0], pressure: gas.reference_pressure() }
    }
}
