//! The one place that writes results to standard output.

use std::io::{self, Write};

/// Whether anybody reads the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// They were handed over.
    There,
    /// Who read them has closed the pipe.
    Gone,
}

/// A result could not be written: nobody got it, and it must not look as if somebody did.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written to: {0}")]
pub(crate) struct Unwritten(io::Error);

/// Writes a result to standard output, at once and all of it.
pub(crate) fn write_result(text: &str) -> Result<Reader, Unwritten> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    judged(written)
}

/// Says what has become of a result.
///
/// A reader that closes the pipe has seen enough, as `head` does; that is no failure.
pub(crate) fn judged(written: io::Result<()>) -> Result<Reader, Unwritten> {
    match written {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(Unwritten(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_no_failure() {
        let failed = |kind: io::ErrorKind| judged(Err(kind.into())).ok();

        assert_eq!(judged(Ok(())).ok(), Some(Reader::There));
        assert_eq!(failed(io::ErrorKind::BrokenPipe), Some(Reader::Gone));
        for kind in [
            io::ErrorKind::StorageFull,
            io::ErrorKind::WriteZero,
            io::ErrorKind::WouldBlock,
            io::ErrorKind::PermissionDenied,
        ] {
            assert_eq!(failed(kind), None, "{kind}");
        }
    }
}
