//! Arrays over a grid from NumPy files, `name.npz` or a folder of `name.npy`
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>), or from a group of Zarr.

mod npy;
#[cfg(target_family = "wasm")]
#[path = "no_zip.rs"]
mod zip;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result};
use crate::grid::Block;
use crate::io::zarr::{Array, FolderContent, is_zarr};
use crate::io::{malformed, open, refused};
use npy::{Header, read_block};

/// The ending of an array's file.
const NPY: &str = ".npy";
/// Size of the read buffer in bytes.
const BUFFER_SIZE: usize = 1 << 20;

/// Names and headers of the arrays of one grid. No values are held.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    points: [usize; 3],
    arrays: BTreeMap<String, Entry>,
    purpose: Purpose,
}

/// What arrays are read for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    /// Initial fields.
    Start,
    /// The points of a plane: arrays of two dimensions, (ny, nx), have one plane.
    Grid,
}

impl Purpose {
    /// The allowed shapes, in C order.
    fn shapes(self) -> &'static str {
        match self {
            Self::Start => "(nz, ny, nx)",
            Self::Grid => "(ny, nx) or (nz, ny, nx)",
        }
    }

    /// The key that names the file.
    fn key(self) -> &'static str {
        match self {
            Self::Start => "case.file",
            Self::Grid => "grid.mapping.file",
        }
    }
}

/// Storage of an array.
#[derive(Debug)]
enum Entry {
    Npy(Header),
    Zarr(Array),
}

impl Entry {
    fn points(&self) -> [usize; 3] {
        match self {
            Self::Npy(header) => header.points,
            Self::Zarr(array) => array.points,
        }
    }
}

impl ArrayFile {
    /// Inspect the arrays at `path`, a `.npz` file, a folder of `.npy` files or a group of Zarr, which may have the names in
    /// `known`. Arrays of a group with other dimensions, such as coordinates, are skipped.
    ///
    /// # Errors
    /// Where there are none, and where one has another name, a type other than float64 or float32, or another shape than (nz, ny,
    /// nx), which all must share: what was found and what is allowed.
    pub fn open(path: &Path, known: &[&str]) -> Result<Self> {
        Self::open_for(path, known, Purpose::Start)
    }

    /// The same for arrays with this purpose.
    pub(super) fn open_for(path: &Path, known: &[&str], purpose: Purpose) -> Result<Self> {
        let allowed = format!("allowed: {}, each {} values", known.join(", "), purpose.shapes());
        let wrong = |what: String| refused(format!("{}: {what}", path.display()), allowed.as_str());
        let mut file =
            Self { path: path.to_path_buf(), points: [0; 3], arrays: BTreeMap::new(), purpose };
        let is_zarr = path.is_dir() && is_zarr(path);
        let mut names =
            if is_zarr { entry_names(path, Path::is_dir)? } else { names(path, purpose)? };
        names.sort();
        for name in names {
            let is_known = known.contains(&name.as_str());
            let unknown = || wrong(format!("unknown array `{name}`"));
            let unusable = |why: String| match why.split_once('\n') {
                Some((why, advice)) => {
                    refused(format!("{}: array `{name}`: {why}", path.display()), advice)
                }
                None => wrong(format!("array `{name}`: {why}")),
            };
            let entry = match is_zarr {
                true => match Array::find(&path.join(&name)).map_err(unusable)? {
                    FolderContent::Array(_) if !is_known => return Err(unknown()),
                    FolderContent::Array(array) if array.is_scaled => {
                        let why = "its values are packed (scale_factor, add_offset)";
                        return Err(unusable(why.to_owned()));
                    }
                    FolderContent::Array(array) => Entry::Zarr(array),
                    FolderContent::Other(dimensions) if is_known => {
                        let why = format!("it has {dimensions} dimensions, not z, y, x");
                        return Err(unusable(why));
                    }
                    FolderContent::Other(_) | FolderContent::Nothing => continue,
                },
                false if !is_known => return Err(unknown()),
                false => {
                    let read =
                        |stream: &mut dyn Stream, bytes| Header::read(stream, bytes, purpose);
                    Entry::Npy(file.with_stream((&name, false), read)?.map_err(unusable)?)
                }
            };
            if let Some((first, first_entry)) = file.arrays.first_key_value()
                && first_entry.points() != entry.points()
            {
                let [[ax, ay, az], [bx, by, bz]] = [first_entry, &entry].map(Entry::points);
                return Err(wrong(format!(
                    "`{first}` has ({az}, {ay}, {ax}) values and `{name}` ({bz}, {by}, {bx})"
                )));
            }
            file.points = entry.points();
            file.arrays.insert(name, entry);
        }
        if file.arrays.is_empty() {
            return Err(wrong("no arrays in it".to_owned()));
        }
        Ok(file)
    }

    /// Names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// Number of points of their grid along x, y, z.
    pub fn points(&self) -> [usize; 3] {
        self.points
    }

