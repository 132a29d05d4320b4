//! Slices through the fields as PNG pictures, and `slices/slices.json`, which lists them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::io::palette::{BROKEN, COLOURS, colour};
use crate::io::{make_directory, read_json, remove_file, write_json, write_whole};

/// The longer side of a picture has at least so many pixels.
const SMALLEST_SIDE: usize = 384;

/// The plane of a slice, by the axes that lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Plane {
    /// x to the right, y up.
    Xy,
    /// x to the right, z up.
    Xz,
    /// y to the right, z up.
    Yz,
}

impl Plane {
    /// `xy`, `xz` or `yz`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xy => "xy",
            Self::Xz => "xz",
            Self::Yz => "yz",
        }
    }
}

/// A plane of values to draw.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// Where it lies.
    pub plane: Plane,
    /// What is drawn, in words: `vorticity magnitude`.
    pub quantity: &'a str,
    /// Points to the right and up.
    pub points: [usize; 2],
    /// One value a point, the first direction of `points` fastest.
    pub values: &'a [f64],
    /// The values at the two ends of the colour map; beyond them the colour stays.
    pub range: [f64; 2],
}

/// What `slices.json` tells of a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceEntry {
    /// Name of the file beside `slices.json`.
    pub file: String,
    /// Where the slice lies.
    pub plane: Plane,
    /// What is drawn.
    pub quantity: String,
    /// Non-dimensional time.
    pub time: f64,
    /// Step.
    pub step: u64,
    /// Value of the darkest colour.
    pub min: f64,
    /// Value of the brightest colour.
    pub max: f64,
}

/// Writes the `slices/` of a run.
#[derive(Debug)]
pub struct SliceWriter {
    directory: PathBuf,
    entries: Vec<SliceEntry>,
}

impl SliceWriter {
    /// Make `directory` (`RUN_DIR/slices`).
    pub fn create(directory: &Path) -> Result<Self> {
        make_directory(directory)?;
        Ok(Self { directory: directory.to_path_buf(), entries: Vec::new() })
    }

    /// Go on with the pictures in `directory`, of which those of steps after `last` are removed; all, where that is none.
    ///
    /// # Errors
    /// What the system says.
    pub fn resume(directory: &Path, last: Option<u64>) -> Result<Self> {
        let mut writer = Self::create(directory)?;
        // Pictures are drawn for people: where their list is lost the run goes on with a new one.
        let entries: Vec<SliceEntry> =
            read_json(&directory.join("slices.json")).unwrap_or_default();
        // A list may have been changed: no file but a picture of ours is removed.
        let own = entries.into_iter().filter(|entry| entry.file == file(entry.step, entry.plane));
        let (kept, later): (Vec<_>, Vec<_>) =
            own.partition(|entry| last.is_some_and(|last| entry.step <= last));
        writer.entries = kept;
        if !later.is_empty() {
            write_json(&directory.join("slices.json"), &writer.entries)?;
        }
        for entry in later {
            remove_file(&directory.join(&entry.file))?;
        }
        Ok(writer)
    }

    /// Draw one slice and list it in `slices.json`.
    pub fn write(&mut self, step: u64, time: f64, slice: &Slice) -> Result<()> {
        let file = file(step, slice.plane);
        write_slice(&self.directory.join(&file), slice)?;
        self.entries.retain(|entry| entry.file != file);
        let [min, max] = slice.range;
        let quantity = slice.quantity.to_string();
        self.entries.push(SliceEntry { file, plane: slice.plane, quantity, time, step, min, max });
        write_json(&self.directory.join("slices.json"), &self.entries)
    }
}

/// What the picture of a plane is called.
fn file(step: u64, plane: Plane) -> String {
    format!("step_{step:08}_{}.png", plane.name())
}

/// Draw one slice as a PNG with a palette. Small grids are enlarged by a whole factor with bilinear interpolation, so
/// that what is seen is the field and not its pixels. Values that are not finite come out grey.
pub fn write_slice(path: &Path, slice: &Slice) -> Result<()> {
    let [width, height] = slice.points;
    assert_eq!(slice.values.len(), width * height, "a slice has a value for every point");
    let factor = SMALLEST_SIDE.div_ceil(width.max(height).max(1));
    let (columns, rows) = (width * factor, height * factor);
    let mut pixels = Vec::with_capacity(columns * rows);
    for row in (0..rows).rev() {
        for column in 0..columns {
            pixels.push(palette_index(sample(slice, column, row, factor), slice.range));
        }
    }
    let mut palette: Vec<u8> =
        (0..COLOURS).flat_map(|k| colour(k as f64 / (COLOURS - 1) as f64)).collect();
    palette.extend(BROKEN);
    write_whole(path, |writer| {
        let side = |n: usize| u32::try_from(n).map_err(std::io::Error::other);
        let mut encoder = png::Encoder::new(writer, side(columns)?, side(rows)?);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(())
    })
}

/// The value at the centre of a pixel, where each point of the grid is the centre of `factor` × `factor` pixels;
/// constant beyond the outermost points.
fn sample(slice: &Slice, column: usize, row: usize, factor: usize) -> f64 {
    let [width, height] = slice.points;
    let (i, di) = split(column, factor, width);
    let (j, dj) = split(row, factor, height);
    let at = |i: usize, j: usize| slice.values[i.min(width - 1) + width * j.min(height - 1)];
    if di == 0.0 && dj == 0.0 {
        return at(i, j);
    }
    (1.0 - dj) * ((1.0 - di) * at(i, j) + di * at(i + 1, j))
        + dj * ((1.0 - di) * at(i, j + 1) + di * at(i + 1, j + 1))
}

/// Grid index at or before a pixel's centre, and the way to the next one in 0..1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..n")]
fn split(pixel: usize, factor: usize, n: usize) -> (usize, f64) {
    let x = ((pixel as f64 + 0.5) / factor as f64 - 0.5).clamp(0.0, (n - 1) as f64);
    (x.floor() as usize, x.fract())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..255")]
fn palette_index(value: f64, [min, max]: [f64; 2]) -> u8 {
    if !value.is_finite() {
        return COLOURS as u8;
    }
    let s = if max > min { (value - min) / (max - min) } else { 0.0 };
    (s.clamp(0.0, 1.0) * (COLOURS - 1) as f64).round() as u8
}
