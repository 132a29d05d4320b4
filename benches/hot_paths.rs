//! The hot paths: one derivative along each axis, and one time step.

fn main() {}
