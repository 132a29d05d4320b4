//! Reading of checkpoints.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::directory::step_of;
use super::files::{FileChecksum, Seal};
use super::{Attributes, FORMAT, Group, Head, Kolmo, ZARR_FORMAT, path, steps_on_all};
use crate::comm::{Communicator, all_or_error, deal};
use crate::error::{Error, Result};
use crate::grid::Block;
use crate::io::zarr::{Array, FolderContent};
use crate::io::{RunId, malformed, open, refused};

/// Advice where a checkpoint may be sound but cannot be read.
const UNREADABLE_ADVICE: &str = "nothing was changed: a restart from an older checkpoint would lose everything newer; make this one readable, \
       or use the version of Kolmo that wrote it; `--from STEP` continues from an older one";

/// Errors of the system, and of [`parse`] for a newer format, that do not imply damage.
const UNREADABLE_KINDS: [ErrorKind; 5] = [
    ErrorKind::PermissionDenied,
    ErrorKind::TimedOut,
    ErrorKind::StaleNetworkFileHandle,
    ErrorKind::OutOfMemory,
    ErrorKind::Unsupported,
];

/// Why ranks may see different files.
const OLDER_STATE: &str =
    "\n       the file system shows this rank an older state: wait, then start again";

/// Number of bytes at the end of the attributes that contain their checksum.
const TAIL_SIZE: u64 = 256;

/// A checkpoint that was found to be sound.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// Its content in addition to the fields.
    pub head: Head,
}

impl Checkpoint {
    /// Open the checkpoint at `path` after checking all its bytes, shared among the ranks. Collective.
    ///
    /// # Errors
    /// On all ranks, where a file is missing, damaged, or of a version that is newer than this one; and where ranks do not see
    /// the same checkpoint there.
    pub fn open(comm: &dyn Communicator, path: &Path) -> Result<Self> {
        Self::open_on_all(comm, path)?
    }

    /// [`Checkpoint::open`]: the outer error is that ranks see different files.
    fn open_on_all(comm: &dyn Communicator, path: &Path) -> Result<Result<Self>> {
        // The attributes list all other files.
        let read = (comm.rank() == 0).then(|| attributes(path)).transpose();
        let read = read.map_err(mark_unreadable);
        // What rank 0 sees; `None` where that is not sound.
        let known = read.as_ref().ok().and_then(Option::as_ref);
        let first = comm.broadcast(0, known.map_or(Vec::new(), Attributes::identity));
        let is_sound = !first.is_empty();
        let older = |what: String| {
            malformed(path, format!("rank 0 finds it sound; here {what}{OLDER_STATE}"))
        };
        let read = match read {
            Ok(None) if is_sound => check_same(path, &first).map(|()| None).map_err(older),
            read => read,
        };
        let read = match all_or_error(comm, read) {
            Err(why) if is_sound => return Err(why),
            Err(why) => return Ok(Err(why)),
            Ok(read) => read,
        };
        let (head, own_files) = distribute_head(comm, read)?;
        let seal = Seal { run: head.run, step: head.step };
        let checked =
            own_files.iter().try_for_each(|(name, checksum)| checksum.check(seal, path, name));
        let path = path.to_path_buf();
        let checked = all_or_error(comm, checked.map_err(mark_unreadable));
        Ok(checked.map(|()| Self { path, head }))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// This checkpoint, unless it belongs to another run than `run`.
    ///
    /// # Errors
    /// Where it belongs to another run.
    pub fn of_run(self, run: Option<RunId>) -> Result<Self> {
        match run.filter(|run| *run != self.head.run) {
            Some(run) => {
                let other = self.head.run;
                let what = format!("a checkpoint of another run: of {other}, and this is {run}");
                Err(malformed(&self.path, what))
            }
            None => Ok(self),
        }
    }

    /// The newest sound checkpoint of `run` in `directory`, as rank 0 sees it, and the problems of the newer ones. Collective.
    ///
    /// # Errors
    /// On all ranks, where another rank does not see a checkpoint that rank 0 found sound, and where one may be sound but cannot
    /// be read.
    pub fn newest(
        comm: &dyn Communicator,
        directory: &Path,
        run: Option<RunId>,
    ) -> Result<(Option<Self>, Vec<Error>)> {
        let mut damaged = Vec::new();
        for step in steps_on_all(comm, directory) {
            let found = Self::open_on_all(comm, &path(directory, step))?;
            match found.and_then(|found| found.of_run(run)) {
                Ok(found) => return Ok((Some(found), damaged)),
                Err(why) if !is_damaged(&why) => return Err(why),
                Err(why) => damaged.push(why),
            }
        }
        Ok((None, damaged))
    }

    /// The values of all fields at the points of `block`, in the order of the head, relative to `references`, independent of the
    /// precision and references they were written with. Bitwise identical where both are the same.
    ///
    /// # Errors
    /// Where the fields are not those in the head.
    pub fn fields(
        &self,
        block: Block,
        references: &[f64],
    ) -> impl Iterator<Item = Result<Vec<f64>>> {
        (0..self.head.fields.len())
            .zip(references)
            .map(move |(at, reference)| self.field(at, block, *reference))
    }

    /// The values of field number `at` of the head, relative to `reference`.
    ///
    /// # Errors
    /// As [`Checkpoint::fields`].
    pub fn field(&self, at: usize, block: Block, reference: f64) -> Result<Vec<f64>> {
        let Head { fields, references, points, .. } = &self.head;
        let offset = references[at] - reference;
        let folder = self.path.join(&fields[at]);
        let mut values = field(&folder, *points)?.read(&folder, block)?;
        // Adding zero would lose the sign of a zero.
        if offset != 0.0 {
            values.iter_mut().for_each(|x| *x += offset);
        }
        Ok(values)
    }
}

/// The head that rank 0 has read, and the files that this rank has to check. Collective.
fn distribute_head(
    comm: &dyn Communicator,
    read: Option<Attributes>,
) -> Result<(Head, BTreeMap<String, FileChecksum>)> {
    let (common, files) = match read {
        Some(Attributes { head, files, .. }) => (Some(head), files),
        None => (None, BTreeMap::new()),
    };
    let text = common.as_ref().map_or(Ok(Vec::new()), serde_json::to_vec);
    let text = comm.broadcast(0, text.unwrap_or_default());
    let sharers = comm.size().min(files.len());
    let share = |rank| files.iter().skip(rank).step_by(sharers).collect::<BTreeMap<_, _>>();
    let shares = (0..sharers).map(|rank| serde_json::to_vec(&share(rank)).unwrap_or_default());
    let own_files = deal(comm, shares.collect());
    let broken = |why| malformed(Path::new("zarr.json"), why);
    let head = serde_json::from_slice(&text).map_err(broken)?;
    let own_files =
        if own_files.is_empty() { Ok(BTreeMap::new()) } else { serde_json::from_slice(&own_files) };
    Ok((head, own_files.map_err(broken)?))
}

impl Head {
    /// The head of the checkpoint at `path`, whose fields are not checked. Fails where it is damaged or of a newer version.
    pub fn read(path: &Path) -> Result<Self> {
        attributes(path).map(|attributes| attributes.head)
    }

