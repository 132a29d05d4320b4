//! Arrays over a grid from NumPy's files: `name.npz`, or a folder of `name.npy`
//! (<https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>).

mod npy;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result};
use crate::grid::Block;
use crate::io::{malformed, open, refused};
use npy::{Header, read_block};

/// The ending of an array's file.
const NPY: &str = ".npy";
/// Bytes that are read at once.
const BUFFER: usize = 1 << 20;

/// Arrays of one grid, by their names. No values are held.
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    points: [usize; 3],
    arrays: BTreeMap<String, Header>,
}

impl ArrayFile {
    /// Look at the arrays at `path`, a `.npz` file or a folder of `.npy` files, which may have the names in `known`.
    ///
    /// # Errors
    /// Where there are none, and where one has another name, a type that is no float64 or float32, or another shape than
    /// (nz, ny, nx), which all must share: what was found and what is allowed.
    pub fn open(path: &Path, known: &[&str]) -> Result<Self> {
        let allowed = format!("allowed: {}, each (nz, ny, nx) values", known.join(", "));
        let wrong = |what: String| refused(format!("{}: {what}", path.display()), allowed.as_str());
        let names = names(path)?;
        let mut file = Self { path: path.to_path_buf(), points: [0; 3], arrays: BTreeMap::new() };
        for name in names {
            if !known.contains(&name.as_str()) {
                return Err(wrong(format!("unknown array `{name}`")));
            }
            let header = file.with_stream(&name, |stream, bytes| Header::read(stream, bytes))?;
            let header = header.map_err(|why| wrong(format!("array `{name}`: {why}")))?;
            if let Some((first, of_first)) = file.arrays.first_key_value()
                && of_first.points() != header.points()
            {
                let shapes = [of_first, &header].map(|header| header.points());
                let [[ax, ay, az], [bx, by, bz]] = shapes;
                return Err(wrong(format!(
                    "`{first}` has ({az}, {ay}, {ax}) values and `{name}` ({bz}, {by}, {bx})"
                )));
            }
            file.points = header.points();
            file.arrays.insert(name, header);
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

    /// Points of their grid along x, y, z.
    pub fn points(&self) -> [usize; 3] {
        self.points
    }

    /// The values of the array `name` at the points of `block`, those along x fastest. Other values are passed over, not held.
    ///
    /// # Errors
    /// Where the file is not what it was, or shorter than its header says.
    ///
    /// # Panics
    /// Where there is no such array.
    pub fn read(&self, name: &str, block: Block) -> Result<Vec<f64>> {
        let header = &self.arrays[name];
        let values = self.with_stream(name, |stream, _| {
            stream.skip(header.offset())?;
            read_block(stream, header, &block)
        })?;
        values.map_err(|why| malformed(&self.path, format!("array `{name}`: {why}")))
    }

    /// What `work` makes of the bytes of the array `name`, and of their number. What is stored in an archive is followed by bytes of
    /// others.
    fn with_stream<T>(
        &self,
        name: &str,
        work: impl FnOnce(&mut dyn Stream, u64) -> T,
    ) -> Result<T> {
        let entry = format!("{name}{NPY}");
        if self.path.is_dir() {
            let path = self.path.join(entry);
            let file = open::open(&path).map_err(Error::io(&path))?;
            let bytes = file.metadata().map_err(Error::io(&path))?.len();
            return Ok(work(&mut BufReader::with_capacity(BUFFER, file), bytes));
        }
        let mut archive = archive(&self.path)?;
        let broken = |why| malformed(&self.path, format!("`{entry}`: {why}"));
        let packed = archive.by_name(&entry).map_err(broken)?;
        let bytes = packed.size();
        match (packed.compression(), packed.data_start()) {
            // Not through the archive, which passes over nothing.
            (CompressionMethod::Stored, Some(start)) => {
                drop(packed);
                let mut file = open::open(&self.path).map_err(Error::io(&self.path))?;
                file.seek(SeekFrom::Start(start)).map_err(Error::io(&self.path))?;
                Ok(work(&mut BufReader::with_capacity(BUFFER, file), bytes))
            }
            _ => Ok(work(&mut Packed(packed), bytes)),
        }
    }
}

/// Names of the arrays at `path`, sorted.
fn names(path: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = if path.is_dir() {
        let entries = fs::read_dir(path).map_err(Error::io(path))?;
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    } else {
        let archive = archive(path)?;
        let names = archive.file_names().map(|name| name.map(|name| name.into_owned()));
        names.collect::<std::result::Result<_, _>>().map_err(|why| malformed(path, why))?
    };
    let is_folder = path.is_dir();
    names.retain(|name| !is_folder || name.ends_with(NPY));
    names.sort();
    let bare = |name: String| name.strip_suffix(NPY).map(str::to_owned).unwrap_or(name);
    Ok(names.into_iter().map(bare).collect())
}

fn archive(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    let file = open::open(path).map_err(|why| {
        let advice = "case.file is an .npz file of NumPy, or a folder of .npy files";
        refused(format!("case.file = {:?}: {why}", path.display().to_string()), advice)
    })?;
    ZipArchive::new(BufReader::new(file)).map_err(|why| {
        let advice = "numpy.savez(\"state.npz\", u=u, v=v, w=w, p=p) writes one";
        refused(format!("{}: no .npz file of NumPy ({why})", path.display()), advice)
    })
}

/// Bytes that are read in their order.
trait Stream: Read {
    /// Pass over so many bytes.
    fn skip(&mut self, bytes: u64) -> io::Result<()>;
}

impl Stream for BufReader<File> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.seek_relative(i64::try_from(bytes).map_err(io::Error::other)?)
    }
}

/// What is compressed in an archive.
struct Packed<R>(R);

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl<R: Read> Stream for Packed<R> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut Read::by_ref(&mut self.0).take(bytes), &mut io::sink()).map(|_| ())
    }
}
