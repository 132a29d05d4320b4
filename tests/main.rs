//! Integration tests, one binary: each module holds the library to something that must be true of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bad_inputs;
mod cases_exact;
mod cases_registry;
mod cli;
mod common;
mod config;
mod io;
mod scheme;
mod tgv;
