//! Points of curvilinear grids from files: arrays of NumPy or Zarr, PLOT3D, structured grids of VTK.
//!
//! A three-dimensional grid must have the same x and y in each of its planes, and equally spaced planes along z.

mod plot3d;
mod vts;

use std::path::Path;

use super::arrays::Purpose;
use super::{ArrayFile, open};
use crate::grid::{Block, MAX_POINTS_PER_AXIS};

/// Maximum file size: bytes.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// Relative tolerance on x and y of planes, in units of the spacing: rounding in f32.
const PLANE_TOLERANCE: f64 = 1e-3;
/// Relative error of numbers with six digits.
const SIX_DIGIT_ERROR: f64 = 5e-6;

/// The points of a file, those along the first axis fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPoints {
    /// Number along the three axes.
    pub points: [usize; 3],
    /// x and y in the first plane.
    pub plane: [Vec<f64>; 2],
    /// Distance between planes along z, where there are several and the file has z.
    pub depth: Option<f64>,
}

/// x, y and, where the file has it, z at all points.
struct Points3 {
    points: [usize; 3],
    xyz: [Vec<f64>; 3],
}

/// The points in the file at `path`. Its ending and kind decide the format: arrays in `.npz`, a folder of `.npy` or a group of
/// Zarr, a `.vts` of VTK, anything else PLOT3D.
///
/// # Errors
/// Where the file has no such format, or no plane of finite numbers that repeats along z: a sentence, and a second line with what
/// is allowed.
pub fn read_points(path: &Path) -> Result<StoredPoints, String> {
    if !path.is_dir() {
        open::open(path).map_err(|why| format!("cannot be read: {why}"))?;
    }
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let with_allowed = |allowed: &'static str| move |why: String| format!("{why}\n{allowed}");
    let found = match ending.to_ascii_lowercase().as_str() {
        "npz" => arrays(path)?,
        _ if path.is_dir() => arrays(path)?,
        "vts" => vts::read(&bytes(path)?).map_err(with_allowed(vts::ALLOWED))?,
        "pvts" | "vtk" | "vtu" | "vtr" | "cgns" | "msh" | "h5" | "npy" => {
            return Err(format!(
                "unsupported grid format: `.{ending}`\nallowed: `.npz`, a folder of `.npy`, `.vts`, PLOT3D"
            ));
        }
        _ => plot3d::read(&bytes(path)?).map_err(with_allowed(plot3d::ALLOWED))?,
    };
    found.checked()
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    open::read(path, MAX_FILE_BYTES).map_err(|why| format!("cannot be read: {why}"))
}

/// x and y, and z where present, as arrays (ny, nx) or (nz, ny, nx).
fn arrays(path: &Path) -> Result<Points3, String> {
    let message_of = |error: crate::Error| {
        // The message names the path, as the message of the key does.
        let what = error.what().replace("\n       ", "\n");
        what.strip_prefix(&format!("{}: ", path.display())).map_or(what.clone(), str::to_owned)
    };
    let file = ArrayFile::open_for(path, &["x", "y", "z"], Purpose::Grid).map_err(message_of)?;
    let points = file.points();
    let has = |name: &str| file.names().any(|known| known == name);
    if let Some(name) = ["x", "y"].into_iter().find(|name| !has(name)) {
        return Err(format!("no array `{name}`\nneeded: x and y, each (ny, nx) values"));
    }
    let read = |name: &str| match has(name) {
        true => file.read(name, Block::whole(points)).map_err(message_of),
        false => Ok(Vec::new()),
    };
    Ok(Points3 { points, xyz: [read("x")?, read("y")?, read("z")?] })
}

impl Points3 {
    /// One plane, where all planes are equal and every number is finite.
    fn checked(self) -> Result<StoredPoints, String> {
        let Self { points, xyz: [x, y, z] } = self;
        let [nx, ny, nz] = points;
        if nx < 2 || ny < 2 {
            return Err(format!(
                "{nx} x {ny} points along its first two axes\nneeded: at least 2 along each; a grid in another plane than that of x and y \
                 is not read"
            ));
        }
        let size = nx * ny;
        let index_text = |at: usize| format!("({}, {}, {})", at % nx, at / nx % ny, at / size);
        for (name, values) in [("x", &x), ("y", &y), ("z", &z)] {
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(format!(
                    "{name} = {} at point {}\nallowed: finite numbers",
                    values[at],
                    index_text(at)
                ));
            }
        }
        // Along the line of i.
        let spacing = |at: usize| {
            let neighbour = if at % nx + 1 < nx { at + 1 } else { at - 1 };
            (x[at] - x[neighbour]).hypot(y[at] - y[neighbour])
        };
        let deviation = |at: usize| (x[at] - x[at % size]).hypot(y[at] - y[at % size]);
        let differs = |at: &usize| deviation(*at) > PLANE_TOLERANCE * spacing(at % size);
        if let Some(at) = (size..nx * ny * nz).find(differs) {
            return Err(format!(
                "x and y change along z: point {} lies {:.3e} from that of the first plane\nallowed: the same x and y in every plane",
                index_text(at),
                deviation(at)
            ));
        }
        let depth = if z.is_empty() { None } else { plane_spacing(&z, points, spacing(0))? };
        let plane = [x, y].map(|mut values| {
            values.truncate(size);
            values
        });
        Ok(StoredPoints { points, plane, depth })
    }
}

/// Distance between planes along z (`None` for a single plane), where each has one z and they are equally spaced. `in_plane_spacing` is the
/// spacing in a plane.
fn plane_spacing(
    z: &[f64],
    [nx, ny, nz]: [usize; 3],
    in_plane_spacing: f64,
) -> Result<Option<f64>, String> {
    let size = nx * ny;
    let spacing_z = (z[size * (nz - 1)] - z[0]) / (nz.max(2) - 1) as f64;
    let expected = |at: usize| z[0] + (at / size) as f64 * spacing_z;
    let largest = z.iter().fold(0.0, |largest: f64, z| largest.max(z.abs()));
    let round_off = PLANE_TOLERANCE * if nz > 1 { spacing_z.abs() } else { in_plane_spacing }
        + SIX_DIGIT_ERROR * largest;
    let differs = |at: &usize| (z[*at] - expected(*at)).abs() > round_off;
    match (0..size * nz).find(differs) {
        Some(at) => Err(format!(
            "its planes are not even along z: z = {:e} at point ({}, {}, {}), not {:e}\nallowed: one z in every plane, and planes of equal \
             distance",
            z[at],
            at % nx,
            at / nx % ny,
            at / size,
            expected(at)
        )),
        None => Ok((nz > 1).then_some(spacing_z.abs())),
    }
}

/// The total number of points, where each axis has an allowed number of them.
fn point_count([nx, ny, nz]: [usize; 3]) -> Option<usize> {
    let is_allowed = [nx, ny, nz].iter().all(|n| (1..=MAX_POINTS_PER_AXIS).contains(n));
    is_allowed.then(|| nx * ny * nz)
}
