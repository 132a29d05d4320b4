//! Fields as VTK XML image data, which ParaView, VisIt and PyVista open.
//!
//! One file for a time, or several pieces (see [`super::pieces`]), which a `.pvti` puts together; [`super::fields`] writes
//! those of a run.
//!
//! `vtkio` holds origin and spacing as f32, so coordinates carry seven digits; the values keep their precision.

use std::io::Write;
use std::path::Path;

use vtkio::IOBuffer;
use vtkio::model::{
    Attribute, Attributes, ByteOrder, DataSet, Extent, ImageDataPiece, Piece, Version, Vtk,
};

use crate::grid::Block;
use crate::io::write_whole;
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

impl FieldValues {
    /// The same with 32 bits each.
    #[expect(clippy::cast_possible_truncation, reason = "so it is asked")]
    pub fn single(self) -> Self {
        match self {
            Self::F64(values) => Self::F32(values.into_iter().map(|x| x as f32).collect()),
            Self::F32(_) => self,
        }
    }

    /// The same with 64 bits each.
    pub fn double(self) -> Self {
        match self {
            Self::F32(values) => Self::F64(values.into_iter().map(f64::from).collect()),
            Self::F64(_) => self,
        }
    }
}

impl From<Vec<f32>> for FieldValues {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for FieldValues {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}

/// What a `.pvti` says of an array.
pub(super) struct Array {
    name: String,
    kind: &'static str,
    components: u32,
}

impl FieldData {
    pub(super) fn array(&self) -> Array {
        let kind = match self.values {
            FieldValues::F32(_) => "Float32",
            FieldValues::F64(_) => "Float64",
        };
        Array { name: self.name.clone(), kind, components: self.components }
    }
}

/// Write one `.vti` file, whole or not at all. Takes the fields, since a second copy of them may not fit into memory.
pub fn write_vti(path: &Path, grid: &ImageGrid, fields: Vec<FieldData>) -> Result<()> {
    write_part(path, grid, &Block::whole(grid.points), fields)
}

/// The same with the points of `part` alone.
pub(super) fn write_part(
    path: &Path,
    grid: &ImageGrid,
    part: &Block,
    fields: Vec<FieldData>,
) -> Result<()> {
    let points = part.len();
    let extent = Extent::Ranges(extent(part).map_err(Error::io(path))?.map(|[a, b]| a..=b));
    let mut data = Attributes::new();
    for FieldData { name, components, values } in fields {
        let (length, buffer) = match values {
            FieldValues::F32(v) => (v.len(), IOBuffer::F32(v)),
            FieldValues::F64(v) => (v.len(), IOBuffer::F64(v)),
        };
        assert_eq!(length, points * components as usize, "field `{name}` does not fit its grid");
        data.point.push(Attribute::generic(name, components).with_data(buffer));
    }
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

/// `vtkio` stores coordinates as f32.
#[expect(clippy::cast_possible_truncation, reason = "so it is said")]
fn single(v: [f64; 3]) -> [f32; 3] {
    v.map(|x| x as f32)
}

/// First and last index of the points along each axis.
fn extent(part: &Block) -> std::io::Result<[[i32; 2]; 3]> {
    let index = |at: usize| {
        i32::try_from(at).map_err(|_| {
            std::io::Error::other(format!("VTK numbers points with 31 bits; {at} is too large"))
        })
    };
    let mut ends = [[0; 2]; 3];
    for (ends, (start, n)) in ends.iter_mut().zip(part.start.into_iter().zip(part.points)) {
        *ends = [index(start)?, index((start + n).saturating_sub(1))?];
    }
    Ok(ends)
}

/// Write the `.pvti` that puts together pieces: where each lies, and which points it has.
pub(super) fn pvti(
    to: &mut impl Write,
    grid: &ImageGrid,
    arrays: &[Array],
    pieces: &[(String, Block)],
) -> std::io::Result<()> {
    let ends = |part: &Block| -> std::io::Result<String> {
        let ends = extent(part)?.map(|[first, last]| format!("{first} {last}"));
        Ok(ends.join(" "))
    };
    let coordinates = |v: [f64; 3]| single(v).map(|x| x.to_string()).join(" ");
    writeln!(
        to,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PImageData\" version=\"1.0\" byte_order=\"LittleEndian\">\n\
         <PImageData WholeExtent=\"{}\" GhostLevel=\"0\" Origin=\"{}\" Spacing=\"{}\">\n<PPointData>",
        ends(&Block::whole(grid.points))?,
        coordinates(grid.origin),
        coordinates(grid.spacing),
    )?;
    for Array { name, kind, components } in arrays {
        writeln!(
            to,
            "<PDataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\"/>"
        )?;
    }
    writeln!(to, "</PPointData>")?;
    for (source, part) in pieces {
        writeln!(to, "<Piece Extent=\"{}\" Source=\"{source}\"/>", ends(part)?)?;
    }
    writeln!(to, "</PImageData>\n</VTKFile>")
}
