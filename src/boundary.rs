//! Boundary conditions at the ends of the axes.

use serde::Serialize;

use crate::gas::Gas;
use crate::grid::{Axis, Domain, End, Grid, Spacing};

/// Conditions along each of x, y, z: `None` where it is periodic, otherwise those at its low and its high end.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Boundaries(pub [Option<[Face; 2]>; 3]);

impl Boundaries {
    /// Periodic along every axis.
    pub const PERIODIC: Self = Self([None; 3]);

    /// These faces at the two ends of `axis`, periodic along the others.
    #[must_use]
    pub fn along(axis: Axis, faces: [impl Into<Face>; 2]) -> Self {
        let mut boundaries = Self::PERIODIC;
        boundaries.0[axis.index()] = Some(faces.map(Into::into));
        boundaries
    }

    /// Whether every axis is periodic.
    pub fn is_periodic(&self) -> bool {
        *self == Self::PERIODIC
    }

    /// Every non-periodic face: its axis, its end (0 low, 1 high), and its condition.
    pub fn faces(&self) -> impl Iterator<Item = (Axis, usize, Face)> + '_ {
        let ends = |axis: Axis| self.0[axis.index()].into_iter().flatten().enumerate();
        Axis::ALL
            .into_iter()
            .flat_map(move |axis| ends(axis).map(move |(end, face)| (axis, end, face)))
    }

    /// The only non-periodic axis with more than one of `points`, if both its ends are walls.
    pub fn between_walls(&self, points: [usize; 3]) -> Option<Axis> {
        let has_ends = |axis: &Axis| self.0[axis.index()].is_some() && points[axis.index()] > 1;
        let mut axes = Axis::ALL.into_iter().filter(has_ends);
        let axis = axes.next().filter(|_| axes.next().is_none())?;
        self.0[axis.index()]?.map(Face::wall).iter().all(Option::is_some).then_some(axis)
    }

    /// Whether the flow beyond some face is the initial flow.
    pub fn need_initial_state(&self) -> bool {
        self.faces().any(|(.., face)| face.open().and_then(|it| it.known()) == Some(Known::Start))
    }

    /// The largest sum of σ of sponges, as if all overlapped.
    pub fn damping(&self) -> f64 {
        let sponges = self.faces().filter_map(|(.., face)| face.open()?.sponge);
        sponges.map(|sponge| sponge.strength).sum()
    }

    /// The grid of `points` over `domain` with these ends, before its lines are stretched or curved as `spacings` says. An axis with
    /// one point is periodic, because nothing varies along it.
    pub fn grid(&self, points: [usize; 3], domain: &Domain, spacings: [Spacing; 3]) -> Grid {
        let ends = [0, 1, 2].map(|a| {
            let faces = self.0[a].filter(|_| points[a] > 1);
            faces.map(|faces| ends(faces, spacings[a]))
        });
        Grid::new(points, domain, ends)
    }

    /// Checks that a block of `n` points along `axis` is large enough for the conditions at the ends of its lines.
    ///
    /// # Errors
    /// An error message, if it has too few points.
    pub fn check_block(&self, axis: Axis, n: usize) -> Result<(), String> {
        let needed = self.0[axis.index()].into_iter().flatten().map(Face::points).max();
        match needed.filter(|needed| n < *needed) {
            None => Ok(()),
            Some(needed) => {
                Err(format!("a rank has {n} points along {}; its ends need {needed}", axis.name()))
            }
        }
    }
}

/// How operators are closed between `faces`. On equally spaced lines without a wall, waves do not grow with Taylor rows at open faces; on
/// others they may (`validation/stability.py`). On coarse curved lines they grow with rows that sum by parts: there the equations are not a
/// derivative times a factor.
pub fn ends(faces: [Face; 2], spacing: Spacing) -> [End; 2] {
    let is_taylor = match spacing {
        Spacing::Equal => faces.iter().all(|face| face.wall().is_none()),
        Spacing::Stretched => false,
        Spacing::Curved => true,
    };
    faces.map(|face| match face {
        Face::Symmetry => End::Symmetry,
        Face::Open(_) if is_taylor => End::Taylor,
        Face::Wall(_) | Face::Open(_) => End::ByParts,
    })
}

/// Condition at one end of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Face {
    /// A no-slip wall.
    Wall(Wall),
    /// A symmetry plane, equivalent to an adiabatic slip wall: the flow beyond it is the mirror image of the flow in front of it.
    Symmetry,
    /// An open face, through which gas enters or leaves.
    Open(Open),
}

impl Face {
    /// The wall, if it is one.
    pub fn wall(self) -> Option<Wall> {
        match self {
            Face::Wall(wall) => Some(wall),
            _ => None,
        }
    }

    /// Number of points along a line that the condition reads, including that on the face.
    pub fn points(self) -> usize {
        match self {
            Face::Wall(_) => Wall::POINTS,
            Face::Open(_) => Open::POINTS,
            Face::Symmetry => 1,
        }
    }

