//! `Screen`, the only writer to standard error during a run, and `QuietKeyboard`.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use autonoe_app::text::{Level, Line, sanitize_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::cli_env::CliEnv;
use crate::results::{ReaderState, WriteError, write_result};

/// Redraw interval of the transient line.
const TICK: Duration = Duration::from_secs(1);

/// Permanent lines, and a transient line below them.
///
/// Cheap to clone. A write removes the transient line, writes the permanent text and redraws the
/// line, so neither overwrites the other. Without a terminal, there is no transient line.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// The transient line; `None` without a terminal.
    bar: Option<ProgressBar>,
    colours: bool,
    /// Whether standard output and standard error are the same terminal.
    has_answers: bool,
    /// Whether the cursor is at the end of an unfinished line of an answer. Then no transient line
    /// is drawn, because it would overwrite that line.
    has_open_answer: Arc<AtomicBool>,
}

/// Kind of transient line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transient {
    /// An active agent, with the time since its session started.
    Work,
    /// A wait.
    Wait,
}

impl Screen {
    pub(crate) fn new(env: &CliEnv, with_activity: bool) -> Self {
        let bar = (env.has_terminal && with_activity).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style(Transient::Work));
            bar
        });
        Self {
            bar,
            colours: env.colours,
            has_answers: env.has_terminal && env.columns.is_some(),
            has_open_answer: Arc::default(),
        }
    }

    /// Returns whether there is a transient line.
    pub(crate) fn has_transient(&self) -> bool {
        self.bar.is_some()
    }

    /// Writes a permanent line.
    pub(super) fn write_line(&self, line: &Line) {
        let style = if self.colours {
            style_of(line.level)
        } else {
            Style::new()
        };
        self.write(&format!("{style}{}{style:#}\n", sanitize_line(&line.text)));
    }

    /// Writes permanent text.
    pub(super) fn write(&self, text: &str) {
        self.without_transient(|| {
            let mut stderr = io::stderr().lock();
            // A closed standard error is not an error of the command.
            if self.has_open_answer.swap(false, Ordering::Relaxed) {
                let _ = stderr.write_all(b"\n");
            }
            let _ = stderr.write_all(text.as_bytes());
            let _ = stderr.flush();
        });
    }

    /// Removes the transient line and writes a part of an answer to standard output.
    pub(super) fn write_answer(&self, text: &str) -> Result<ReaderState, WriteError> {
        self.clear();
        let written = self.without_transient(|| write_result(text));
        let is_open = self.has_answers && !text.ends_with('\n');
        self.has_open_answer.store(is_open, Ordering::Relaxed);
        written
    }

    /// Removes the transient line during `write`.
    fn without_transient<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Resets the elapsed time of the transient line.
    pub(super) fn reset_clock(&self) {
        if let Some(bar) = &self.bar {
            bar.reset_elapsed();
        }
    }

    /// Shows `text` on the transient line, unless an answer has an unfinished line.
    pub(super) fn show_transient(&self, about: Transient, text: &str) {
        let is_free = !self.has_open_answer.load(Ordering::Relaxed);
        if let Some(bar) = self.bar.as_ref().filter(|_| is_free) {
            bar.set_style(style(about));
            bar.set_message(sanitize_line(text));
            bar.enable_steady_tick(TICK);
            bar.tick();
        }
    }

    /// Removes the transient line.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
            bar.set_style(ProgressStyle::with_template("").unwrap_or_else(|_| plain()));
            // The progress bar may skip a tick when there are many, but never this call.
            bar.suspend(|| ());
        }
    }
}

fn style(about: Transient) -> ProgressStyle {
    let template = match about {
        Transient::Work => "⚡ {clock} {wide_msg}",
        Transient::Wait => "⏳ {wide_msg}",
    };
    let clock = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        let seconds = state.elapsed().as_secs();
        // Writing to a string cannot fail.
        let _ = write!(text, "{}:{:02}", seconds / 60, seconds % 60);
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| plain())
        .with_key("clock", clock)
}

fn plain() -> ProgressStyle {
    ProgressStyle::default_spinner()
}

fn style_of(level: Level) -> Style {
    match level {
        Level::Debug => Style::new().dimmed(),
        Level::Info => Style::new(),
        Level::Good => AnsiColor::Green.on_default(),
        Level::Warning => AnsiColor::Yellow.on_default(),
        Level::Error => AnsiColor::Red.on_default(),
    }
}

/// Suppresses the echo of `^C` and other control keys until it is dropped.
///
/// The cursor is at the end of the transient line, so an echo would start a new line and leave the
/// old one on the screen. A killed program leaves the terminal without these echoes, and with no
/// other damage.
#[derive(Debug)]
pub(crate) struct QuietKeyboard {
    before: Termios,
}

impl QuietKeyboard {
    /// Suppresses the echo, if standard input is a terminal.
    pub(crate) fn start() -> Option<Self> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHOCTL);
        tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        Some(Self { before })
    }
}

impl Drop for QuietKeyboard {
    fn drop(&mut self) {
        // A closed terminal needs no reset.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
