//! Kolmo: direct numerical simulation of the compressible Navier-Stokes equations with compact finite differences.
//!
//! # Equations
//!
//! A perfect gas, non-dimensional with a length L, a velocity V₀, and the density ρ₀, temperature T₀ and viscosity μ₀ of
//! a reference state; Ma = V₀/c₀, Re = ρ₀V₀L/μ₀:
//!
//! ```text
//! U = (ρ, ρu, ρv, ρw, ρE),  ρE = p/(γ−1) + ½ρ u·u,  T = γ Ma² p/ρ
//! ∂ρ/∂t      + ∂ⱼ(ρuⱼ)             = 0
//! ∂(ρuᵢ)/∂t + ∂ⱼ(ρuᵢuⱼ) + ∂ᵢp     = ∂ⱼτᵢⱼ
//! ∂(ρE)/∂t  + ∂ⱼ((ρE + p)uⱼ)      = ∂ⱼ(τᵢⱼuᵢ) − ∂ⱼqⱼ
//! τᵢⱼ = μ/Re (∂ⱼuᵢ + ∂ᵢuⱼ − ⅔δᵢⱼ div u),  qⱼ = − μ/((γ−1)Ma² Pr Re) ∂ⱼT,  μ = 1 | Tⁿ | T^{3/2}(1+S)/(T+S)
//! ```
//!
//! # Method
//!
//! Every derivative is compact: A f' = B f along a line of the grid, with A tri- or pentadiagonal. The convective terms
//! are written in split forms that preserve kinetic energy. Time integration is explicit Runge-Kutta; the step is a fraction of
//! the linear stability limit.
//!
//! # Where things are
//!
//! | module | what it knows |
//! |---|---|
//! | [`scheme`] | coefficients, closures, filters, Runge-Kutta tableaux, and theory about them |
//! | [`lines`] | banded line systems: factor once, solve many |
//! | [`blocks`] | systems of dense blocks at the places of a graph, by multicolour point-implicit sweeps |
//! | [`krylov`] | linear systems of which only products are known, by GMRES |
//! | [`grid`] | points, spacing, axes |
//! | [`gas`] | the gas and its viscosity |
//! | [`boundary`] | what holds at the ends of the axes |
//! | [`comm`] | ranks and the messages between them |
//! | [`engine`] | operators along an axis, and sweeps: the equations along one axis as a list of operations |
//! | [`backend`] | where fields live and sweeps run |
//! | [`physics`] | the Navier-Stokes equations, scalar advection, diagnostics |
//! | [`cases`] | initial states and exact solutions |
//! | [`time`] | Runge-Kutta stepping, step size, the run loop |
//! | [`fourier`] | transforms of periodic fields, and such fields on other grids |
//! | [`statistics`] | moments, spectra, increments and gradients of turbulence |
//! | [`io`] | series, VTK, pictures, report |
//! | [`config`] | what the user typed, checked |
//! | [`quality`] | how good a grid is |
//! | [`mod@compare`] | several runs beside each other |
//! | [`scaling`] | what jobs on more and more ranks took, as pictures |
//! | [`converge`] | how an error falls as points are added |
//! | [`mod@verify`] | whether the program is right on this machine |
//! | [`mod@bench`] | how fast the parts are |
//! | [`model`] | how fast a run on many ranks would be |
//! | [`mod@reproduce`] | figures and tables of papers, from this code |
//!
//! Start with `physics/rhs.rs`.

// A page in a browser has no use for what measures and compares, and for what serves that alone.
#![cfg_attr(target_family = "wasm", allow(dead_code, unused_imports))]

pub mod backend;
#[cfg(not(target_family = "wasm"))]
pub mod bench;
pub mod blocks;
pub mod boundary;
pub mod cases;
pub mod comm;
#[cfg(not(target_family = "wasm"))]
pub mod compare;
pub mod config;
#[cfg(not(target_family = "wasm"))]
pub mod converge;
pub mod engine;
mod error;
pub mod expression;
pub mod force;
pub mod fourier;
pub mod gas;
pub mod grid;
mod huge_pages;
pub mod io;
pub mod krylov;
pub mod lines;
pub mod model;
mod options;
pub mod physics;
pub mod quality;
mod real;
#[cfg(not(target_family = "wasm"))]
pub mod reproduce;
#[cfg(not(target_family = "wasm"))]
pub mod scaling;
pub mod scheme;
mod simd;
mod splitmix;
pub mod statistics;
pub mod time;
mod typed;
#[cfg(not(target_family = "wasm"))]
pub mod verify;

pub use error::{Error, Result};
pub use real::{Plain, Precision, Real, Values};
