//! A child that has a limited time to finish.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Interval of the checks whether the child has finished.
const POLL: Duration = Duration::from_millis(20);

/// Time to wait for the end of the output of a child that is gone.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Outcome of the child.
#[derive(Debug)]
pub(crate) enum Ending {
    /// It finished by itself, having printed this on standard output.
    Exited { status: ExitStatus, stdout: Vec<u8> },
    /// It was still running at the limit and was killed.
    TimedOut,
    /// It finished, but something it started keeps its output open.
    LeftOutputOpen,
}

/// Runs `command` for at most `limit`, with `input` on its standard input and its standard error
/// on the terminal.
///
/// `input` must fit into a pipe, or a child that does not read it is waited for.
pub(crate) fn run(command: &mut Command, input: &str, limit: Duration) -> io::Result<Ending> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A child that reads nothing may be gone already.
        match stdin.write_all(input.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let output = read_stdout_on_thread(&mut child);

    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(Ending::TimedOut);
        }
        thread::sleep(POLL);
    };

    // The pipe stays open as long as any grandchild holds it, so its end must
    // be limited too.
    match output.recv_timeout(LAST_WORDS) {
        Ok(stdout) => Ok(Ending::Exited {
            status,
            stdout: stdout?,
        }),
        Err(_) => Ok(Ending::LeftOutputOpen),
    }
}

/// Reads standard output on another thread, so that a full pipe does not stop
/// the child.
fn read_stdout_on_thread(child: &mut Child) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stdout) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.read_to_end(&mut bytes).map(|_| bytes);
            // After a timeout nobody listens any more.
            let _ = sender.send(read);
        });
    }
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_finishes_hands_over_its_output() {
        let mut echo = Command::new("echo");

        let ending = run(echo.arg("done"), "", Duration::from_secs(60)).unwrap();

        let Ending::Exited { status, stdout } = ending else {
            panic!("{ending:?}");
        };
        assert!(status.success());
        assert_eq!(stdout, b"done\n");
    }

    #[test]
    fn a_child_reads_its_input() {
        let ending = run(&mut Command::new("cat"), "hello", Duration::from_secs(60)).unwrap();

        let Ending::Exited { stdout, .. } = ending else {
            panic!("{ending:?}");
        };
        assert_eq!(stdout, b"hello");
    }

    #[test]
    fn a_child_that_hangs_is_killed() {
        let mut sleep = Command::new("sleep");

        let ending = run(sleep.arg("600"), "", Duration::ZERO).unwrap();

        assert!(matches!(ending, Ending::TimedOut), "{ending:?}");
    }
}
