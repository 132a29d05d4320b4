//! Numbers of a device. They are made in f64 and rounded here, to the precision of the fields, when they are written to device
//! memory or into the text of a kernel.

use std::cmp::Ordering;

use super::runtime::Argument;
use crate::engine::Number;
use crate::error::{Error, Result};
use crate::real::Precision;

/// A number of rows, systems or blocks as devices count them.
pub(super) fn whole(number: usize) -> Result<i32> {
    let refusal =
        |_| Error::Device(format!("{number} rows, systems or blocks; {} can be", i32::MAX));
    i32::try_from(number).map_err(refusal)
}

impl Precision {
    /// Append numbers to the memory of others.
    pub(super) fn write(self, values: &[f64], to: &mut Vec<u8>) {
        match self {
            Precision::F32 => to.extend(values.iter().flat_map(|x| f32::of(*x).to_ne_bytes())),
            Precision::F64 => to.extend(values.iter().flat_map(|x| x.to_ne_bytes())),
        }
    }

    /// A number as an argument of a kernel.
    pub(super) fn argument(self, value: f64) -> Argument {
        match self {
            Precision::F32 => Argument::Float(f32::of(value).to_bits()),
            Precision::F64 => Argument::Double(value.to_bits()),
        }
    }

    /// The numbers that lie in `bytes`.
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

    /// A number as C writes it. What is no number any more, as 1/Re of a tiny Re, is written so that the kernel finds it too:
    /// the state that it makes is then refused, as on the host.
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
        // 1e0 is a C literal of type double, and with the suffix of type float.
        if value < 0.0 { format!("({value:e}{suffix})") } else { format!("{value:e}{suffix}") }
    }
}
