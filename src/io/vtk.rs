//! Fields as VTK XML files, which ParaView, VisIt and PyVista open: image data, rectilinear grids for stretched grids, structured
//! grids for curvilinear ones.
//!
//! One file per time, or several pieces (see [`super::pieces`]) that a `.pvti` joins; [`super::fields`] writes the files of a
//! run.
//!
//! Coordinates and values keep all digits of the computation: values are the bytes in Base64, after their length.

use std::io::{BufWriter, Write};
use std::path::Path;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;

use crate::Result;
use crate::grid::{Axis, Block};
use crate::io::AtomicFile;
use crate::real::Values;

/// The coordinates of the points of a curvilinear grid.
const POINTS_ATTRIBUTES: &str = "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"";

/// Name of [`ImageGrid::repeats`] in the files: field data of three numbers, 0 or 1.
const REPEATS_NAME: &str = "last_plane_repeats_first";

/// The grid of the written points.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageGrid {
    /// Points along x, y, z; 1 where the problem does not vary.
    pub points: [usize; 3],
    /// Coordinates of point (0, 0, 0).
    pub origin: [f64; 3],
    /// Distance between points along x, y, z; any positive number along an axis of one point.
    pub spacing: [f64; 3],
    /// Along which of x, y, z the last points repeat the first ones, one period after them.
    pub repeats: [bool; 3],
    /// All coordinates along x, y, z, unless all spacings are equal.
    pub coordinates: Option<[Vec<f64>; 3]>,
    /// On curvilinear grids, x and y at the points of a plane, i fastest; the coordinates along z are then those above.
    pub plane: Option<[Vec<f64>; 2]>,
}

impl ImageGrid {
    /// VTK's name of the grid type.
    fn kind(&self) -> &'static str {
        match (&self.plane, &self.coordinates) {
            (Some(_), _) => "StructuredGrid",
            (None, Some(_)) => "RectilinearGrid",
            (None, None) => "ImageData",
        }
    }

    /// x, y and z of the point (i, j, k) of a curvilinear grid.
    fn position(&self, [x, y]: &[Vec<f64>; 2], [i, j, k]: [usize; 3]) -> [f64; 3] {
        let at = i + self.points[0] * j;
        let z = self.coordinates.as_ref().map_or(self.origin[2], |[.., z]| z[k]);
        [x[at], y[at], z]
    }
}

/// A field on the points of a grid, i (along x) fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldData {
    /// Field name in the reader.
    pub name: String,
    /// 1, or 3 with the components of a point next to each other.
    pub components: usize,
    /// `components` values per point.
    pub values: Values<'static>,
}

impl FieldData {
    /// The attributes of its array.
    pub(super) fn attributes(&self) -> String {
        let Self { name, components, values } = self;
        let kind = match values {
            Values::F32(_) => "Float32",
            Values::F64(_) => "Float64",
        };
        format!("type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\"")
    }
}

/// One `.vti`, `.vtr` or `.vts` file of the points of a part of a grid, to which fields are added one by one.
pub(super) struct PartFile<'a> {
    file: AtomicFile,
    grid: &'a ImageGrid,
    part: Block,
}

impl<'a> PartFile<'a> {
    pub(super) fn create(path: &Path, grid: &'a ImageGrid, part: Block) -> Result<Self> {
        let mut file = AtomicFile::create(path)?;
        file.add(|to| {
            write_header(to, grid.kind(), "", grid, &part)?;
            writeln!(to, "<Piece Extent=\"{}\">\n<PointData>", extent(&part)?)
        })?;
        Ok(Self { file, grid, part })
    }

    /// The file with another field.
    pub(super) fn with_field(mut self, field: &FieldData) -> Result<Self> {
        let fits = field.values.len() == self.part.len() * field.components;
        assert!(fits, "field `{}` does not fit its grid", field.name);
        self.file.add(|to| write_array(to, &field.attributes(), &field.values))?;
        Ok(self)
    }

    /// Write the coordinates of the points, and rename the file to its final name.
    pub(super) fn finish(self) -> Result<()> {
        let Self { mut file, grid, part } = self;
        file.add(|to| {
            writeln!(to, "</PointData>")?;
            if let Some(plane) = &grid.plane {
                let points = (0..part.len()).map(|at| grid.position(plane, part.index(at)));
                writeln!(to, "<Points>")?;
                write_array(to, POINTS_ATTRIBUTES, &points.flatten().collect::<Vec<f64>>().into())?;
                writeln!(to, "</Points>")?;
            } else if let Some(coordinates) = &grid.coordinates {
                writeln!(to, "<Coordinates>")?;
                for (a, name) in Axis::ALL.map(Axis::name).into_iter().enumerate() {
                    let own = &coordinates[a][part.start[a]..part.start[a] + part.points[a]];
                    write_array(
                        to,
                        &format!("type=\"Float64\" Name=\"{name}\""),
                        &own.to_vec().into(),
                    )?;
                }
                writeln!(to, "</Coordinates>")?;
            }
            writeln!(to, "</Piece>\n</{}>\n</VTKFile>", grid.kind())
        })?;
        file.finish()
    }
}

