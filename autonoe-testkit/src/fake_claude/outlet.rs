//! What the program writes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Both outputs of the program, and the log of the talk.
///
/// That nobody reads is no reason to stop: the real program goes on, too.
pub(super) struct Outlet<'w> {
    stdout: &'w mut dyn Write,
    stderr: &'w mut dyn Write,
    log: Option<File>,
    started: Instant,
    /// How many bytes are written at once, and how long to wait then.
    pub(super) pace: Option<(usize, Duration)>,
}

impl<'w> Outlet<'w> {
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
        self.note("out", line);
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes, at the pace of the script.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let Some((chunk, pause)) = self.pace else {
            let _ = self.stdout.write_all(bytes);
            let _ = self.stdout.flush();
            return;
        };
        for chunk in bytes.chunks(chunk.max(1)) {
            let _ = self.stdout.write_all(chunk);
            let _ = self.stdout.flush();
            thread::sleep(pause);
        }
    }

    /// Says something to whoever looks for the reason of an end.
    pub(super) fn complain(&mut self, text: &str) {
        let _ = writeln!(self.stderr, "{text}");
    }

    /// Writes down a part of the talk.
    pub(super) fn note(&mut self, direction: &str, line: &Value) {
        let Some(log) = &mut self.log else { return };
        let at = self.started.elapsed().as_millis();
        let note = json!({"t_ms": u64::try_from(at).ok(), "dir": direction, "line": line});
        let _ = writeln!(log, "{note}");
    }

    /// Writes down how it ended.
    pub(super) fn note_exit(&mut self, code: u8, args: &[String]) {
        if let Some(log) = &mut self.log {
            let note = json!({"dir": "exit", "code": code, "args": args});
            let _ = writeln!(log, "{note}");
        }
    }
}
