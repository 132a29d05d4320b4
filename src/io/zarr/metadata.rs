//! The metadata of an array.

use std::path::Path;

use serde_json::Value;

use super::codecs::{ByteCodec, Codecs};
use super::{Array, Shards};
use crate::grid::MAX_POINTS_PER_AXIS;
use crate::io::open;

/// The metadata of an array or a group of version 3.
const METADATA_3: &str = "zarr.json";
/// The metadata of an array of version 2.
const ARRAY_METADATA_2: &str = ".zarray";
/// The attributes of an array of version 2.
const ATTRIBUTES_2: &str = ".zattrs";
/// The metadata of a group of version 2.
const GROUP_METADATA_2: &str = ".zgroup";

/// z, y, x: the axes in file order.
const AXES: [&str; 3] = ["z", "y", "x"];

/// The content of a folder.
pub(in crate::io) enum FolderContent {
    Array(Array),
    /// An array whose number of dimensions, this one, is not three.
    Other(usize),
    /// No array.
    Nothing,
}

impl Array {
    /// The content of `folder`, or why it cannot be used.
    pub(in crate::io) fn find(folder: &Path) -> Result<FolderContent, String> {
        let files = [METADATA_3, ARRAY_METADATA_2].map(|name| folder.join(name));
        let Some(file) = files.iter().find(|file| file.exists()) else {
            return Ok(FolderContent::Nothing);
        };
        let metadata = read_json(file)?;
        let is_old = metadata["zarr_format"] == 2;
        if metadata["node_type"] == "group" {
            return Ok(FolderContent::Nothing);
        }
        let attributes = match is_old {
            true => read_json(&folder.join(ATTRIBUTES_2)).unwrap_or_default(),
            false => metadata["attributes"].clone(),
        };
        match metadata["shape"].as_array().map(Vec::len) {
            Some(3) => {}
            other => return Ok(FolderContent::Other(other.unwrap_or(0))),
        }
        let names = [&metadata["dimension_names"], &attributes["_ARRAY_DIMENSIONS"]];
        names.into_iter().filter_map(Value::as_array).try_for_each(|names| check_names(names))?;
        let array = match is_old {
            true => Array::of_version_2(&metadata)?,
            false => Array::of_version_3(&metadata)?,
        };
        let is_scaled =
            ["scale_factor", "add_offset"].iter().any(|key| !attributes[*key].is_null());
        Ok(FolderContent::Array(Self { is_scaled, ..array }))
    }

    /// The array described by `metadata`.
    fn of_version_3(metadata: &Value) -> Result<Self, String> {
        let size = match metadata["data_type"].as_str() {
            Some("float64") => 8,
            Some("float32") => 4,
            _ => return Err(wrong_type(&metadata["data_type"])),
        };
        let chunk = lengths(metadata, "/chunk_grid/configuration/chunk_shape")?;
        let is_old = metadata["chunk_key_encoding"]["name"] == "v2";
        let separator = metadata.pointer("/chunk_key_encoding/configuration/separator");
        let separator = separator_of(separator, if is_old { "." } else { "/" })?;
        let prefix = match (is_old, separator) {
            (true, _) => "",
            (false, ".") => "c.",
            (false, _) => "c/",
        };
        let codecs = list(&metadata["codecs"])?;
        let (codecs, shards) = match codecs {
            [only] if only["name"] == "sharding_indexed" => {
                let shards = Shards::new(&only["configuration"], chunk)?;
                (Codecs::of_version_3(list(&only["configuration"]["codecs"])?, size)?, Some(shards))
            }
            _ => (Codecs::of_version_3(codecs, size)?, None),
        };
        let fill = fill(&metadata["fill_value"])?;
        let points = lengths(metadata, "/shape")?;
        let is_scaled = false;
        Ok(Self { points, chunk, separator, prefix, fill, codecs, shards, is_scaled })
    }

    fn of_version_2(metadata: &Value) -> Result<Self, String> {
        let (big_endian, size) = match metadata["dtype"].as_str() {
            Some("<f8") => (false, 8),
            Some("<f4") => (false, 4),
            Some(">f8") => (true, 8),
            Some(">f4") => (true, 4),
            _ => return Err(wrong_type(&metadata["dtype"])),
        };
        if metadata["filters"].as_array().is_some_and(|filters| !filters.is_empty()) {
            return Err(format!("it has filters that are not read here: {}", metadata["filters"]));
        }
        let byte_codecs = match metadata["compressor"]["id"].as_str() {
            None => Vec::new(),
            Some(name) => vec![byte_codec(name)?],
        };
        let order = if metadata["order"] == "F" { [2, 1, 0] } else { [0, 1, 2] };
        Ok(Self {
            points: lengths(metadata, "/shape")?,
            chunk: lengths(metadata, "/chunks")?,
            separator: separator_of(metadata.get("dimension_separator"), ".")?,
            prefix: "",
            fill: fill(&metadata["fill_value"])?,
            codecs: Codecs { size, big_endian, order, byte_codecs },
            shards: None,
            is_scaled: false,
        })
    }
}

