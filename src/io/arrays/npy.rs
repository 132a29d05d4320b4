//! One array: its header, and the values of a block.

use std::io::{self, Read};

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};

use super::{Stream, Use};
use crate::grid::{Block, MOST_POINTS};
use crate::io::floats::floats;

/// Maximum length of a header in bytes, as in NumPy.
const LONGEST: u64 = 1 << 16;

/// Layout of an array in its file.
#[derive(Debug)]
pub(super) struct Header {
    /// Number of points along x, y, z.
    pub(super) points: [usize; 3],
    /// Offset of the values in bytes.
    pub(super) offset: u64,
    /// Bytes per value.
    size: usize,
    big_endian: bool,
    /// Axes, the slowest first: z, y, x, or x, y, z in Fortran order.
    order: [usize; 3],
}

impl Header {
    /// Read the header at the beginning of `stream`, whose length is `bytes`, or return why such an array cannot be used.
    pub(super) fn read(stream: &mut dyn Stream, bytes: u64, purpose: Use) -> Result<Self, String> {
        let mut counted = Counted { stream: stream.take(LONGEST), bytes: 0 };
        let header = NpyHeader::from_reader(&mut counted).map_err(|why| why.to_string())?;
        let wrong_type = || {
            let found = header.dtype().descr();
            format!("its values are of type {found}, not float64 or float32")
        };
        let DType::Plain(kind) = header.dtype() else { return Err(wrong_type()) };
        let size = match (kind.type_char(), kind.size_field()) {
            (TypeChar::Float, 4) => 4,
            (TypeChar::Float, 8) => 8,
            _ => return Err(wrong_type()),
        };
        let shape = header.shape();
        let length = |n: &u64| usize::try_from(*n).ok().filter(|n| (1..=MOST_POINTS).contains(n));
        let lengths: Option<Vec<usize>> = shape.iter().map(length).collect();
        let (nz, ny, nx) = match (lengths.as_deref(), purpose) {
            (Some(&[nz, ny, nx]), _) => (nz, ny, nx),
            (Some(&[ny, nx]), Use::Grid) => (1, ny, nx),
            _ => {
                let found: Vec<String> = shape.iter().map(u64::to_string).collect();
                return Err(format!(
                    "its shape is ({}), not {}, each from 1 to {MOST_POINTS}",
                    found.join(", "),
                    purpose.shapes()
                ));
            }
        };
        let (needed, found) = ((nx * ny * nz * size) as u64, bytes.saturating_sub(counted.bytes));
        if found != needed {
            return Err(format!("{found} bytes of values, where its shape needs {needed}"));
        }
        let order = if header.order() == Order::C { [2, 1, 0] } else { [0, 1, 2] };
        let big_endian = kind.endianness() == Endianness::Big;
        Ok(Self { points: [nx, ny, nz], offset: counted.bytes, size, big_endian, order })
    }
}

/// The values at the points of `block` from a `stream` positioned at the first value; i fastest.
pub(super) fn read_block(
    stream: &mut dyn Stream,
    header: &Header,
    block: &Block,
) -> io::Result<Vec<f64>> {
    let [slow, middle, fast] = header.order;
    let stride = |axis: usize| -> usize { block.points[..axis].iter().product() };
    let mut values = vec![f64::NAN; block.len()];
    let mut row = vec![0; block.points[fast] * header.size];
    // The first unread value.
    let mut next = 0;
    for s in 0..block.points[slow] {
        for m in 0..block.points[middle] {
            let line = (block.start[slow] + s) * header.points[middle] + block.start[middle] + m;
            let first = line as u64 * header.points[fast] as u64 + block.start[fast] as u64;
            stream.skip((first - next) * header.size as u64)?;
            stream.read_exact(&mut row)?;
            next = first + block.points[fast] as u64;
            let to = s * stride(slow) + m * stride(middle);
            for (f, value) in floats(&row, header.size, header.big_endian).into_iter().enumerate() {
                values[to + f * stride(fast)] = value;
            }
        }
    }
    Ok(values)
}

/// Counts the bytes read.
struct Counted<R> {
    stream: R,
    bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(to)?;
        self.bytes += count as u64;
        Ok(count)
    }
}
