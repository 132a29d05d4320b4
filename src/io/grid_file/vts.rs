//! Points of a structured grid in VTK's XML, one piece
//! (<https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html>): numbers as text, in Base64, or appended, raw or
//! in Base64; uncompressed, or compressed by zlib in blocks.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use super::{Points3, point_count};
use crate::io::floats::floats;

/// The supported files.
pub(super) const ALLOWED: &str = "allowed: a .vts file of VTK with one piece, its points in Float32 or Float64, as text or binary, uncompressed or by zlib";

/// An XML element: its attributes, and everything after its tag.
struct Element<'a> {
    attributes: &'a str,
    content: &'a [u8],
}

impl<'a> Element<'a> {
    /// The first element called `name` in `bytes`.
    fn find(bytes: &'a [u8], name: &str) -> Result<Self, String> {
        let open = format!("<{name}");
        let missing = || format!("no element <{name}>");
        let mut rest = bytes;
        loop {
            let start = position(rest, open.as_bytes()).ok_or_else(missing)? + open.len();
            rest = &rest[start..];
            if rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || b">/".contains(byte)) {
                break;
            }
        }
        let end = position(rest, b">").ok_or_else(missing)?;
        let attributes = std::str::from_utf8(&rest[..end]).map_err(|_| missing())?;
        Ok(Self { attributes, content: &rest[end + 1..] })
    }

    /// The value of an attribute.
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
            let (value, next) = after[1..].split_once(quote)?;
            if key.trim() == name {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    /// The text before the next tag.
    fn text(&self) -> &'a [u8] {
        &self.content[..position(self.content, b"<").unwrap_or(self.content.len())]
    }
}

fn position(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Encoding of the numbers in a file.
struct Encoding {
    is_big_endian: bool,
    /// Bytes of a count.
    count_size: usize,
    is_compressed: bool,
}

/// The points in the `bytes` of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Points3, String> {
    let file = Element::find(bytes, "VTKFile")?;
    let encoding = Encoding {
        is_big_endian: file.attribute("byte_order") == Some("BigEndian"),
        count_size: if file.attribute("header_type") == Some("UInt64") { 8 } else { 4 },
        is_compressed: match file.attribute("compressor") {
            None => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => return Err(format!("compressed by {other}")),
        },
    };
    let piece = Element::find(Element::find(file.content, "StructuredGrid")?.content, "Piece")?;
    let points = extent(&piece)?;
    let array = Element::find(Element::find(piece.content, "Points")?.content, "DataArray")?;
    let size = match array.attribute("type") {
        Some("Float64") => 8,
        Some("Float32") => 4,
        other => {
            return Err(format!("its points are of type {}", other.unwrap_or("none")));
        }
    };
    let total = point_count(points).ok_or_else(|| "too many points".to_string())?;
    let values = match array.attribute("format") {
        Some("ascii") => ascii(array.text())?,
        Some("appended") => encoding.numbers(appended(bytes, &array)?, size)?,
        _ => encoding.numbers(Data::Base64(array.text()), size)?,
    };
    if values.len() != 3 * total {
        return Err(format!(
            "{} numbers in its points, where its extent {points:?} needs {}: it is cut off, or of another kind",
            values.len(),
            3 * total
        ));
    }
    let xyz = [0, 1, 2].map(|k| values.iter().skip(k).step_by(3).copied().collect());
    Ok(Points3 { points, xyz })
}

/// Number of points along the three axes.
fn extent(piece: &Element<'_>) -> Result<[usize; 3], String> {
    let text = piece.attribute("Extent").unwrap_or_default();
    let ends: Option<Vec<i32>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let points = ends.filter(|ends| ends.len() == 6).and_then(|ends| {
        let along = |a: usize| {
            let n = i64::from(ends[2 * a + 1]) - i64::from(ends[2 * a]) + 1;
            usize::try_from(n).ok().filter(|n| *n > 0)
        };
        Some([along(0)?, along(1)?, along(2)?])
    });
    points
        .ok_or_else(|| format!("Extent = {text:?}: not the first and last points along three axes"))
}

fn ascii(text: &[u8]) -> Result<Vec<f64>, String> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let number = |word: &[u8]| {
        let word = String::from_utf8_lossy(word);
        word.parse().map_err(|_| {
            let shown: String = word.chars().take(40).collect();
            format!("`{shown}` in its points is not a number")
        })
    };
    words.map(number).collect()
}

