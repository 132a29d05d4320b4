//! Writers of the grid formats, as produced by other programs.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::Points;
use crate::custom::npy;

/// File name, writer, and tolerance of a coordinate.
type Format = (&'static str, fn(&Path, &Points), f64);

/// Half a unit in the last place of f32 below 8.
const SINGLE: f64 = 2.4e-7;

#[rustfmt::skip]
pub(super) const FORMATS: &[Format] = &[
    ("grid.npz", npz, 0.0),
    ("planes.npz", npz_of_planes, SINGLE),
    ("folder", folder, 0.0),
    ("text.xyz", |path, points| text(path, points, 2), 0.0),
    ("blocks.p3d", |path, points| text(path, points, 3), 0.0),
    ("records.x", |path, points| fs::write(path, records(points, false)).unwrap(), 0.0),
    ("big.x", |path, points| fs::write(path, records(points, true)).unwrap(), SINGLE),
    ("raw_bytes.x", |path, points| fs::write(path, raw_bytes(points)).unwrap(), 0.0),
    ("text.vts", |path, points| vts(path, points, "ascii"), 0.0),
    ("inline.vts", |path, points| vts(path, points, "inline"), 0.0),
    ("appended.vts", |path, points| vts(path, points, "appended"), 0.0),
    ("raw.vts", |path, points| vts(path, points, "raw"), SINGLE),
    ("zlib.vts", |path, points| vts(path, points, "zlib"), 0.0),
];

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a file of f32")]
fn single(value: f64) -> f32 {
    value as f32
}

fn archive(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
}

/// np.savez("grid.npz", x=x, y=y) with arrays [j, i] of float64.
pub(super) fn npz(path: &Path, points: &Points) {
    let shape = format!("({}, {})", points.n[1], points.n[0]);
    let array = |values: &[f64]| npy("<f8", false, &shape, &doubles(values));
    archive(path, &[("x", array(&points.x)), ("y", array(&points.y))]);
}

/// Two planes [k, j, i] of big-endian float32 in Fortran order; grid.points has one plane, which repeats.
fn npz_of_planes(path: &Path, points: &Points) {
    let [nx, ny] = points.n;
    let array = |value: &dyn Fn(usize, usize) -> f64| {
        let bytes = (0..nx * ny * 2).flat_map(|at| {
            let (i, j, k) = (at / (2 * ny), at / 2 % ny, at % 2);
            single(value(i + nx * j, k)).to_be_bytes()
        });
        npy(">f4", true, &format!("(2, {ny}, {nx})"), &bytes.collect::<Vec<u8>>())
    };
    // The box has the length 2π and one point along z.
    let z = |_, k| if k == 0 { 0.0 } else { std::f64::consts::TAU };
    let [x, y] = [&points.x, &points.y].map(|values| array(&|at, _| values[at]));
    archive(path, &[("x", x), ("y", y), ("z", array(&z))]);
}

fn folder(path: &Path, points: &Points) {
    fs::create_dir(path).unwrap();
    let shape = format!("({}, {})", points.n[1], points.n[0]);
    for (name, values) in [("x", &points.x), ("y", &points.y)] {
        fs::write(path.join(format!("{name}.npy")), npy("<f8", false, &shape, &doubles(values)))
            .unwrap();
    }
}

/// PLOT3D as text: in two dimensions, or in three with a number of blocks and Fortran exponents and repeat counts.
pub(super) fn text(path: &Path, points: &Points, dimensions: usize) {
    let [nx, ny] = points.n;
    let mut text = match dimensions {
        2 => format!("{nx} {ny}\n"),
        _ => format!("  1\n {nx}, {ny}, 1\n"),
    };
    for value in points.x.iter().chain(&points.y) {
        let number = format!("{value:e}");
        text += &if dimensions == 3 { number.replace('e', "D") } else { number };
        text += "\n";
    }
    if dimensions == 3 {
        text += &format!("{}*0.0\n", nx * ny);
    }
    fs::write(path, text).unwrap();
}

/// PLOT3D as unformatted Fortran records: f64 in two dimensions, or big-endian f32 in three with a number of blocks.
pub(super) fn records(points: &Points, is_big: bool) -> Vec<u8> {
    let four = |value: usize| {
        let value = u32::try_from(value).unwrap();
        if is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    };
    let [nx, ny] = points.n;
    let integers = |all: &[usize]| all.iter().flat_map(|n| four(*n)).collect::<Vec<u8>>();
    let values = points.x.iter().chain(&points.y);
    let all = match is_big {
        false => vec![integers(&[nx, ny]), values.flat_map(|x| x.to_le_bytes()).collect()],
        true => {
            let z = vec![0.0; nx * ny];
            let values = values.chain(&z).flat_map(|x| single(*x).to_be_bytes());
            vec![integers(&[1]), integers(&[nx, ny, 1]), values.collect()]
        }
    };
    all.iter()
        .flat_map(|record| [&four(record.len())[..], record, &four(record.len())].concat())
        .collect()
}

/// PLOT3D as raw bytes: f64 in three dimensions, with `iblank`.
fn raw_bytes(points: &Points) -> Vec<u8> {
    let [nx, ny] = points.n.map(|n| u32::try_from(n).unwrap());
    let header = [nx, ny, 1].into_iter().flat_map(u32::to_le_bytes);
    let z = vec![0.0; points.x.len()];
    let values = points.x.iter().chain(&points.y).chain(&z).flat_map(|x| x.to_le_bytes());
    let blank = points.x.iter().flat_map(|_| 1_u32.to_le_bytes());
    header.chain(values).chain(blank).collect()
}

/// VTK structured grids: numbers as text, in Base64 after 32-bit counts, appended in Base64 after 64-bit counts, as raw f32, or compressed
/// in two blocks.
pub(super) fn vts(path: &Path, points: &Points, how: &str) {
    let extent = format!("0 {} 0 {} 0 0", points.n[0] - 1, points.n[1] - 1);
    let numbers: Vec<f64> =
        points.x.iter().zip(&points.y).flat_map(|(x, y)| [*x, *y, 0.0]).collect();
    let bytes: Vec<u8> = match how {
        "raw" => numbers.iter().flat_map(|x| single(*x).to_le_bytes()).collect(),
        _ => doubles(&numbers),
    };
    let four = |count: usize| u32::try_from(count).unwrap().to_le_bytes();
    let (mut attributes, mut compressor) = ("", "");
    let (mut format, mut inline, mut appended) = ("appended\" offset=\"4", Vec::new(), Vec::new());
    match how {
        "ascii" => {
            format = "ascii";
            inline = numbers.iter().map(|x| format!("{x:e} ")).collect::<String>().into_bytes();
        }
        "inline" => {
            format = "binary";
            inline = STANDARD.encode([&four(bytes.len())[..], &bytes].concat()).into_bytes();
        }
        "appended" => {
            attributes = "header_type=\"UInt64\"";
            let count = (bytes.len() as u64).to_le_bytes();
            appended = STANDARD.encode([&count[..], &bytes].concat()).into_bytes();
        }
        "raw" => appended = [&four(bytes.len())[..], &bytes].concat(),
        _ => {
            compressor = "compressor=\"vtkZLibDataCompressor\"";
            let block = bytes.len() - 96;
            let packed = [&bytes[..block], &bytes[block..]].map(|content| {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            });
            let counts = [2, block, 96, packed[0].len(), packed[1].len()].map(four).concat();
            appended =
                [STANDARD.encode(counts), STANDARD.encode(packed.concat())].concat().into_bytes();
        }
    }
    let kind = if how == "raw" { "Float32" } else { "Float64" };
    let encoding = if how == "raw" { "raw" } else { "base64" };
    let head = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"StructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\" {attributes} {compressor}>\n\
         <StructuredGrid WholeExtent=\"{extent}\">\n<Piece Extent=\"{extent}\">\n<PointData>\n\
         <DataArray type=\"Float64\" Name=\"p\" format=\"ascii\"> 1 2 3 </DataArray>\n</PointData>\n<Points>\n\
         <DataArray type='{kind}' Name=\"Points\" NumberOfComponents=\"3\" format=\"{format}\">\n"
    );
    let end = "\n</DataArray>\n</Points>\n</Piece>\n</StructuredGrid>\n";
    let part = format!("<AppendedData encoding=\"{encoding}\">\n   _AAAA");
    let last = "\n</AppendedData>\n</VTKFile>\n";
    let all =
        [head.as_bytes(), &inline, end.as_bytes(), part.as_bytes(), &appended, last.as_bytes()];
    fs::write(path, all.concat()).unwrap();
}
