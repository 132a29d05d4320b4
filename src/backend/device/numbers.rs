//! Numbers for a device. They are computed in f64 and rounded here to the precision of the fields, when they are written
//! to device memory or into kernel text.

use std::cmp::Ordering;

use super::runtime::Argument;
use crate::engine::Number;
use crate::error::{Error, Result};
use crate::real::Precision;

/// Converts a number of rows, systems or blocks to the 32-bit integer of devices.
pub(super) fn to_i32(number: usize) -> Result<i32> {
    let refusal =
        |_| Error::Device(format!("{number} rows, systems or blocks, more than {}", i32::MAX));
    i32::try_from(number).map_err(refusal)
}

impl Precision {
    /// Appends the bytes of numbers to `to`.
    pub(super) fn write(self, values: &[f64], to: &mut Vec<u8>) {
        match self {
            Precision::F32 => to.extend(values.iter().flat_map(|x| f32::of(*x).to_ne_bytes())),
            Precision::F64 => to.extend(values.iter().flat_map(|x| x.to_ne_bytes())),
        }
    }

    /// Converts a number to a kernel argument.
    pub(super) fn argument(self, value: f64) -> Argument {
        match self {
            Precision::F32 => Argument::Float(f32::of(value).to_bits()),
            Precision::F64 => Argument::Double(value.to_bits()),
        }
    }

    /// Reads numbers from `bytes`.
    pub(super) fn read(self, bytes: &[u8], to: &mut [f64]) {
        match self {
            Precision::F32 => {
                let numbers = bytes.as_chunks().0.iter().map(|x| f32::from_ne_bytes(*x));
                to.iter_mut().zip(numbers).for_each(|(to, x)| *to = x.into());
            }
            Precision::F64 => {
                let numbers = bytes.as_chunks().0.iter().map(|x| f64::from_ne_bytes(*x));
                to.iter_mut().zip(numbers).for_each(|(to, x)| *to = x);
            }
        }
    }

    /// Returns a number as a C literal. Infinities and NaN, such as 1/Re for a tiny Re, are written as divisions by 0:
    /// the kernel then computes a state that is refused, as on the host.
    pub(super) fn literal(self, value: f64) -> String {
        let value = self.rounded(value);
        let suffix = if self == Precision::F32 { "f" } else { "" };
        if !value.is_finite() {
            let above = match value.partial_cmp(&0.0) {
                None => "0",
                Some(Ordering::Less) => "-1",
                Some(_) => "1",
            };
            return format!("((REAL){above} / (REAL)0)");
        }
        // 1e0 is a C literal of type double, and of type float with the suffix.
        if value < 0.0 { format!("({value:e}{suffix})") } else { format!("{value:e}{suffix}") }
    }
}