impl Codecs {
    /// The codecs in `list`: a transposition, then the conversion to bytes, then what is applied to the bytes.
    fn of_version_3(list: &[Value], size: usize) -> Result<Self, String> {
        let mut codecs =
            Self { size, big_endian: false, order: [0, 1, 2], byte_codecs: Vec::new() };
        let mut has_bytes = false;
        for codec in list {
            match codec["name"].as_str().unwrap_or_default() {
                "transpose" if !has_bytes => {
                    // Axes are numbered from z on, the slowest first.
                    let order = codec["configuration"]["order"].clone();
                    let order: [usize; 3] =
                        serde_json::from_value(order).map_err(|_| unknown_codec(codec))?;
                    if !is_permutation(order) {
                        return Err(unknown_codec(codec));
                    }
                    codecs.order = [0, 1, 2].map(|at| codecs.order[2 - order[2 - at]]);
                }
                "bytes" if !has_bytes => {
                    codecs.big_endian = codec["configuration"]["endian"] == "big";
                    has_bytes = true;
                }
                name if has_bytes => codecs.byte_codecs.push(byte_codec(name)?),
                _ => return Err(unknown_codec(codec)),
            }
        }
        match has_bytes {
            true => Ok(codecs),
            false => Err("damaged: its codecs make no bytes of its values".into()),
        }
    }
}

fn is_permutation(axes: [usize; 3]) -> bool {
    (0..3).all(|axis| axes.contains(&axis))
}

impl Shards {
    fn new(configuration: &Value, chunk: [usize; 3]) -> Result<Self, String> {
        let part = lengths(configuration, "/chunk_shape")?;
        if (0..3).any(|a| !chunk[a].is_multiple_of(part[a])) {
            return Err(format!("damaged: parts of {part:?} values in chunks of {chunk:?}"));
        }
        let names: Vec<_> = list(&configuration["index_codecs"])?
            .iter()
            .map(|codec| codec["name"].as_str())
            .collect();
        let is_checked = match names[..] {
            [Some("bytes")] => false,
            [Some("bytes"), Some("crc32c")] => true,
            _ => return Err(unknown_codec(&configuration["index_codecs"])),
        };
        let index_at_end = configuration["index_location"] != "start";
        Ok(Self { part, index_at_end, is_checked })
    }
}

fn byte_codec(name: &str) -> Result<ByteCodec, String> {
    Ok(match name {
        "gzip" => ByteCodec::Gzip,
        "zlib" => ByteCodec::Zlib,
        "zstd" => ByteCodec::Zstd,
        "blosc" => ByteCodec::Blosc,
        "crc32c" => ByteCodec::Crc32c,
        other => return Err(format!("the codec {other:?} is not read here\n{}", ALLOWED_CODECS)),
    })
}

/// The supported codecs.
const ALLOWED_CODECS: &str =
    "allowed: bytes, transpose, gzip, zlib, zstd, blosc, crc32c, and sharding_indexed alone";

fn unknown_codec(codec: &Value) -> String {
    format!("the codec {codec} is not read here\n{ALLOWED_CODECS}")
}

fn wrong_type(found: &Value) -> String {
    format!("its values are of type {found}, not float64 or float32")
}

fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| "damaged: it has no list of codecs".into())
}

/// Three lengths at `pointer` along z, y, x, reordered to x, y, z.
fn lengths(metadata: &Value, pointer: &str) -> Result<[usize; 3], String> {
    let found = metadata.pointer(pointer).unwrap_or(&Value::Null);
    let lengths: Option<[usize; 3]> = serde_json::from_value(found.clone()).ok();
    match lengths.filter(|lengths| lengths.iter().all(|n| (1..=MAX_POINTS_PER_AXIS).contains(n))) {
        Some([z, y, x]) => Ok([x, y, z]),
        None => Err(format!(
            "{found} values, not three numbers along z, y, x, each from 1 to {MAX_POINTS_PER_AXIS}"
        )),
    }
}

/// Check that dimensions with these names are in file order. Other names are accepted as they are.
fn check_names(names: &[Value]) -> Result<(), String> {
    let names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap_or_default()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    match sorted == AXES && names != AXES {
        true => Err(format!(
            "its dimensions are {}, not z, y, x\nxarray: transpose(\"z\", \"y\", \"x\")",
            names.join(", ")
        )),
        false => Ok(()),
    }
}

fn separator_of(found: Option<&Value>, default: &'static str) -> Result<&'static str, String> {
    let Some(found) = found else { return Ok(default) };
    match found.as_str() {
        Some(".") => Ok("."),
        Some("/") => Ok("/"),
        _ => Err(format!("damaged: its chunks have the separator {found}")),
    }
}

/// A JSON number, or one of the words for values that JSON lacks; bits as hexadecimal digits are not accepted as a number.
fn fill(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) if text == "Infinity" => Ok(f64::INFINITY),
        Value::String(text) if text == "-Infinity" => Ok(f64::NEG_INFINITY),
        Value::Null | Value::String(_) => Ok(f64::NAN),
        other => Err(format!("damaged: fill_value is {other}")),
    }
}

fn read_json(path: &Path) -> Result<Value, String> {
    let text = open::read(path, open::MAX_JSON_BYTES).map_err(|why| why.to_string())?;
    serde_json::from_slice(&text).map_err(|why| format!("damaged metadata: {why}"))
}

/// Whether there is a group of arrays, or an array, at `path`.
pub(in crate::io) fn is_zarr(path: &Path) -> bool {
    [METADATA_3, GROUP_METADATA_2, ARRAY_METADATA_2].iter().any(|name| path.join(name).exists())
}