    /// The open face, if it is one.
    pub fn open(self) -> Option<Open> {
        match self {
            Face::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The velocity at the face, if it is known.
    pub fn velocity(self) -> Option<[f64; 3]> {
        match self {
            Face::Wall(wall) => Some(wall.velocity),
            Face::Open(open) => open.known()?.stream().map(|stream| stream.velocity),
            Face::Symmetry => None,
        }
    }
}

impl From<Wall> for Face {
    fn from(wall: Wall) -> Self {
        Face::Wall(wall)
    }
}

/// A no-slip wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wall {
    /// Thermal condition.
    #[serde(flatten)]
    pub heat: Heat,
    /// Velocity, without a component normal to the wall; on a grid curvilinear in the plane, along the grid lines instead of x and y.
    pub velocity: [f64; 3],
    /// ω of a wall that moves with `velocity` times cos ωt; 0 for steady motion.
    pub frequency: f64,
}

/// An open face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// The known part of the flow beyond it.
    pub beyond: Beyond,
    /// σ: relaxation rate towards the known flow, in units of the wave speed over the length of the box.
    pub relaxation: f64,
    /// A zone in front of the face in which the flow is damped.
    pub sponge: Option<Sponge>,
}

/// The known part of the flow beyond an open face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beyond {
    /// The pressure of the gas outside.
    Outflow(f64),
    /// Velocity and temperature of the incoming gas; also the pressure, if the inflow is supersonic.
    Inflow(Known),
    /// The complete state. The direction of the flow determines which part of it is used.
    FarField(Known),
}

/// The flow beyond a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// A uniform stream.
    Stream(Stream),
    /// The initial flow of the case at each point.
    Start,
}

impl Known {
    /// The stream, if it is one.
    pub fn stream(self) -> Option<Stream> {
        match self {
            Known::Stream(stream) => Some(stream),
            Known::Start => None,
        }
    }
}

/// A uniform flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stream {
    /// (u, v, w).
    pub velocity: [f64; 3],
    /// T.
    pub temperature: f64,
    /// p.
    pub pressure: f64,
}

impl Stream {
    /// The gas at rest of the scaling.
    pub fn at_rest(gas: &Gas) -> Self {
        Self { velocity: [0.0; 3], temperature: 1.0, pressure: gas.reference_pressure() }
    }

    /// Whether its velocity along `axis` is above the speed of sound.
    pub fn is_supersonic(&self, gas: &Gas, axis: usize) -> bool {
        self.velocity[axis].abs() * gas.mach > self.temperature.sqrt()
    }
}

/// A zone that damps deviations from the flow beyond a face: σ = strength × (1 − d/width)³ at the distance d.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sponge {
    /// Width, measured from the face.
    pub width: f64,
    /// σ on the face, in units of V₀/L.
    pub strength: f64,
}

impl Open {
    /// Default of σ (Rudy and Strikwerda 1980 found the best between 0.2 and 0.3).
    pub const RELAXATION: f64 = 0.25;
    /// Number of points along a line that the conditions read, including that on the face.
    pub const POINTS: usize = 10;

    /// An outflow to gas at pressure `p`.
    pub const fn outflow(p: f64) -> Self {
        Self::to(Beyond::Outflow(p))
    }

    /// An open face with `beyond` outside.
    pub const fn to(beyond: Beyond) -> Self {
        Self { beyond, relaxation: Self::RELAXATION, sponge: None }
    }

    /// The flow beyond it, if its velocity is known.
    pub fn known(&self) -> Option<Known> {
        match self.beyond {
            Beyond::Inflow(known) | Beyond::FarField(known) => Some(known),
            Beyond::Outflow(_) => None,
        }
    }
}

impl From<Open> for Face {
    fn from(open: Open) -> Self {
        Face::Open(open)
    }
}

/// Thermal condition at a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    /// T.
    Temperature(f64),
    /// The heat flux from the wall into the gas, −λ ∂T/∂n, in units of ρ₀V₀³; 0 for an adiabatic wall.
    HeatFlux(f64),
}

impl Wall {
    /// Number of points along a line that wall conditions use, including the wall point.
    pub const POINTS: usize = 5;

    /// A wall at rest, adiabatic.
    pub const ADIABATIC: Self =
        Self { heat: Heat::HeatFlux(0.0), velocity: [0.0; 3], frequency: 0.0 };

    /// A wall at rest with the temperature `t`.
    pub const fn isothermal(t: f64) -> Self {
        Self { heat: Heat::Temperature(t), ..Self::ADIABATIC }
    }

    /// This wall with another velocity.
    #[must_use]
    pub const fn moving(self, velocity: [f64; 3]) -> Self {
        Self { velocity, ..self }
    }

    /// Velocity at `time`.
    pub fn velocity_at(&self, time: f64) -> [f64; 3] {
        let phase = (self.frequency * time).cos();
        self.velocity.map(|component| component * phase)
    }

    /// Acceleration at `time`.
    pub fn acceleration_at(&self, time: f64) -> [f64; 3] {
        let factor = -self.frequency * (self.frequency * time).sin();
        self.velocity.map(|component| component * factor)
    }
}
