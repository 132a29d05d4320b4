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
//! The first line of each module describes its contents. Start with `physics/rhs.rs`.

// The page in a browser does not use the code that measures and compares, nor the code that only serves it.
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
mod lagrange;
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