    /// The head in `text`, the `zarr.json` of a checkpoint; errors call it `file`.
    pub fn parse(text: &[u8], file: &Path) -> Result<Self> {
        parse(text, file).map(|attributes| attributes.head)
    }
}

/// The field in `folder`, on a grid of `points`.
fn field(folder: &Path, points: [usize; 3]) -> Result<Array> {
    match Array::find(folder).map_err(|why| malformed(folder, why))? {
        FolderContent::Array(array) if array.points == points => Ok(array),
        FolderContent::Array(array) => {
            let ([nx, ny, nz], [fx, fy, fz]) = (points, array.points);
            let found = format!("{fz} x {fy} x {fx} values along z, y, x");
            Err(malformed(folder, format!("{found}, not {nz} x {ny} x {nx}")))
        }
        _ => Err(malformed(folder, "damaged: no field in it")),
    }
}

/// An error where the file is not necessarily damaged: it may be unreadable at the moment, or by this version.
fn mark_unreadable(why: Error) -> Error {
    match &why {
        Error::Io { source, .. } if UNREADABLE_KINDS.contains(&source.kind()) => {
            refused(why.what(), UNREADABLE_ADVICE)
        }
        _ => why,
    }
}

/// Whether the reason why a checkpoint could not be opened is damage.
pub(crate) fn is_damaged(why: &Error) -> bool {
    why.exit_code() == 1
}

/// The attributes of the group at `path`, if they are sound and of the step in its name.
fn attributes(path: &Path) -> Result<Attributes> {
    let file = path.join("zarr.json");
    let text = open::read(&file, open::MAX_JSON_BYTES).map_err(Error::io(&file))?;
    let attributes = parse(&text, &file)?;
    let (name_step, step) = (step_of(path), attributes.head.step);
    if name_step.is_some_and(|name_step| name_step != step) {
        let what = format!("this is the checkpoint of step {step}, not of the step in its name");
        return Err(malformed(&file, format!("damaged: {what}")));
    }
    Ok(attributes)
}

/// Check that this rank sees the attributes at `path` that rank 0 knows as `first`: they end with it. The error is what it sees instead.
fn check_same(path: &Path, first: &[u8]) -> Result<(), String> {
    let file = path.join("zarr.json");
    let end = open::read_tail(&file, TAIL_SIZE)
        .map_err(|why| format!("not: {}", Error::io(&file)(why)))?;
    match end.windows(first.len()).any(|part| part == first) {
        true => Ok(()),
        false => Err("it is another one".into()),
    }
}

fn parse(text: &[u8], file: &Path) -> Result<Attributes> {
    let damaged = |what: &dyn Display| malformed(file, format!("damaged: {what}"));
    let value: Value = serde_json::from_slice(text).map_err(|why| damaged(&why))?;
    let format = value.pointer("/attributes/kolmo/format").and_then(Value::as_u64);
    match format {
        None => {
            return Err(malformed(file, "damaged, or not a Kolmo checkpoint: it has no format"));
        }
        Some(newer) if newer > FORMAT.into() => {
            let reads = format!("this version of Kolmo reads formats up to {FORMAT}");
            let what = format!("it has format {newer}; {reads}");
            return Err(Error::io(file)(io::Error::new(ErrorKind::Unsupported, what)));
        }
        Some(_) => {}
    }
    let group: Group = serde_json::from_value(value).map_err(|why| damaged(&why))?;
    let Kolmo { time, step, kolmo: attributes } = group.attributes;
    if group.zarr_format != ZARR_FORMAT {
        return Err(damaged(&format!("zarr_format is {}", group.zarr_format)));
    }
    if attributes.sum() != attributes.checksum {
        return Err(damaged(&"its checksum does not match its content"));
    }
    let head = &attributes.head;
    if (time, step) != (head.time, head.step) {
        return Err(damaged(&"time and step differ from those of its head"));
    }
    attributes.check().map_err(|why| damaged(&why))?;
    Ok(attributes)
}
