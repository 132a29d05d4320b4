//! The directory of a run: who may write there, and which files belong to the run.
//!
//! One process at a time writes to it ([`DirectoryLock`]). The run replaces and removes only files that its manifest names;
//! foreign files in the directory stay, and a run that would have to replace one is refused before it begins.

mod lock;
mod manifest;
mod names;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use lock::DirectoryLock;
use manifest::Content;
use names::{FILES, FOLDERS};
pub(crate) use names::{KINDS, is_of_a_run, is_plane, plane, step};

use super::{
    RunId, append_to, checkpoint, make_directory, malformed, refused, remove_file, with_ending,
};
use crate::error::{Error, Result};

/// The resolved input.
const INPUT: &str = "config.toml";

/// A directory that one run owns.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// Its manifest, open to append names.
    manifest_file: File,
    content: Content,
}

impl RunDirectory {
    /// Whether `path` contains a run, or a part of one.
    pub fn contains_run(path: &Path) -> bool {
        let has = |name| path.join(name).exists();
        // A run whose manifest was removed has these two.
        has(manifest::FILE) || (has("log.jsonl") && has(INPUT))
    }

    /// Something in `path` that a run would replace, but that the manifest of the run there does not name.
    pub fn conflict_at(path: &Path) -> Result<Option<String>> {
        let mut own = BTreeSet::new();
        if let Some(content) = manifest::read(path)? {
            own = content.names;
            // Also an unfinished new manifest, which a kill may have left.
            own.insert(manifest::FILE.into());
        }
        // The run would first write under names with an added ending.
        let unfinished =
            entries(path).into_iter().chain(folder_contents(path)).filter_map(|entry| {
                let name = relative(path, &entry);
                let mut whole = final_name(&name)?.to_string();
                whole += if entry.is_dir() { "/" } else { "" };
                is_of_a_run(&whole).then_some((whole, name))
            });
        let existing = existing_names(path).into_iter().map(|name| (name.clone(), name));
        let mut foreign = existing.chain(unfinished).filter(|(whole, _)| !own.contains(whole));
        Ok(foreign.next().map(|(_, name)| name))
    }

    /// Refuse links by which a run in `path` would write or remove files outside it.
    pub fn refuse_links(path: &Path) -> Result<()> {
        let Ok(root) = path.canonicalize() else { return Ok(()) };
        let top = FILES.into_iter().chain([lock::FILE]).chain(FOLDERS).map(|name| path.join(name));
        let inner = folder_contents(path).into_iter().filter(|entry| {
            let name = relative(path, entry);
            is_of_a_run(&name) || is_folder_of_a_run(&name)
        });
        for link in top.chain(inner).filter(|link| link.is_symlink()) {
            if link.canonicalize().is_ok_and(|target| target.starts_with(&root)) {
                continue;
            }
            let (link, target) = (link.display(), fs::read_link(&link).unwrap_or_default());
            let target = target.display();
            return Err(refused(
                format!("{link} is a link to {target}, outside the directory of the run"),
                "a run writes and removes files in its own directory only; choose that with `--out`",
            ));
        }
        Ok(())
    }

    /// Refuse a directory inside a checkpoint of a run, since the run may remove the checkpoint as a whole.
    pub fn refuse_inside_checkpoint(path: &Path) -> Result<()> {
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let is_checkpoint = |folder: &&Path| {
            let run = folder.parent().and_then(Path::parent);
            run.is_some_and(|run| {
                Self::contains_run(run) && is_of_a_run(&format!("{}/", relative(run, folder)))
            })
        };
        let Some(folder) = whole.ancestors().find(is_checkpoint) else { return Ok(()) };
        let (path, folder) = (path.display(), folder.display());
        Err(refused(
            format!("{path} lies inside {folder}, which its run may remove"),
            "choose another directory with `--out`",
        ))
    }

    /// Lock the existing run in `path` against other processes, and remove an unfinished new manifest that a kill left.
    ///
    /// # Errors
    /// Where there is no run, a link leads out of it, or another process holds it.
    pub fn enter(path: &Path) -> Result<DirectoryLock> {
        check_access(path)?;
        if !Self::contains_run(path) {
            return Err(refused(
                format!("{} holds no run", path.display()),
                "the directory of a run has a manifest.txt in it",
            ));
        }
        Self::refuse_links(path)?;
        let lock = DirectoryLock::take(path)?;
        // An unfinished replacement of this manifest, left by a kill.
        remove_file(&with_ending(&path.join(manifest::FILE), ".part"))?;
        Ok(lock)
    }

    /// A free path: `path` with the first number from 2 on that makes it free.
    pub fn beside(path: &Path) -> PathBuf {
        // The components drop a trailing slash, after which a number would name a file inside.
        let path: PathBuf = path.components().collect();
        let numbered = |number: u32| with_ending(&path, &format!("-{number}"));
        (2..).map(numbered).find(|path| !path.exists()).unwrap_or_else(|| numbered(2))
    }

