//! Integration tests, one binary: each module holds the library to something that must be true of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod advection;
mod allocations;
mod bad_inputs;
mod bench;
mod blocks;
mod boundary_layer;
mod cases_exact;
mod cases_registry;
mod cases_vortices;
mod channel;
mod cli;
mod common;
mod config;
mod conservation;
mod convergence;
mod corpus;
mod curved;
mod custom;
mod device;
mod distributed;
mod floors;
mod forcing;
mod forms;
mod fused;
mod grid_files;
mod grid_quality;
mod guard;
mod implicit;
mod invariance;
mod io;
mod isotropic;
mod library;
mod lines;
mod lines_reductions;
mod lines_tables;
mod memory;
mod mms;
mod model;
mod open;
mod operators;
#[cfg(feature = "mpi")]
mod ranks;
mod scalars;
mod scalars_open;
mod scheme;
mod spectra;
mod spread;
mod statistics;
mod stretched;
mod symmetry;
mod tgv;
mod verify;
mod walls;
mod waves;
