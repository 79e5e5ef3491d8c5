//! Input and output streams of the program.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A signal that the program receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceivedSignal {
    /// `SIGINT`: the program shuts down gracefully.
    Interrupt,
    /// `SIGTERM`: the program exits at once.
    Terminate,
    /// `SIGHUP`: the program exits at once.
    Hangup,
}

/// An input of the program.
#[derive(Debug)]
pub(super) enum Input {
    /// The host wrote a line.
    Line(Value),
    /// The host wrote a line that is not JSON.
    Broken(String),
    /// The host closed the input.
    End,
    /// A signal.
    Signal(ReceivedSignal),
}

/// Reads lines and signals into one queue, on threads that end with their sources.
pub(super) fn listen(
    stdin: impl Read + Send + 'static,
    signals: Option<Receiver<ReceivedSignal>>,
) -> Receiver<Input> {
    let (sender, inputs) = mpsc::channel();
    if let Some(signals) = signals {
        let sender = sender.clone();
        thread::spawn(move || {
            signals
                .into_iter()
                .try_for_each(|signal| sender.send(Input::Signal(signal)))
        });
    }
    thread::spawn(move || {
        for line in BufReader::new(stdin).split(b'\n') {
            let Ok(line) = line else { break };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let input = match serde_json::from_slice(&line) {
                Ok(value) => Input::Line(value),
                Err(_) => Input::Broken(String::from_utf8_lossy(&line).into_owned()),
            };
            if sender.send(input).is_err() {
                return;
            }
        }
        let _ = sender.send(Input::End);
    });
    inputs
}

/// Both outputs of the program, and its log.
///
/// Like the real program, it does not stop when its output is not read.
pub(super) struct Output<'w> {
    stdout: &'w mut dyn Write,
    stderr: &'w mut dyn Write,
    log: Option<File>,
    started: Instant,
    /// The number of bytes per write, and the pause after each.
    pub(super) pace: Option<(usize, Duration)>,
}

impl<'w> Output<'w> {
    pub(super) fn new(
        stdout: &'w mut dyn Write,
        stderr: &'w mut dyn Write,
        log: Option<&Path>,
    ) -> io::Result<Self> {
        Ok(Self {
            stdout,
            stderr,
            log: log.map(File::create).transpose()?,
            started: Instant::now(),
            pace: None,
        })
    }

    /// Writes a line.
    pub(super) fn line(&mut self, line: &Value) {
        self.log("out", line);
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes at the pace of the script.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let (size, pause) = self.pace.unwrap_or((bytes.len(), Duration::ZERO));
        for chunk in bytes.chunks(size.max(1)) {
            let _ = self.stdout.write_all(chunk);
            let _ = self.stdout.flush();
            thread::sleep(pause);
        }
    }

    /// Writes a line to standard error.
    pub(super) fn write_stderr(&mut self, text: &str) {
        let _ = writeln!(self.stderr, "{text}");
    }

    /// Logs a line that was read (`in`) or written (`out`), or a note.
    pub(super) fn log(&mut self, direction: &str, line: &Value) {
        let Some(log) = &mut self.log else { return };
        let at = self.started.elapsed().as_millis();
        let entry = json!({"t_ms": u64::try_from(at).ok(), "dir": direction, "line": line});
        let _ = writeln!(log, "{entry}");
    }

    /// Logs the exit of the program.
    pub(super) fn log_exit(&mut self, code: u8, args: &[String]) {
        if let Some(log) = &mut self.log {
            let entry = json!({"dir": "exit", "code": code, "args": args});
            let _ = writeln!(log, "{entry}");
        }
    }
}
