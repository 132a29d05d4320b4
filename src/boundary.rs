//! What holds at the ends of the axes.

use serde::Serialize;

use crate::gas::Gas;
use crate::grid::{Axis, Domain, End, Grid};

/// What holds along each of x, y, z: `None` where it is periodic, else at its low and its high end.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Boundaries(pub [Option<[Face; 2]>; 3]);

impl Boundaries {
    /// Periodic along every axis.
    pub const PERIODIC: Self = Self([None; 3]);

    /// With these faces at the two ends of `axis` alone.
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

    /// Every face that is not periodic: its axis, its end (0 low, 1 high), and what holds there.
    pub fn faces(&self) -> impl Iterator<Item = (Axis, usize, Face)> + '_ {
        let ends = |axis: Axis| self.0[axis.index()].into_iter().flatten().enumerate();
        Axis::ALL
            .into_iter()
            .flat_map(move |axis| ends(axis).map(move |(end, face)| (axis, end, face)))
    }

    /// The only axis along which more than one of `points` lies between two ends, where both are walls.
    pub fn between_walls(&self, points: [usize; 3]) -> Option<Axis> {
        let has_ends = |axis: &Axis| self.0[axis.index()].is_some() && points[axis.index()] > 1;
        let mut axes = Axis::ALL.into_iter().filter(has_ends);
        let axis = axes.next().filter(|_| axes.next().is_none())?;
        self.0[axis.index()]?.map(Face::wall).iter().all(Option::is_some).then_some(axis)
    }

    /// Whether what is known beyond some face is the flow at the start.
    pub fn know_start(&self) -> bool {
        self.faces().any(|(.., face)| face.open().and_then(|it| it.known()) == Some(Known::Start))
    }

    /// The largest sum of σ of sponges anywhere.
    pub fn damping(&self) -> f64 {
        let sponges = self.faces().filter_map(|(.., face)| face.open()?.sponge);
        sponges.map(|sponge| sponge.strength).sum()
    }

    /// The grid of `points` over `domain` with these ends. Nothing varies along an axis of one point, which is periodic.
    pub fn grid(&self, points: [usize; 3], domain: &Domain) -> Grid {
        let ends = [0, 1, 2].map(|a| self.0[a].filter(|_| points[a] > 1));
        Grid::new(points, domain, ends.map(|ends| ends.map(|faces| faces.map(Face::end))))
    }
}

/// What holds at one end of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Face {
    /// A wall that the gas sticks to.
    Wall(Wall),
    /// A plane of symmetry, which is a wall with slip and without heat: the flow beyond it is the image of that before it.
    Symmetry,
    /// The gas goes in or out.
    Open(Open),
}

impl Face {
    /// What lines end with there.
    pub fn end(self) -> End {
        match self {
            Face::Wall(_) => End::Wall,
            Face::Symmetry => End::Symmetry,
            Face::Open(_) => End::Open,
        }
    }

    /// The wall, where it is one.
    pub fn wall(self) -> Option<Wall> {
        match self {
            Face::Wall(wall) => Some(wall),
            _ => None,
        }
    }

    /// What is known of the flow through it, where it is open.
    pub fn open(self) -> Option<Open> {
        match self {
            Face::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The velocity there, where it is known.
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

/// A wall that the gas sticks to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wall {
    /// What is known of its temperature.
    #[serde(flatten)]
    pub heat: Heat,
    /// Its velocity, without a component through it; on a curvilinear grid of the plane, along the lines of the grid in the place of x and y.
    pub velocity: [f64; 3],
    /// ω of a wall that moves with `velocity` times cos ωt; 0 for one that moves steadily.
    pub frequency: f64,
}

/// A face that the gas goes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// What is known of the flow beyond it.
    pub beyond: Beyond,
    /// σ: how fast the flow relaxes towards what is known, in units of the speed of a wave over the length of the box.
    pub relaxation: f64,
    /// A zone before it in which the flow is damped.
    pub sponge: Option<Sponge>,
}

/// What is known of the flow beyond an open face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Beyond {
    /// The pressure of the gas that it flows into.
    Outflow(f64),
    /// Velocity and temperature of the gas that comes in; the pressure too, where it comes faster than sound.
    Inflow(Known),
    /// The whole state. What of it tells depends on where the gas flows.
    FarField(Known),
}

/// A flow beyond a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// The same everywhere.
    Stream(Stream),
    /// At each point that with which the case starts there.
    Start,
}

impl Known {
    /// The stream, where it is one.
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
    /// From the face on.
    pub width: f64,
    /// σ on the face, in units of V₀/L.
    pub strength: f64,
}

impl Open {
    /// σ unless the user gives it (Rudy and Strikwerda 1980 found the best between 0.2 and 0.3).
    pub const RELAXATION: f64 = 0.25;

    /// The gas leaves to where the pressure is `p`.
    pub const fn outflow(p: f64) -> Self {
        Self::to(Beyond::Outflow(p))
    }

    /// With this beyond it.
    pub const fn to(beyond: Beyond) -> Self {
        Self { beyond, relaxation: Self::RELAXATION, sponge: None }
    }

    /// The flow beyond it, where its velocity is known.
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

/// What is known of the temperature at a wall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    /// T.
    Temperature(f64),
    /// The heat that flows from the wall into the gas, −k μ ∂T/∂n, in units of ρ₀V₀³; 0 for an adiabatic wall.
    HeatFlux(f64),
}

impl Wall {
    /// Points along a line that what holds at a wall is made of, that on the wall among them.
    pub const POINTS: usize = 5;

    /// At rest and adiabatic.
    pub const ADIABATIC: Self =
        Self { heat: Heat::HeatFlux(0.0), velocity: [0.0; 3], frequency: 0.0 };

    /// At rest, of the temperature `t`.
    pub const fn isothermal(t: f64) -> Self {
        Self { heat: Heat::Temperature(t), ..Self::ADIABATIC }
    }

    /// The same wall with this velocity.
    #[must_use]
    pub const fn moving(self, velocity: [f64; 3]) -> Self {
        Self { velocity, ..self }
    }

    /// Its velocity at `time`.
    pub fn velocity_at(&self, time: f64) -> [f64; 3] {
        let phase = (self.frequency * time).cos();
        self.velocity.map(|component| component * phase)
    }
}