    /// Create the directory of `run`, and remove the files that the manifest of an older run there names. Other files stay.
    pub fn create(path: &Path, run: RunId) -> Result<Self> {
        make_directory(path)?;
        if let Some(old) = manifest::read(path)? {
            // The manifest stays until all else is removed: after a kill, the rest is still a run, which can be replaced. So does
            // the input, which may be the input of this run: it is replaced as a whole.
            let mut old_files = old.names.iter().filter(|name| *name != INPUT);
            old_files.try_for_each(|name| remove(path, name))?;
            remove_empty_folders(path);
        }
        let input = exists_in(path, INPUT).then(|| INPUT.to_string());
        let names = input.into_iter().collect();
        Self::begin(path, Content { run: Some(run), names })
    }

    /// Open the directory of an existing run, which continues as `run` where that is given. A run whose manifest was removed gets
    /// a new one, of all files that have names of a run.
    pub fn open(path: &Path, run: Option<RunId>) -> Result<Self> {
        let mut directory = match manifest::read(path)? {
            None => Self::begin(path, Content { run, names: existing_names(path) })?,
            Some(content) => {
                let manifest_file = append_to(&path.join(manifest::FILE))?;
                Self { path: path.to_path_buf(), manifest_file, content }
            }
        };
        directory.content.names.iter().try_for_each(|name| remove_unfinished(path, name))?;
        directory.update_manifest(run)?;
        Ok(directory)
    }

    /// With a new manifest, in place of an existing one.
    fn begin(path: &Path, content: Content) -> Result<Self> {
        let manifest_file = manifest::write(path, &content)?;
        Ok(Self { path: path.to_path_buf(), manifest_file, content })
    }

    /// Remove names with steps from the manifest whose files no longer exist, such as those of older checkpoints: files that are
    /// put there later do not belong to the run.
    ///
    /// # Errors
    /// An error of the system; the manifest is then unchanged.
    pub fn prune_manifest(&mut self) -> Result<()> {
        self.update_manifest(None)
    }

    /// The same, and name `run` in the manifest where it is given.
    fn update_manifest(&mut self, run: Option<RunId>) -> Result<()> {
        let Content { run: before, names: all } = &self.content;
        let run = run.or(*before);
        let names: BTreeSet<String> =
            all.iter().filter(|name| is_kept(&self.path, name)).cloned().collect();
        if names.len() < all.len() || run != *before {
            *self = Self::begin(&self.path, Content { run, names })?;
        }
        Ok(())
    }

    /// The ID of the run in `path`; `None` where it has none.
    pub fn run_of(path: &Path) -> Result<Option<RunId>> {
        Ok(manifest::read(path)?.and_then(|content| content.run))
    }

    /// A function that returns whether something in `path` belongs to the run there.
    pub fn owner_of(path: &Path) -> Result<impl Fn(&Path) -> bool> {
        let names = match manifest::read(path)? {
            Some(content) => content.names,
            None => existing_names(path),
        };
        let directory = path.to_path_buf();
        Ok(move |path: &Path| is_named(&directory, path, |name| names.contains(name)))
    }

    /// Enter files in the manifest that the run is about to create.
    ///
    /// # Errors
    /// Where one exists that the run did not create, where the directory was moved or another run has taken its place, or where
    /// the system refuses.
    pub fn claim(&mut self, names: impl IntoIterator<Item = String>) -> Result<()> {
        if !lock::is_at(&self.manifest_file, &self.path.join(manifest::FILE)) {
            let what = "the run directory was moved, or now belongs to another run";
            return Err(malformed(&self.path, what));
        }
        let known = &self.content.names;
        let new: BTreeSet<String> =
            names.into_iter().filter(|name| !known.contains(name)).collect();
        debug_assert!(new.iter().all(|name| is_of_a_run(name)), "{new:?}");
        if let Some(foreign) = new.iter().find(|name| exists_in(&self.path, name)) {
            let what = "not a file of this run, which would replace it; move it away";
            return Err(malformed(&self.path.join(foreign), what));
        }
        manifest::add(&self.path, &mut self.manifest_file, &new)?;
        self.content.names.extend(new);
        Ok(())
    }

    /// Whether the manifest names the file at `path`, in the directory.
    pub fn owns(&self, path: &Path) -> bool {
        is_named(&self.path, path, |name| self.content.names.contains(name))
    }

    /// The directory of its checkpoints.
    pub fn checkpoints(path: &Path) -> PathBuf {
        path.join("checkpoints")
    }

    /// The path of something in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The name of the file at `path` relative to `directory`.
fn relative(directory: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(directory).unwrap_or(path);
    let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// Whether `has` holds for the name of the file at `path` in `directory`, or of a folder that it is a part of.
fn is_named(directory: &Path, path: &Path, has: impl Fn(&str) -> bool) -> bool {
    let name = relative(directory, path);
    let whole = final_name(&name).unwrap_or(&name);
    has(whole) || has(&format!("{whole}/"))
}

/// # Errors
/// Where the content of `directory` may not be listed.
pub(crate) fn check_access(directory: &Path) -> Result<()> {
    match directory.join(manifest::FILE).try_exists() {
        Err(why) if why.kind() == ErrorKind::PermissionDenied => Err(Error::io(directory)(why)),
        _ => Ok(()),
    }
}

/// Endings of names that are being written or replaced.
const TEMPORARY_ENDINGS: [&str; 2] = [".part", checkpoint::REPLACED];

/// The name without the ending for files that are being written or replaced; `None` without such an ending.
fn final_name(name: &str) -> Option<&str> {
    TEMPORARY_ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))
}

