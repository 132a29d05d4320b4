//! Where fields live and loops run.

pub mod cpu;
pub mod device;
