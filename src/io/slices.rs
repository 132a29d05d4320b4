//! Slices through the fields as PNG pictures, and `slices/slices.json`, which lists them.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::io::open::{self, check_inside};
use crate::io::palette::{COLOURS, palette, with_palette};
use crate::io::scale::extremes;
use crate::io::{make_directory, malformed, read_json, remove_file, write_atomically, write_json};
use crate::{Error, Result};

/// Minimum number of pixels along the longer side of a picture.
const MIN_LONG_SIDE: f64 = 384.0;
/// Maximum number of pixels of a picture, unless it has more points.
const MAX_PIXELS: f64 = 1048576.0;
/// A plane with a larger aspect ratio is drawn with this one.
const MAX_ASPECT_RATIO: f64 = 8.0;

/// Quantity of the second picture of a plane, where it has two.
pub const MACH_NUMBER: &str = "Mach number";

/// Signature of a PNG file.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// Maximum number of bytes of a picture.
const MAX_PICTURE_BYTES: u64 = 1 << 30;

/// The plane of a slice, named by the axes in it.
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
        ["xy", "xz", "yz"][self as usize]
    }

    /// The axes to the right, up, and normal to the plane: 0, 1, 2 for x, y, z.
    pub fn axes(self) -> [usize; 3] {
        [[0, 1, 2], [0, 2, 1], [1, 2, 0]][self as usize]
    }
}

/// A plane of values to draw.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// Orientation of the plane.
    pub plane: Plane,
    /// Coordinate of the plane along its normal.
    pub at: f64,
    /// Quantity in words: `vorticity magnitude`.
    pub quantity: &'a str,
    /// Unit, empty where the quantity has no scale: `V₀/L`.
    pub unit: &'a str,
    /// Coordinates of the edges of the picture: left and right, bottom and top. Each point is the centre of its pixels, so the
    /// edges lie half a spacing outside the points.
    pub edges: [[f64; 2]; 2],
    /// Number of points to the right and up.
    pub points: [usize; 2],
    /// One value per point, the first direction of `points` fastest.
    pub values: &'a [f64],
    /// The values at the ends of the colour map, usually the smallest and the largest; values beyond them get the end colours.
    pub range: [f64; 2],
}

/// A picture's entry in `slices.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceEntry {
    /// Name of the file, in the folder of `slices.json`.
    pub file: String,
    /// Orientation of the plane.
    pub plane: Plane,
    /// Coordinate of the plane along its normal.
    pub at: f64,
    /// Quantity in words.
    pub quantity: String,
    /// Unit; empty where the quantity has no scale.
    pub unit: String,
    /// Coordinates of the edges of the picture: left and right, bottom and top.
    pub edges: [[f64; 2]; 2],
    /// Non-dimensional time.
    pub time: f64,
    /// Step.
    pub step: u64,
    /// Value of the first entry of the palette.
    pub min: f64,
    /// Value of the last palette entry but one; the last is the colour of non-finite values.
    pub max: f64,
    /// Values of the darkest and the brightest colour of the map. During a run they are `min` and `max`; at its end they become
    /// those of all times of the plane.
    pub scale: [f64; 2],
}

impl SliceEntry {
    /// Bytes of its picture in the `slices/` of `run_dir`; `None` where the picture was removed, 0 where it cannot be inspected.
    pub(crate) fn bytes(&self, run_dir: &Path) -> Option<u64> {
        let path = run_dir.join("slices").join(file_name(self.step, self.plane, &self.quantity));
        match path.symlink_metadata() {
            Err(why) if why.kind() == ErrorKind::NotFound => None,
            data => Some(data.map_or(0, |data| data.len())),
        }
    }

