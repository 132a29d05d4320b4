//! One array: its header, and the values of a block.

use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::{Purpose, Stream};
use crate::grid::{Block, MAX_POINTS_PER_AXIS};
use crate::io::floats::floats;

/// Maximum length of a header in bytes.
const MAX_HEADER: u32 = 1 << 16;

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
    pub(super) fn read(
        stream: &mut dyn Stream,
        bytes: u64,
        purpose: Purpose,
    ) -> Result<Self, String> {
        let (text, offset) = read_dictionary(stream)?;
        let Dictionary { descr, fortran_order, shape } = parse_dictionary(&text)?;
        let (size, big_endian) = match descr.as_str() {
            Some("<f8") => (8, false),
            Some(">f8") => (8, true),
            Some("<f4") => (4, false),
            Some(">f4") => (4, true),
            name => {
                let found = name.map_or_else(|| descr.to_string(), |name| format!("'{name}'"));
                return Err(format!("its values are of type {found}, not float64 or float32"));
            }
        };
        let length =
            |n: &u64| usize::try_from(*n).ok().filter(|n| (1..=MAX_POINTS_PER_AXIS).contains(n));
        let lengths: Option<Vec<usize>> = shape.iter().map(length).collect();
        let (nz, ny, nx) = match (lengths.as_deref(), purpose) {
            (Some(&[nz, ny, nx]), _) => (nz, ny, nx),
            (Some(&[ny, nx]), Purpose::Grid) => (1, ny, nx),
            _ => {
                let found: Vec<String> = shape.iter().map(u64::to_string).collect();
                return Err(format!(
                    "its shape is ({}), not {}, each from 1 to {MAX_POINTS_PER_AXIS}",
                    found.join(", "),
                    purpose.shapes()
                ));
            }
        };
        let (needed, found) = ((nx * ny * nz * size) as u64, bytes.saturating_sub(offset));
        if found != needed {
            return Err(format!("{found} bytes of values, where its shape needs {needed}"));
        }
        let order = if fortran_order { [0, 1, 2] } else { [2, 1, 0] };
        Ok(Self { points: [nx, ny, nz], offset, size, big_endian, order })
    }
}

/// What a header holds.
#[derive(Deserialize)]
struct Dictionary {
    descr: Value,
    fortran_order: bool,
    shape: Vec<u64>,
}

/// Reads the dictionary as text, and the offset of the values: the magic string, version, and length come before it.
fn read_dictionary(stream: &mut dyn Stream) -> Result<(String, u64), String> {
    let mut read = |bytes: &mut [u8]| {
        stream.read_exact(bytes).map_err(|error| format!("its header cannot be read: {error}"))
    };
    let mut start = [0; 8];
    read(&mut start)?;
    let (magic, version) = start.split_at(6);
    if magic != b"\x93NUMPY" {
        return Err("it does not begin like a file of NumPy".into());
    }
    let mut length = [0; 4];
    let size = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("it is of version {other}; allowed: 1, 2, 3")),
    };
    read(&mut length[..size])?;
    let length = u32::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(format!("its header has {length} bytes; allowed: at most {MAX_HEADER}"));
    }
    let mut text = vec![0; length as usize];
    read(&mut text)?;
    let offset = 8 + size as u64 + u64::from(length);
    Ok((String::from_utf8_lossy(&text).into_owned(), offset))
}

/// A dictionary as Python writes it: it becomes JSON with other brackets, quotes and names, and no comma at an end.
fn parse_dictionary(text: &str) -> Result<Dictionary, String> {
    let json = [("'", "\""), ("(", "["), (")", "]"), ("True", "true"), ("False", "false")]
        .into_iter()
        .fold(text.trim().to_string(), |text, (python, json)| text.replace(python, json));
    let mut parts = json.split(',');
    let mut json = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let ends = part.trim_start().starts_with([']', '}']);
        json += if ends { "" } else { "," };
        json += part;
    }
    serde_json::from_str(&json).map_err(|error| format!("its header cannot be read: {error}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Detects trailing commas and structured types that are not read.
    #[test]
    fn headers_written_by_numpy_are_read() {
        let read = |descr: &str, shape: &str| {
            let text =
                format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}    \n");
            parse_dictionary(&text).unwrap()
        };
        let header = read("'<f8'", "(3, 4, 5)");
        assert_eq!((header.descr.as_str(), header.fortran_order), (Some("<f8"), false));
        assert_eq!(header.shape, [3, 4, 5]);
        assert_eq!(read("'>f4'", "(3,)").shape, [3]);
        assert!(read("'>f4'", "()").shape.is_empty());
        let of_parts = read("[('u', '<f8'), ('v', '<f4', (2,))]", "(3,)");
        assert_eq!(of_parts.descr.to_string(), r#"[["u","<f8"],["v","<f4",[2]]]"#);
        for text in [
            "",
            "{}",
            "{'descr': '<f8'}",
            "[1, 2",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
        ] {
            assert!(parse_dictionary(text).is_err(), "{text}");
        }
    }
}
