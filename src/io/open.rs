//! Opening files by names that may refer to something else than a regular file.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Result, Seek, SeekFrom};
use std::path::Path;

/// Maximum size of a table or a text: bytes.
pub(crate) const MAX_TEXT_BYTES: u64 = 4 << 30;
/// Maximum size of a JSON file: bytes.
pub(crate) const MAX_JSON_BYTES: u64 = 256 << 20;

/// Open a regular file to read it. Fails for any other kind: opening a pipe without a writer or a terminal would block, and a
/// device may have no end.
pub(crate) fn open(path: &Path) -> Result<File> {
    regular(File::options().read(true), path)
}

/// The bytes of a regular file, at most `max_bytes`. Fails where it is not regular, or larger.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let too_large = || Error::other(format!("too large: at most {max_bytes} bytes are read"));
    if length > max_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // The file may grow while it is read.
    file.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes { Err(too_large()) } else { Ok(bytes) }
}

/// The last bytes of a regular file, up to `max_bytes`. Fails where it is not regular.
pub(crate) fn read_tail(path: &Path, max_bytes: u64) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max_bytes)))?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a regular file of at most `max_bytes` bytes.
///
/// # Errors
/// As [`read`], and where it is not UTF-8.
pub(crate) fn text(path: &Path, max_bytes: u64) -> Result<String> {
    String::from_utf8(read(path, max_bytes)?).map_err(|_| Error::other("it is not UTF-8 text"))
}

/// Open a regular file with `options`, without blocking on the other end of a pipe. Fails where it is not regular.
pub(crate) fn regular(options: &mut OpenOptions, path: &Path) -> Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    let file = options.open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(Error::other(format!("{}, not a regular file", kind_name(kind)))),
    }
}

/// Check that `file` lies in `directory` under its own name and that no link leads out, so that its content may be shown. Fails
/// otherwise.
pub(crate) fn check_inside(directory: &Path, file: &Path) -> crate::Result<()> {
    let real = |path: &Path| path.canonicalize().map_err(crate::Error::io(path));
    let (real_directory, real_file) = (real(directory)?, real(file)?);
    let name = file.strip_prefix(directory).unwrap_or(file);
    if real_file == real_directory.join(name) {
        return Ok(());
    }
    let what = format!("a link to {}, which is not a part of the run", real_file.display());
    Err(super::malformed(file, what))
}

#[cfg(unix)]
fn kind_name(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind_name(kind: std::fs::FileType) -> &'static str {
    if kind.is_dir() { "a directory" } else { "a device" }
}
