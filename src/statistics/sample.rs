//! Input of the statistics.

use crate::gas::Gas;
use crate::grid::Axis;

/// The fields of one instant at the points of a rank's block, i fastest.
#[derive(Clone, Debug)]
pub enum Sample {
    /// Fields of a flow.
    Flow(Box<Flow>),
    /// φ of an advected scalar.
    Scalar(Vec<f64>),
}

/// The fields of a flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// ρ.
    pub density: Vec<f64>,
    /// u, v, w.
    pub velocity: [Vec<f64>; 3],
    /// p.
    pub pressure: Vec<f64>,
    /// T.
    pub temperature: Vec<f64>,
    /// φ of each passive scalar.
    pub scalars: Vec<Vec<f64>>,
    /// ∂uᵢ/∂xⱼ at 3 i + j, by the operators of the run; 0 along an axis with one point.
    pub gradient: Option<Box<[Vec<f64>; 9]>>,
    /// ⟨μ⟩/Re over the box; 0 without viscosity.
    pub viscosity: f64,
    /// The gas, for its speed of sound and law of viscosity.
    pub gas: Gas,
    /// Additional fields of a flow between walls across one axis, where there is a gradient.
    pub walls: Option<BetweenWalls>,
}

/// Additional fields of a flow between walls across one axis.
#[derive(Clone, Debug)]
pub struct BetweenWalls {
    /// The wall-normal axis.
    pub axis: Axis,
    /// μ/Re.
    pub viscosity: Vec<f64>,
    /// −λ ∂T/∂n, with n along the axis.
    pub conduction: Vec<f64>,
    /// c_p.
    pub heat_capacity: f64,
    /// ρ, p and T of the gas at rest.
    pub at_rest: [f64; 3],
}

/// The two kinds of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Sample::Flow`]
    Flow,
    /// [`Sample::Scalar`]
    Scalar,
}

impl Sample {
    /// The kind of the sample.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Flow(_) => Kind::Flow,
            Self::Scalar(_) => Kind::Scalar,
        }
    }
}