/// The beginning of a file of image data, of all or some points of a grid.
fn write_header(
    to: &mut impl Write,
    kind: &str,
    extra_attributes: &str,
    grid: &ImageGrid,
    part: &Block,
) -> std::io::Result<()> {
    // The shortest digits that read back to the same number.
    let numbers = |v: [f64; 3]| v.map(|x| x.to_string()).join(" ");
    let geometry = match grid.coordinates {
        Some(_) => String::new(),
        None => {
            let [origin, spacing] = [grid.origin, grid.spacing].map(numbers);
            format!(" Origin=\"{origin}\" Spacing=\"{spacing}\"")
        }
    };
    let repeats = grid.repeats.map(|repeats| u8::from(repeats).to_string()).join(" ");
    writeln!(
        to,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <{kind} WholeExtent=\"{}\"{extra_attributes}{geometry}>\n\
         <FieldData>\n<DataArray type=\"UInt8\" Name=\"{REPEATS_NAME}\" NumberOfTuples=\"3\" format=\"ascii\">\
         {repeats}</DataArray>\n</FieldData>",
        extent(part)?,
    )
}

/// An array with these attributes.
fn write_array(to: &mut impl Write, attributes: &str, values: &Values) -> std::io::Result<()> {
    writeln!(to, "<DataArray {attributes} format=\"binary\">")?;
    match values {
        Values::F32(values) => write_base64(to, values.iter().map(|x| x.to_le_bytes()))?,
        Values::F64(values) => write_base64(to, values.iter().map(|x| x.to_le_bytes()))?,
    }
    writeln!(to, "\n</DataArray>")
}

/// The values in Base64, after the number of their bytes.
fn write_base64<const N: usize>(
    to: &mut impl Write,
    values: impl ExactSizeIterator<Item = [u8; N]>,
) -> std::io::Result<()> {
    let mut encoder = EncoderWriter::new(to, &STANDARD);
    let mut buffer = BufWriter::new(&mut encoder);
    buffer.write_all(&((N * values.len()) as u64).to_le_bytes())?;
    for value in values {
        buffer.write_all(&value)?;
    }
    buffer.flush()?;
    drop(buffer);
    encoder.finish().map(drop)
}

/// First and last index of the points along each axis.
fn extent(part: &Block) -> std::io::Result<String> {
    let index = |at: usize| {
        i32::try_from(at).map_err(|_| {
            std::io::Error::other(format!("VTK numbers points with 31 bits; {at} is too large"))
        })
    };
    let mut ends = Vec::new();
    for (start, n) in part.start.into_iter().zip(part.points) {
        ends.push(format!("{} {}", index(start)?, index((start + n).saturating_sub(1))?));
    }
    Ok(ends.join(" "))
}

/// Write the `.pvti`, `.pvtr` or `.pvts` that joins pieces: the file and the points of each, and the attributes of their arrays.
pub(super) fn write_parallel(
    to: &mut impl Write,
    grid: &ImageGrid,
    arrays: &[String],
    pieces: &[(String, Block)],
) -> std::io::Result<()> {
    let kind = format!("P{}", grid.kind());
    write_header(to, &kind, " GhostLevel=\"0\"", grid, &Block::whole(grid.points))?;
    if grid.plane.is_some() {
        writeln!(to, "<PPoints>\n<PDataArray {POINTS_ATTRIBUTES}/>\n</PPoints>")?;
    } else if grid.coordinates.is_some() {
        writeln!(to, "<PCoordinates>")?;
        for name in Axis::ALL.map(Axis::name) {
            writeln!(to, "<PDataArray type=\"Float64\" Name=\"{name}\"/>")?;
        }
        writeln!(to, "</PCoordinates>")?;
    }
    writeln!(to, "<PPointData>")?;
    for attributes in arrays {
        writeln!(to, "<PDataArray {attributes}/>")?;
    }
    writeln!(to, "</PPointData>")?;
    for (source, part) in pieces {
        writeln!(to, "<Piece Extent=\"{}\" Source=\"{source}\"/>", extent(part)?)?;
    }
    writeln!(to, "</{kind}>\n</VTKFile>")
}
