//! Single-block PLOT3D grids (Walatka et al. 1990, NASA TM 101067): numbers of points, then all x, all y and all z.
//!
//! As text, as unformatted Fortran records (each between two byte counts), or as a plain binary stream; in either byte order;
//! with or without a leading number of blocks, in two or three dimensions, in float32 or float64, with or without a trailing
//! `iblank`. The size of the file determines the variant.

use super::{Points3, point_count};
use crate::io::floats::floats;

/// End of the message on a file that is not of this kind.
pub(super) const ALLOWED: &str =
    "allowed: one block of PLOT3D, in two or three dimensions, as text or binary, complete";
/// Bytes that decide between text and binary.
const PROBE_SIZE: usize = 4096;
/// Maximum number of values of a text.
const MAX_VALUES: usize = 1 << 29;

/// The points in the `bytes` of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Points3, String> {
    let head = &bytes[..bytes.len().min(PROBE_SIZE)];
    if head.is_empty() {
        return Err("an empty file".to_string());
    }
    let is_text = head.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    if is_text { text(bytes) } else { binary(bytes) }
}

/// A header: integers before the numbers of points, and points.
#[derive(Clone, Copy)]
struct Header {
    skipped: usize,
    dimensions: usize,
    points: [usize; 3],
}

/// Possible headers, where `integer` returns the integers at the beginning.
fn possible_headers(integer: &dyn Fn(usize) -> Option<usize>) -> Vec<Header> {
    let one = |skipped: usize, dimensions: usize| {
        if skipped == 1 && integer(0)? != 1 {
            return None;
        }
        let mut points = [1; 3];
        for (a, n) in points.iter_mut().enumerate().take(dimensions) {
            *n = integer(skipped + a)?;
        }
        point_count(points).map(|_| Header { skipped, dimensions, points })
    };
    [(1, 3), (1, 2), (0, 3), (0, 2)].into_iter().filter_map(|(a, b)| one(a, b)).collect()
}

/// The message on a file with `found` values that no header fits.
fn mismatch_message(
    possible_headers: &[Header],
    found: &str,
    size: &dyn Fn(&Header) -> String,
) -> String {
    let Some(header) = possible_headers.first() else {
        return "it does not begin with a PLOT3D header".to_string();
    };
    let shown: Vec<String> =
        header.points[..header.dimensions].iter().map(ToString::to_string).collect();
    format!(
        "its header has {} points, which take {}, and it holds {found}: it is cut off, of several blocks, or of another kind",
        shown.join(" x "),
        size(header)
    )
}

/// x, y, z of this many points, from all values.
fn split(header: &Header, values: &[f64]) -> Points3 {
    let total = header.points.iter().product();
    let mut xyz: [Vec<f64>; 3] = Default::default();
    for (part, values) in xyz.iter_mut().zip(values.chunks(total)).take(header.dimensions) {
        part.extend(values);
    }
    Points3 { points: header.points, xyz }
}

/// Numbers separated by blanks or commas; `3*0.5` is three of them.
fn text(bytes: &[u8]) -> Result<Points3, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not text up to its end".to_string())?;
    let mut values: Vec<f64> = Vec::new();
    for (line, words) in text.lines().enumerate() {
        let words = words.split(|c: char| c.is_whitespace() || c == ',');
        for word in words.filter(|word| !word.is_empty()) {
            let unreadable = || format!("line {}: `{}` is not a number", line + 1, shortened(word));
            let (count, number) = match word.split_once('*') {
                Some((count, number)) => {
                    let fits = |count: &usize| *count <= MAX_VALUES - values.len();
                    let count = count.parse().ok().filter(fits);
                    (count.ok_or_else(unreadable)?, number)
                }
                None => (1, word),
            };
            // Double precision of Fortran has a d.
            let number = number.replace(['d', 'D'], "e");
            let number: f64 = number.parse().map_err(|_| unreadable())?;
            values.extend(std::iter::repeat_n(number, count));
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and positive"
    )]
    let integer = |at: usize| {
        let value = values.get(at).copied()?;
        (value.fract() == 0.0 && (1.0..1e9).contains(&value)).then_some(value as usize)
    };
    let possible_headers = possible_headers(&integer);
    let begin = |header: &Header| header.skipped + header.dimensions;
    let total = |header: &Header| header.points.iter().product::<usize>();
    let fits = |header: &&Header| {
        let own = values.len() - begin(header);
        // One more array for iblank.
        [0, 1].iter().any(|more| own == (header.dimensions + more) * total(header))
    };
    let Some(header) = possible_headers.iter().find(fits) else {
        let size = |it: &Header| format!("{} numbers", begin(it) + it.dimensions * total(it));
        return Err(mismatch_message(
            &possible_headers,
            &format!("{} numbers", values.len()),
            &size,
        ));
    };
    Ok(split(header, &values[begin(header)..]))
}

/// The content of Fortran records, and whether the integers are big-endian; `None` where there are no records.
fn records(bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let first = bytes.first_chunk::<4>()?;
    let is_big_endian = match (u32::from_le_bytes(*first), u32::from_be_bytes(*first)) {
        (4 | 8 | 12, _) => false,
        (_, 4 | 8 | 12) => true,
        _ => return None,
    };
    let (mut content, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some((count, after)) = rest.split_first_chunk::<4>() {
        let length =
            if is_big_endian { u32::from_be_bytes(*count) } else { u32::from_le_bytes(*count) };
        let length = usize::try_from(length).ok()?;
        let (record, after) = after.split_at_checked(length)?;
        content.extend_from_slice(record);
        rest = after.strip_prefix(count)?;
    }
    rest.is_empty().then_some((content, is_big_endian))
}

fn binary(bytes: &[u8]) -> Result<Points3, String> {
    let (content, orders) = match records(bytes) {
        Some((content, is_big_endian)) => (content, vec![is_big_endian]),
        None => (bytes.to_vec(), vec![false, true]),
    };
    let mut first = Vec::new();
    for is_big_endian in orders {
        let integer = |at: usize| {
            let four = content.get(4 * at..)?.first_chunk::<4>()?;
            let value =
                if is_big_endian { i32::from_be_bytes(*four) } else { i32::from_le_bytes(*four) };
            usize::try_from(value).ok()
        };
        let possible_headers = possible_headers(&integer);
        for header in &possible_headers {
            let begin = 4 * (header.skipped + header.dimensions);
            let total: usize = header.points.iter().product();
            let values = &content[begin..];
            for size in [8, 4] {
                let own = size * header.dimensions * total;
                // They may be followed by 4 bytes per point of iblank.
                if values.len() == own || values.len() == own + 4 * total {
                    return Ok(split(header, &floats(&values[..own], size, is_big_endian)));
                }
            }
        }
        if first.is_empty() {
            first = possible_headers;
        }
    }
    let size = |header: &Header| {
        let begin = 4 * (header.skipped + header.dimensions);
        let values = header.dimensions * header.points.iter().product::<usize>();
        format!("{} bytes in float64", begin + 8 * values)
    };
    Err(mismatch_message(&first, &format!("{} bytes", content.len()), &size))
}

/// A word of a file as shown in messages.
fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}
