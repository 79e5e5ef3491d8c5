//! The only writer of results to standard output.

use std::io::{self, Write};

/// State of the reader of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderState {
    /// The result was written.
    Open,
    /// The reader closed the pipe.
    Closed,
}

/// A result could not be written. The command must not look successful.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written to: {0}")]
pub(crate) struct WriteError(io::Error);

/// Writes a result to standard output and flushes it.
pub(crate) fn write_result(text: &str) -> Result<ReaderState, WriteError> {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    classify_write(written)
}

/// Classifies the result of a write.
///
/// A closed pipe is not an error: the reader has seen enough, as `head` does.
pub(crate) fn classify_write(written: io::Result<()>) -> Result<ReaderState, WriteError> {
    match written {
        Ok(()) => Ok(ReaderState::Open),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ReaderState::Closed),
        Err(error) => Err(WriteError(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_no_failure() {
        let failed = |kind: io::ErrorKind| classify_write(Err(kind.into())).ok();

        assert_eq!(classify_write(Ok(())).ok(), Some(ReaderState::Open));
        assert_eq!(failed(io::ErrorKind::BrokenPipe), Some(ReaderState::Closed));
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
