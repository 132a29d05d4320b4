//! A checkpoint read.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrs::array::{Array, ArraySubset, data_type};
use zarrs::filesystem::FilesystemStore;

use super::{Attributes, FORMAT, Group, Head, ZARR_FORMAT, path, refused, steps, store};
use crate::comm::{Communicator, agree};
use crate::error::{Error, Result};
use crate::grid::Block;
use crate::real::Real;

/// A checkpoint that was found sound.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// What it holds beside the fields.
    pub head: Head,
}

impl Checkpoint {
    /// Open the one at `path` after a look at all its bytes, of which every rank takes its share. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file is missing, damaged, or of a version that is newer than this one.
    pub fn open(comm: &dyn Communicator, path: &Path) -> Result<Self> {
        let attributes = agree(comm, attributes(path))?;
        let mut mine = attributes.files.iter().skip(comm.rank()).step_by(comm.size());
        agree(comm, mine.try_for_each(|(name, print)| print.check(&path.join(name))))?;
        Ok(Self { path: path.to_path_buf(), head: attributes.head })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The newest sound one in `directory`, and what is wrong with those that are newer. Collective.
    pub fn newest(comm: &dyn Communicator, directory: &Path) -> (Option<Self>, Vec<Error>) {
        let mut damaged = Vec::new();
        for step in steps(directory) {
            match Self::open(comm, &path(directory, step)) {
                Ok(found) => return (Some(found), damaged),
                Err(why) => damaged.push(why),
            }
        }
        (None, damaged)
    }

    /// The values of all fields at the points of `block`, in the order of the head, relative to `references`, whatever
    /// precision and references they were written with. To the bit where both are the same.
    ///
    /// # Errors
    /// Where the fields are not those that the head speaks of.
    pub fn fields<T: Real>(&self, block: Block, references: &[f64]) -> Result<Vec<Vec<T>>> {
        let store = store(&self.path)?;
        let offsets = self.head.references.iter().zip(references).map(|(was, is)| was - is);
        let moved = |(name, offset): (&String, f64)| {
            let values = self.field(&store, name, block)?;
            // Zero may have a sign, which a sum would take.
            let moved =
                values.into_iter().map(|x| T::of(if offset == 0.0 { x } else { x + offset }));
            Ok(moved.collect())
        };
        self.head.fields.iter().zip(offsets).map(moved).collect()
    }

    fn field(&self, store: &Arc<FilesystemStore>, name: &str, block: Block) -> Result<Vec<f64>> {
        let path = self.path.join(name);
        let refused = |why: &dyn std::fmt::Display| refused(&path, why);
        let array = Array::open(store.clone(), &format!("/{name}")).map_err(|why| refused(&why))?;
        let [nx, ny, nz] = self.head.points;
        if array.shape() != [nz as u64, ny as u64, nx as u64] {
            let what = format!("{:?} values along z, y, x, not {nz} x {ny} x {nx}", array.shape());
            return Err(refused(&what));
        }
        let range = |a: usize| block.start[a] as u64..(block.start[a] + block.points[a]) as u64;
        let subset = ArraySubset::new_with_ranges(&[range(2), range(1), range(0)]);
        if *array.data_type() == data_type::float64() {
            let values = array.retrieve_array_subset::<Vec<f64>>(&subset);
            return values.map_err(|why| refused(&why));
        }
        let values = array.retrieve_array_subset::<Vec<f32>>(&subset);
        Ok(values.map_err(|why| refused(&why))?.into_iter().map(f64::from).collect())
    }
}

impl Head {
    /// That of the checkpoint at `path`, whose fields are not looked at.
    ///
    /// # Errors
    /// Where it is missing, damaged, or of a version that is newer than this one.
    pub fn read(path: &Path) -> Result<Self> {
        attributes(path).map(|attributes| attributes.head)
    }

    /// That in `text`, the `zarr.json` of a checkpoint; errors call it `file`.
    ///
    /// # Errors
    /// As [`Head::read`].
    pub fn parse(text: &[u8], file: &Path) -> Result<Self> {
        parse(text, file).map(|attributes| attributes.head)
    }
}

/// The attributes of the group at `path`, which are sound.
fn attributes(path: &Path) -> Result<Attributes> {
    let file = path.join("zarr.json");
    let text = fs::read(&file).map_err(Error::io(&file))?;
    parse(&text, &file)
}

fn parse(text: &[u8], file: &Path) -> Result<Attributes> {
    let wrong = |what: String| Error::Format { path: file.to_path_buf(), what };
    let value: serde_json::Value =
        serde_json::from_slice(text).map_err(|why| wrong(format!("damaged: {why}")))?;
    let format = value.pointer("/attributes/kolmo/format").and_then(serde_json::Value::as_u64);
    match format {
        None => return Err(wrong("damaged, or no checkpoint of Kolmo: it has no format".into())),
        Some(newer) if newer > FORMAT.into() => {
            return Err(wrong(format!(
                "it has format {newer}; this version of Kolmo reads formats up to {FORMAT}"
            )));
        }
        Some(_) => {}
    }
    let group: Group =
        serde_json::from_value(value).map_err(|why| wrong(format!("damaged: {why}")))?;
    if group.zarr_format != ZARR_FORMAT {
        return Err(wrong(format!("damaged: zarr_format is {}", group.zarr_format)));
    }
    let attributes = group.attributes.kolmo;
    if attributes.sum() != attributes.checksum {
        return Err(wrong("damaged: its checksum is not that of what it holds".into()));
    }
    Ok(attributes)
}
