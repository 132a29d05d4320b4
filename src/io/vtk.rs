//! Fields as VTK XML image data, which ParaView, VisIt and PyVista open.
//!
//! `vtkio` holds origin and spacing as f32, so coordinates carry seven digits; the values keep their precision.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use vtkio::IOBuffer;
use vtkio::model::{
    Attribute, Attributes, ByteOrder, DataSet, Extent, ImageDataPiece, Piece, Version, Vtk,
};

use crate::io::{make_directory, write_json, write_whole};
use crate::{Error, Result};

/// A uniform grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageGrid {
    /// Points along x, y, z; 1 where the problem does not vary.
    pub points: [usize; 3],
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Distance between points along x, y, z; anything positive where there is one point.
    pub spacing: [f64; 3],
}

/// A field on the points of a grid, i (along x) fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldData {
    /// Name as the reader shows it.
    pub name: String,
    /// 1, or 3 with the components of a point next to each other.
    pub components: u32,
    /// `components` values a point.
    pub values: FieldValues,
}

/// Values in the precision that they were computed in.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValues {
    /// 32 bit.
    F32(Vec<f32>),
    /// 64 bit.
    F64(Vec<f64>),
}

/// Write one `.vti` file, whole or not at all. Takes the fields, since a second copy of them may not fit into memory.
pub fn write_vti(path: &Path, grid: &ImageGrid, fields: Vec<FieldData>) -> Result<()> {
    let points: usize = grid.points.iter().product();
    let extent = extent(grid.points).map_err(Error::io(path))?;
    let mut data = Attributes::new();
    for FieldData { name, components, values } in fields {
        let (length, buffer) = match values {
            FieldValues::F32(v) => (v.len(), IOBuffer::F32(v)),
            FieldValues::F64(v) => (v.len(), IOBuffer::F64(v)),
        };
        assert_eq!(length, points * components as usize, "field `{name}` does not fit its grid");
        data.point.push(Attribute::generic(name, components).with_data(buffer));
    }
    #[expect(clippy::cast_possible_truncation, reason = "vtkio stores coordinates as f32")]
    let single = |v: [f64; 3]| v.map(|x| x as f32);
    let vtk = Vtk {
        version: Version::new_xml(1, 0),
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        data: DataSet::ImageData {
            extent: extent.clone(),
            origin: single(grid.origin),
            spacing: single(grid.spacing),
            meta: None,
            pieces: vec![Piece::Inline(Box::new(ImageDataPiece { extent, data }))],
        },
        file_path: None,
    };
    write_whole(path, |writer| {
        vtk.write_xml(writer).map_err(|e| std::io::Error::other(e.to_string()))
    })
}

/// Inclusive ranges of point indices.
fn extent(points: [usize; 3]) -> std::io::Result<Extent> {
    let mut last = [0_i32; 3];
    for (last, n) in last.iter_mut().zip(points) {
        *last = i32::try_from(n.saturating_sub(1)).map_err(|_| {
            std::io::Error::other(format!(
                "VTK numbers points with 31 bits; {n} points are too many"
            ))
        })?;
    }
    Ok(Extent::Ranges(last.map(|last| 0..=last)))
}

/// Writes the `fields/` of a run: one `.vti` per time, and `fields.vti.series`, which ParaView opens as one film.
#[derive(Debug)]
pub struct FieldWriter {
    directory: PathBuf,
    index: FieldIndex,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct FieldIndex {
    file_series_version: &'static str,
    files: Vec<FieldEntry>,
}

#[derive(Debug, Serialize)]
struct FieldEntry {
    name: String,
    time: f64,
}

impl FieldWriter {
    /// Make `directory` (`RUN_DIR/fields`).
    pub fn create(directory: &Path) -> Result<Self> {
        make_directory(directory)?;
        let index = FieldIndex { file_series_version: "1.0", files: Vec::new() };
        Ok(Self { directory: directory.to_path_buf(), index })
    }

    /// Write the fields of one time and list them in `fields.vti.series`. Returns the bytes written to the `.vti`.
    pub fn write(
        &mut self,
        step: u64,
        time: f64,
        grid: &ImageGrid,
        fields: Vec<FieldData>,
    ) -> Result<u64> {
        let name = format!("step_{step:08}.vti");
        let path = self.directory.join(&name);
        write_vti(&path, grid, fields)?;
        self.index.files.retain(|entry| entry.name != name);
        self.index.files.push(FieldEntry { name, time });
        write_json(&self.directory.join("fields.vti.series"), &self.index)?;
        fs::metadata(&path).map(|m| m.len()).map_err(Error::io(&path))
    }
}