    /// The values of the array `name` at the points of `block`, those along x fastest. Other values are skipped, not held. The
    /// rank with the first block also verifies the checksum of the whole array in an archive.
    ///
    /// # Errors
    /// Where the file has changed, is damaged, or is shorter than its header says.
    ///
    /// # Panics
    /// Where there is no such array.
    pub fn read(&self, name: &str, block: Block) -> Result<Vec<f64>> {
        let header = match &self.arrays[name] {
            Entry::Zarr(array) => return array.read(&self.path.join(name), block),
            Entry::Npy(header) => header,
        };
        let is_checked = block.start == [0; 3];
        let values = self.with_stream((name, is_checked), |stream, _| {
            stream.skip(header.offset)?;
            read_block(stream, header, &block)
        })?;
        values.map_err(|why| self.damaged(name, &why))
    }

    fn damaged(&self, name: &str, why: &io::Error) -> Error {
        let found = format!("{}: array `{name}`: {why}", self.path.display());
        refused(found, "write the file again")
    }

    /// Apply `read_entry` to the bytes of the array `name` and their number. In an archive, a stored array is followed by bytes of
    /// others. Checked bytes are all read through the archive, which compares them with its checksum at their end.
    fn with_stream<T>(
        &self,
        (name, is_checked): (&str, bool),
        read_entry: impl FnOnce(&mut dyn Stream, u64) -> T,
    ) -> Result<T> {
        let entry = format!("{name}{NPY}");
        if self.path.is_dir() {
            let path = self.path.join(entry);
            let file = open::open(&path).map_err(Error::io(&path))?;
            let bytes = file.metadata().map_err(Error::io(&path))?.len();
            return Ok(read_entry(&mut BufReader::with_capacity(BUFFER_SIZE, file), bytes));
        }
        let mut archive = archive(&self.path, self.purpose)?;
        let broken = |why| malformed(&self.path, format!("`{entry}`: {why}"));
        let packed = archive.by_name(&entry).map_err(broken)?;
        let bytes = packed.size();
        match (packed.compression(), packed.data_start()) {
            // Bypass the archive, which cannot seek.
            (CompressionMethod::Stored, Some(start)) if !is_checked => {
                drop(packed);
                let mut file = open::open(&self.path).map_err(Error::io(&self.path))?;
                file.seek(SeekFrom::Start(start)).map_err(Error::io(&self.path))?;
                Ok(read_entry(&mut BufReader::with_capacity(BUFFER_SIZE, file), bytes))
            }
            _ => {
                let mut packed = CompressedEntry(packed);
                let result = read_entry(&mut packed, bytes);
                if is_checked {
                    let rest = io::copy(&mut packed, &mut io::sink());
                    rest.map_err(|why| self.damaged(name, &why))?;
                }
                Ok(result)
            }
        }
    }
}

/// Names of the entries of the folder at `path` for which `is_wanted` holds.
fn entry_names(path: &Path, is_wanted: fn(&Path) -> bool) -> Result<Vec<String>> {
    let entries = fs::read_dir(path).map_err(Error::io(path))?.flatten();
    let wanted = entries.filter(|entry| is_wanted(&entry.path()));
    Ok(wanted.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Names of the NumPy arrays at `path`.
fn names(path: &Path, purpose: Purpose) -> Result<Vec<String>> {
    let names = if path.is_dir() {
        entry_names(path, |path| path.extension().is_some_and(|ending| ending == "npy"))?
    } else {
        let archive = archive(path, purpose)?;
        let names = archive.file_names().map(|name| name.map(|name| name.into_owned()));
        names.collect::<Result<_, _>>().map_err(|why| malformed(path, why))?
    };
    let bare = |name: String| name.strip_suffix(NPY).map(str::to_owned).unwrap_or(name);
    Ok(names.into_iter().map(bare).collect())
}

fn archive(path: &Path, purpose: Purpose) -> Result<ZipArchive<BufReader<File>>> {
    let file = open::open(path).map_err(|why| {
        let key = purpose.key();
        let advice =
            format!("{key} is an .npz file of NumPy, a folder of .npy files, or a group of Zarr");
        refused(format!("{key} = {:?}: {why}", path.display().to_string()), &advice)
    })?;
    ZipArchive::new(BufReader::new(file)).map_err(|why| {
        let advice = match purpose {
            Purpose::Start => "numpy.savez(\"state.npz\", u=u, v=v, w=w, p=p) writes one",
            Purpose::Grid => "numpy.savez(\"grid.npz\", x=x, y=y) writes one",
        };
        refused(format!("{}: not a NumPy .npz file ({why})", path.display()), advice)
    })
}

/// Bytes that are read in order.
trait Stream: Read {
    /// Skip `bytes` bytes.
    fn skip(&mut self, bytes: u64) -> io::Result<()>;
}

impl Stream for BufReader<File> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.seek_relative(i64::try_from(bytes).map_err(io::Error::other)?)
    }
}

/// A compressed entry of an archive.
struct CompressedEntry<R>(R);

impl<R: Read> Read for CompressedEntry<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl<R: Read> Stream for CompressedEntry<R> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut Read::by_ref(&mut self.0).take(bytes), &mut io::sink()).map(|_| ())
    }
}