    /// The picture in the `slices/` of `run_dir`, as PNG.
    ///
    /// # Errors
    /// Where the list has a name that no run writes, or the file is not one of the run's own: a list may come from anywhere, and
    /// a page that includes its files is passed on.
    pub(crate) fn picture(&self, run_dir: &Path) -> Result<Vec<u8>> {
        let list = run_dir.join("slices/slices.json");
        if self.file != file_name(self.step, self.plane, &self.quantity) {
            let what = format!("{:?} is not the name of a picture of a run", self.file);
            return Err(malformed(&list, what));
        }
        let path = run_dir.join("slices").join(&self.file);
        check_inside(run_dir, &path)?;
        let png = open::read(&path, MAX_PICTURE_BYTES).map_err(Error::io(&path))?;
        match png.starts_with(&SIGNATURE) {
            true => Ok(png),
            false => Err(malformed(&path, "it is not a PNG picture")),
        }
    }

    /// The picture `png` in the colours of `scale`; unchanged where it is not one of Kolmo's pictures.
    pub(crate) fn coloured(&self, png: Vec<u8>, scale: [f64; 2]) -> Vec<u8> {
        with_palette(&png, &palette([self.min, self.max], scale)).unwrap_or(png)
    }
}

/// The extremes over all times of a plane: the common scale that gives a colour one meaning in all its pictures.
pub(crate) fn common_scale<'a>(entries: impl Iterator<Item = &'a SliceEntry>) -> [f64; 2] {
    extremes(entries.flat_map(|entry| [entry.min, entry.max]))
}

/// Writer of the `slices/` of a run.
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

    /// Continue with the pictures in `directory`, and remove those of steps after `last`, or all where `last` is `None`.
    pub fn resume(directory: &Path, last: Option<u64>) -> Result<Self> {
        let mut writer = Self::create(directory)?;
        // Pictures are for viewing only: where their list is lost, the run continues with a new one.
        let mut entries: Vec<SliceEntry> =
            read_json(&directory.join("slices.json")).unwrap_or_default();
        // A list may have been edited: remove no file except Kolmo's pictures.
        entries.retain(|entry| entry.file == file_name(entry.step, entry.plane, &entry.quantity));
        let is_kept = |entry: &SliceEntry| last.is_some_and(|last| entry.step <= last);
        let (kept, later): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_kept);
        writer.entries = kept;
        // Write the list last: files left by a kill are then still listed, and the next restart removes them.
        later.iter().try_for_each(|entry| remove_file(&directory.join(&entry.file)))?;
        if !later.is_empty() {
            writer.write_list()?;
        }
        Ok(writer)
    }

    /// Names in the run directory of the files that [`SliceWriter::write`] writes.
    pub fn names(step: u64, plane: Plane, quantity: &str) -> [String; 2] {
        ["slices.json".into(), file_name(step, plane, quantity)]
            .map(|name| format!("slices/{name}"))
    }

    /// Draw one slice and list it in `slices.json`.
    pub fn write(&mut self, step: u64, time: f64, slice: &Slice) -> Result<()> {
        let file = file_name(step, slice.plane, slice.quantity);
        write_slice(&self.directory.join(&file), slice)?;
        self.entries.retain(|entry| entry.file != file);
        self.entries.push(SliceEntry {
            file,
            plane: slice.plane,
            at: slice.at,
            quantity: slice.quantity.into(),
            unit: slice.unit.into(),
            edges: slice.edges,
            time,
            step,
            min: slice.range[0],
            max: slice.range[1],
            scale: slice.range,
        });
        self.write_list()
    }

    /// Give all pictures of a plane one colour scale, that of all its times. Only palettes change. Pictures that were removed or
    /// edited stay as they are.
    pub fn finish(&mut self) -> Result<()> {
        let mut changed = false;
        for at in 0..self.entries.len() {
            let entry = &self.entries[at];
            let is_same_series =
                |e: &&SliceEntry| (e.plane, &e.quantity) == (entry.plane, &entry.quantity);
            let scale = common_scale(self.entries.iter().filter(is_same_series));
            if entry.scale == scale {
                continue;
            }
            let path = self.directory.join(&entry.file);
            if let Ok(png) = open::read(&path, MAX_PICTURE_BYTES) {
                let png = entry.coloured(png, scale);
                write_atomically(&path, |writer| writer.write_all(&png))?;
            }
            self.entries[at].scale = scale;
            changed = true;
        }
        if changed { self.write_list() } else { Ok(()) }
    }

    fn write_list(&self) -> Result<()> {
        write_json(&self.directory.join("slices.json"), &self.entries)
    }
}

