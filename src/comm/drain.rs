//! Waits until the launcher has read the last output of a rank before all ranks are ended: Hydra of MPICH 4.0 may
//! otherwise end them (a few times in a hundred) with output still in a pipe.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileTypeExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time between two polls.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Returns when all data written into a pipe have been read, or after `timeout`; returns at once if the stream is not a
/// pipe.
///
/// # Errors
/// The stream is closed, or the system call fails.
pub(super) fn drain(stream: &impl AsFd, timeout: Duration) -> io::Result<()> {
    let stream = File::from(stream.as_fd().try_clone_to_owned()?);
    let is_pipe = stream.metadata()?.file_type().is_fifo();
    let start = Instant::now();
    while is_pipe && unread_bytes(&stream)? > 0 && start.elapsed() < timeout {
        sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// Number of unread bytes in a pipe.
fn unread_bytes(pipe: &File) -> io::Result<c_int> {
    let mut bytes: c_int = 0;
    // SAFETY: the descriptor is open, and this request writes one int.
    match unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) } {
        0 => Ok(bytes),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write, pipe};
    use std::thread::scope;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn drain_returns_when_all_data_are_read() {
        let (mut reader, mut writer) = pipe().unwrap();
        writer.write_all(b"a message").unwrap();
        scope(|scope| {
            let drained = scope.spawn(|| drain(&writer, LONG));
            sleep(Duration::from_millis(50));
            assert!(!drained.is_finished());
            reader.read_exact(&mut [0; 8]).unwrap();
            sleep(Duration::from_millis(50));
            assert!(!drained.is_finished());
            reader.read_exact(&mut [0]).unwrap();
            let start = Instant::now();
            drained.join().unwrap().unwrap();
            assert!(start.elapsed() < LONG / 2);
        });
    }

    #[test]
    fn drain_gives_up_if_nobody_reads() {
        let (_reader, mut writer) = pipe().unwrap();
        writer.write_all(b"a message").unwrap();
        let timeout = Duration::from_millis(20);
        let start = Instant::now();
        drain(&writer, timeout).unwrap();
        assert!(start.elapsed() >= timeout);
    }

    #[test]
    fn drain_does_not_wait_for_a_file() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a message").unwrap();
        // At the end of a file no data remain to be read; at its beginning the complete file does.
        file.rewind().unwrap();
        let start = Instant::now();
        drain(&file, LONG).unwrap();
        assert!(start.elapsed() < LONG / 2);
    }
}
