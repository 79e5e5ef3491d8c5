//! `Terminal`, a pseudo-terminal for tests.

use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Time limit for anything, on a busy machine.
pub(super) const TIMEOUT: Duration = Duration::from_secs(300);

const ROWS: NonZero<u16> = NonZero::new(40).expect("it is");

/// A program in a pseudo-terminal, and its screen.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
    /// Keeps the terminal open.
    _master: Box<dyn MasterPty + Send>,
}

struct Seen {
    screen: vt100::Parser,
    /// All output so far.
    bytes: Vec<u8>,
}

impl Terminal {
    /// Starts `command` in a terminal with this many columns.
    pub(crate) fn start(command: &Command, columns: u16) -> Self {
        let columns = NonZero::new(columns).expect("at least one");
        let size = PtySize {
            rows: ROWS.get(),
            cols: columns.get(),
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).expect("a terminal");
        let child = pair
            .slave
            .spawn_command(in_terminal(command))
            .expect("it starts");
        // Otherwise the end of the program is not noticed.
        drop(pair.slave);
        let seen = Arc::new(Mutex::new(Seen {
            screen: vt100::Parser::new(ROWS, columns, 0),
            bytes: Vec::new(),
        }));
        let mut output = pair.master.try_clone_reader().expect("it can be read");
        let reader = std::thread::spawn({
            let seen = seen.clone();
            move || {
                let mut bytes = [0; 4096];
                // Reading fails once the program has ended.
                while let Ok(count @ 1..) = output.read(&mut bytes) {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.screen.process(&bytes[..count]);
                    seen.bytes.extend_from_slice(&bytes[..count]);
                }
            }
        });
        Self {
            child,
            keyboard: pair.master.take_writer().expect("it can be written"),
            seen,
            reader: Some(reader),
            _master: pair.master,
        }
    }

    /// Returns the text on the screen, without empty lines.
    pub(crate) fn screen(&self) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = seen.screen.screen().contents();
        let lines = contents.lines().map(str::trim_end);
        lines
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns the ID of the run whose start is on the screen.
    pub(crate) fn run_id(&self) -> String {
        let screen = self.screen();
        let started = screen.lines().find_map(|line| line.strip_prefix("Run "));
        let (id, _) = started
            .and_then(|line| line.split_once(' '))
            .expect("a run has started");
        id.to_owned()
    }

    /// Returns all output so far.
    pub(crate) fn all_output(&self) -> String {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&seen.bytes).into_owned()
    }

    /// Waits until the screen fulfils a condition, and returns it.
    pub(crate) fn wait_for(
        &self,
        condition_name: &str,
        condition: impl Fn(&str) -> bool,
    ) -> String {
        let started_at = Instant::now();
        loop {
            let screen = self.screen();
            if condition(&screen) {
                return screen;
            }
            assert!(
                started_at.elapsed() < TIMEOUT,
                "waited in vain for {condition_name}:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the screen contains `text`.
    pub(crate) fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// Presses Ctrl-C.
    pub(crate) fn interrupt(&mut self) {
        self.press(b"\x03");
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).expect("it listens");
        self.keyboard.flush().expect("it listens");
    }

    /// Kills the program without a chance to clean up.
    pub(crate) fn kill(&mut self) {
        let pid = self.child.process_id().expect("it lives").to_string();
        let killed = Command::new("kill").args(["-KILL", &pid]).status();
        assert!(killed.expect("it starts").success());
    }

    /// Waits for the end, and returns the exit code and the last screen.
    pub(crate) fn end(mut self) -> (u32, String) {
        let code = self.wait();
        (code, self.screen())
    }

    /// Waits for the end, and returns the exit code and all output.
    pub(crate) fn end_with_output(mut self) -> (u32, String) {
        let code = self.wait();
        (code, self.all_output())
    }

    fn wait(&mut self) -> u32 {
        let started_at = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("ours") {
                break status.exit_code();
            }
            assert!(
                started_at.elapsed() < TIMEOUT,
                "it does not end:\n{}",
                self.screen()
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no panic");
        }
        code
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Cleans up after a failed test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn in_terminal(command: &Command) -> CommandBuilder {
    let mut builder = CommandBuilder::new(command.get_program());
    builder.args(command.get_args());
    builder.env_clear();
    builder.env("TERM", "xterm-256color");
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            builder.env(name, value);
        }
    }
    builder.cwd(command.get_current_dir().expect("it has one"));
    builder
}