/// File name of the picture of a plane; a second picture of the plane has its quantity in the name.
fn file_name(step: u64, plane: Plane, quantity: &str) -> String {
    let suffix = if quantity == MACH_NUMBER { "_mach" } else { "" };
    format!("step_{step:08}_{}{suffix}.png", plane.name())
}

/// Columns and rows of the picture of a plane: to scale, and at least as many as points where that is not too many.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some thousands")]
fn picture_size(slice: &Slice) -> [usize; 2] {
    let points = slice.points.map(|n| n.max(1) as f64);
    let lengths = slice.edges.map(|[from, to]| to - from);
    let has_extent = lengths.iter().all(|length| length.is_finite() && *length > 0.0);
    let lengths = if has_extent { lengths } else { points };
    let longest = lengths[0].max(lengths[1]);
    let lengths = lengths.map(|length| length.max(longest / MAX_ASPECT_RATIO));
    let pixels_per_length = (points[0] / lengths[0]).max(points[1] / lengths[1]);
    // By an integer factor: where spacings are equal, all points get the same number of pixels.
    let enlarged =
        pixels_per_length * (MIN_LONG_SIDE / (longest * pixels_per_length).round()).ceil();
    let max_pixels = MAX_PIXELS.max(points[0] * points[1]);
    let pixels_per_length = enlarged.min((max_pixels / (lengths[0] * lengths[1])).sqrt());
    lengths.map(|length| (length * pixels_per_length).round().max(1.0) as usize)
}

/// Draw one slice as a PNG with a palette and bilinear interpolation, so that the field is visible and not its points. Non-finite
/// values are grey.
pub fn write_slice(path: &Path, slice: &Slice) -> Result<()> {
    let [width, height] = slice.points;
    assert_eq!(slice.values.len(), width * height, "a slice has a value for every point");
    let [columns, rows] = picture_size(slice);
    let mut pixels = Vec::with_capacity(columns * rows);
    for row in (0..rows).rev() {
        for column in 0..columns {
            let value = sample(slice, [column, row], [columns, rows]);
            pixels.push(palette_index(value, slice.range));
        }
    }
    write_atomically(path, |writer| {
        let side = |n: usize| u32::try_from(n).map_err(std::io::Error::other);
        let mut encoder = png::Encoder::new(writer, side(columns)?, side(rows)?);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette(slice.range, slice.range));
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(())
    })
}

/// The value at the centre of a pixel of a picture of `picture_size` pixels; constant beyond the outermost points, which lie half a
/// spacing inside.
fn sample(slice: &Slice, [column, row]: [usize; 2], picture_size: [usize; 2]) -> f64 {
    let [width, height] = slice.points;
    let (i, di) = grid_position(column, picture_size[0], width);
    let (j, dj) = grid_position(row, picture_size[1], height);
    let at = |i: usize, j: usize| slice.values[i.min(width - 1) + width * j.min(height - 1)];
    if di == 0.0 && dj == 0.0 {
        return at(i, j);
    }
    (1.0 - dj) * ((1.0 - di) * at(i, j) + di * at(i + 1, j))
        + dj * ((1.0 - di) * at(i, j + 1) + di * at(i + 1, j + 1))
}

/// Grid index of `n` at or before the centre of one of `pixels`, and the fraction in 0..1 towards the next index.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..n")]
fn grid_position(pixel: usize, pixels: usize, n: usize) -> (usize, f64) {
    let x = ((pixel as f64 + 0.5) * n as f64 / pixels as f64 - 0.5).clamp(0.0, (n - 1) as f64);
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
