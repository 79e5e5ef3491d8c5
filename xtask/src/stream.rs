//! A child's output, shown while it runs and kept for reading afterwards.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use crate::cargo;
use crate::failure::Failure;

/// End and output of a streamed child.
#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `command`, passing its output on as it comes.
pub(crate) fn run(command: &mut Command) -> Result<Streamed, Failure> {
    cargo::announce(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
        .spawn()
        .and_then(pass_on)
        .map_err(|source| cargo::cannot_start(command, &source))
}

fn pass_on(mut child: Child) -> io::Result<Streamed> {
    let (out, err) = (child.stdout.take(), child.stderr.take());

    // Both pipes are read at once, or a full one would stop the child.
    let (stdout, stderr) = thread::scope(|scope| {
        let stderr = scope.spawn(move || err.map(|from| tee(from, io::stderr())));
        let stdout = out.map(|from| tee(from, io::stdout()));
        (stdout, stderr.join())
    });
    let status = child.wait()?;

    Ok(Streamed {
        status,
        stdout: stdout.transpose()?.unwrap_or_default(),
        stderr: stderr
            .map_err(|_| io::Error::other("the reader of standard error panicked"))?
            .transpose()?
            .unwrap_or_default(),
    })
}

/// Copies `from` to `to` piece by piece and returns the whole of it.
fn tee(mut from: impl Read, mut to: impl Write) -> io::Result<String> {
    let mut captured = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => return Ok(String::from_utf8_lossy(&captured).into_owned()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(&piece[..length])?;
        to.flush()?;
        captured.extend_from_slice(&piece[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tee_forwards_and_keeps_the_output() {
        let long = "a line that does not fit into one piece\n".repeat(1000);
        let mut printed = Vec::new();

        let captured = tee(long.as_bytes(), &mut printed).unwrap();

        assert_eq!(captured, long);
        assert_eq!(printed, long.as_bytes());
    }

    #[test]
    fn bytes_that_are_not_text_are_passed_on_unchanged() {
        let mut printed = Vec::new();

        let captured = tee(&b"ok \xff"[..], &mut printed).unwrap();

        assert_eq!(captured, "ok \u{fffd}");
        assert_eq!(printed, b"ok \xff");
    }
}