/// The content of a folder; empty where there is no folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The content of the folders of a run in `directory`, and of those of its planes.
fn folder_contents(directory: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS.into_iter().flat_map(|folder| entries(&directory.join(folder)));
    let planes = entries(&directory.join("planes")).into_iter().flat_map(|plane| entries(&plane));
    folders.chain(planes).collect()
}

/// Whether a run may create a folder of this name in one of its folders.
fn is_folder_of_a_run(name: &str) -> bool {
    is_of_a_run(&format!("{name}/")) || name.strip_prefix("planes/").is_some_and(is_plane)
}

/// All entries of `directory` that have names of a run, except its manifest.
fn existing_names(directory: &Path) -> BTreeSet<String> {
    let files = FILES.into_iter().filter(|name| *name != manifest::FILE).map(String::from);
    let inner = folder_contents(directory).into_iter().map(|path| match path.is_dir() {
        true => relative(directory, &path) + "/",
        false => relative(directory, &path),
    });
    let names = files.chain(inner).filter(|name| is_of_a_run(name));
    names.filter(|name| exists_in(directory, name)).collect()
}

/// Whether `directory` contains this name; for a folder of pieces, whether it contains a piece.
fn exists_in(directory: &Path, name: &str) -> bool {
    let path = path_of(directory, name);
    match name.strip_prefix("fields/").and_then(|name| name.strip_suffix('/')) {
        Some(_) => entries(&path).iter().any(|path| is_piece(path)),
        None => path.symlink_metadata().is_ok(),
    }
}

/// Whether a manifest keeps this name: an existing file, or one that is not of a single step and that a run creates again.
fn is_kept(directory: &Path, name: &str) -> bool {
    let last = name.trim_end_matches('/').rsplit('/').next();
    // Also where there are only remains of it after a kill.
    let remains = |ending: &&str| match name.strip_suffix('/') {
        Some(folder) => exists_in(directory, &format!("{folder}{ending}/")),
        None => exists_in(directory, &format!("{name}{ending}")),
    };
    !last.is_some_and(|last| last.starts_with("step_"))
        || exists_in(directory, name)
        || TEMPORARY_ENDINGS.iter().any(remains)
}

/// The path of this name in `directory`.
fn path_of(directory: &Path, name: &str) -> PathBuf {
    directory.join(name.trim_end_matches('/'))
}

/// Whether it is `rank_00003.vti`, `.vtr` or `.vts`, or an unfinished one.
pub(crate) fn is_piece(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".part").unwrap_or(&name);
    name.starts_with("rank_") && [".vti", ".vtr", ".vts"].iter().any(|kind| name.ends_with(kind))
}

/// Remove an entry of a manifest, and what a kill may have left of it, from `directory`.
fn remove(directory: &Path, name: &str) -> Result<()> {
    let path = path_of(directory, name);
    if name.starts_with("checkpoints/") {
        checkpoint::remove(&path)?;
        return TEMPORARY_ENDINGS
            .iter()
            .try_for_each(|end| checkpoint::remove(&with_ending(&path, end)));
    }
    if name.ends_with('/') {
        let mut pieces = entries(&path).into_iter().filter(|piece| is_piece(piece));
        return pieces.try_for_each(|piece| remove_file(&piece));
    }
    remove_file(&path)?;
    remove_file(&with_ending(&path, ".part"))
}

/// Remove an unfinished file of this name that a kill left. Checkpoints are handled separately.
fn remove_unfinished(directory: &Path, name: &str) -> Result<()> {
    let path = path_of(directory, name);
    let unfinished = match (name.starts_with("checkpoints/"), name.ends_with('/')) {
        (true, _) => return Ok(()),
        (false, true) => entries(&path).into_iter().filter(|piece| is_piece(piece)).collect(),
        (false, false) => vec![with_ending(&path, ".part")],
    };
    let is_unfinished =
        |path: &&PathBuf| path.is_file() && path.extension() == Some("part".as_ref());
    unfinished.iter().filter(is_unfinished).try_for_each(|path| remove_file(path))
}

/// Remove the empty folders of a run.
fn remove_empty_folders(directory: &Path) {
    for folder in FOLDERS.map(|name| directory.join(name)) {
        for inner in entries(&folder).iter().filter(|inner| !inner.is_symlink()) {
            if is_folder_of_a_run(&relative(directory, inner)) {
                // Fails where it has content.
                let _ = fs::remove_dir(inner);
            }
        }
        let _ = fs::remove_dir(&folder);
    }
}
