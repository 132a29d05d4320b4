//! Standard output.

use std::io::Write;
use std::process::ExitCode;

use kolmo::io::progress::visible;
use kolmo::{Error, Result};

/// Print to standard output. A closed pipe, such as after `head`, is not an error.
pub(crate) fn say(text: &str) -> Result<ExitCode> {
    let mut out = std::io::stdout();
    match out.write_all(visible(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output")(error))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}
