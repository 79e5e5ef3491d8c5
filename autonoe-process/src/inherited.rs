//! Copies of open files that a child inherits.

use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::Launch;

/// The lowest number of an inherited descriptor.
///
/// Node does not pass on inherited descriptors up to the first unused number above 15, so a lock
/// with a low number would not reach its tools.
const INHERITED_FROM: i32 = 100;

/// Duplicates `file` to a high number. The copy is close-on-exec, also in other children.
pub(crate) fn copy(file: &impl AsFd) -> io::Result<OwnedFd> {
    match fcntl_dupfd_cloexec(file, INHERITED_FROM) {
        // The limit of descriptors is lower than that number.
        Err(Errno::INVAL) => Ok(fcntl_dupfd_cloexec(file, 0)?),
        result => Ok(result?),
    }
}

/// Returns the read end of a pipe that holds `bytes` and has no writer.
pub(crate) fn filled_pipe(bytes: &[u8]) -> io::Result<OwnedFd> {
    if bytes.len() > Launch::SECRET_LIMIT {
        let limit = Launch::SECRET_LIMIT;
        let message = format!("a secret is longer than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(bytes)?;
    copy(&reader)
}