/// Bytes of an array, after their counts.
enum Data<'a> {
    Base64(&'a [u8]),
    Raw(&'a [u8]),
}

/// The data of an array in the appended section, which starts with `_` after all elements.
fn appended<'a>(bytes: &'a [u8], array: &Element<'_>) -> Result<Data<'a>, String> {
    let offset = array.attribute("offset").and_then(|offset| offset.parse::<usize>().ok());
    let offset = offset.ok_or_else(|| "its points have no offset".to_string())?;
    let part = Element::find(bytes, "AppendedData")?;
    let begin = position(part.content, b"_").map(|at| at + 1);
    let data = begin.and_then(|begin| part.content.get(begin.checked_add(offset)?..));
    let data = data.ok_or_else(|| "its points lie behind its end: it is cut off".to_string())?;
    if part.attribute("encoding") == Some("raw") {
        return Ok(Data::Raw(data));
    }
    let end = position(data, b"<").unwrap_or(data.len());
    Ok(Data::Base64(&data[..end]))
}

impl Data<'_> {
    /// The first `count` bytes, and the rest: each part has its own Base64.
    fn take(&self, count: usize) -> Result<(Vec<u8>, Self), String> {
        let cut_off = || "its points are cut off".to_string();
        match self {
            Self::Raw(data) => {
                let (own, rest) = data.split_at_checked(count).ok_or_else(cut_off)?;
                Ok((own.to_vec(), Self::Raw(rest)))
            }
            Self::Base64(text) => {
                let text = text.trim_ascii();
                let letters = count.div_ceil(3).checked_mul(4).ok_or_else(cut_off)?;
                let (own, rest) = text.split_at_checked(letters).ok_or_else(cut_off)?;
                let own = STANDARD.decode(own);
                let own = own.map_err(|why| format!("its points are not Base64: {why}"))?;
                Ok((own, Self::Base64(rest)))
            }
        }
    }
}

impl Encoding {
    /// Floats of `size` bytes.
    fn numbers(&self, data: Data<'_>, size: usize) -> Result<Vec<f64>, String> {
        let bytes = if self.is_compressed { self.blocks(&data)? } else { self.plain(&data)? };
        Ok(floats(&bytes, size, self.is_big_endian))
    }

    /// The bytes after their count, both in one Base64 text.
    fn plain(&self, data: &Data<'_>) -> Result<Vec<u8>, String> {
        let count = self.integer(&data.take(self.count_size)?.0)?;
        let (mut both, _) = data.take(self.count_size.saturating_add(count))?;
        Ok(both.split_off(self.count_size))
    }

    /// Blocks, after their number, the uncompressed size of each and of the last, and the compressed size of each.
    fn blocks(&self, data: &Data<'_>) -> Result<Vec<u8>, String> {
        let cut_off = || "its points are cut off".to_string();
        let blocks = self.integer(&data.take(self.count_size)?.0)?;
        let head = blocks.checked_add(3).and_then(|counts| counts.checked_mul(self.count_size));
        let (head, packed) = data.take(head.ok_or_else(cut_off)?)?;
        let counts: Result<Vec<usize>, String> =
            head.chunks_exact(self.count_size).map(|own| self.integer(own)).collect();
        let lengths = counts?.split_off(3);
        let all = lengths.iter().try_fold(0_usize, |sum, length| sum.checked_add(*length));
        let (packed, _) = packed.take(all.ok_or_else(cut_off)?)?;
        let (mut bytes, mut rest) = (Vec::new(), &packed[..]);
        for length in lengths {
            let (own, after) = rest.split_at_checked(length).ok_or_else(cut_off)?;
            let unpacked =
                ZlibDecoder::new(own).take(super::MAX_FILE_BYTES).read_to_end(&mut bytes);
            unpacked.map_err(|why| format!("its points cannot be unpacked: {why}"))?;
            rest = after;
        }
        Ok(bytes)
    }

    fn integer(&self, bytes: &[u8]) -> Result<usize, String> {
        // The least significant byte last.
        let mut own = bytes[..self.count_size.min(bytes.len())].to_vec();
        if !self.is_big_endian {
            own.reverse();
        }
        let value = own.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        usize::try_from(value).map_err(|_| format!("a count of {value}"))
    }
}
