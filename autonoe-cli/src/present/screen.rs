//! The one place that writes to standard error while a run goes on.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use super::harmless_line;
use super::lines::{Level, Line};
use crate::results::{Reader, Unwritten, write_result};
use crate::surroundings::Surroundings;

/// How often the line at the bottom is drawn anew.
const TICK: Duration = Duration::from_secs(1);

/// Lines that stay, and below them one that does not.
///
/// Cheap to clone. Neither overwrites the other: the transient line is taken away, what
/// stays is written, and it is drawn again. Where there is no terminal, there is none.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    /// The transient line; `None` where there is no terminal.
    bar: Option<ProgressBar>,
    colours: bool,
    /// Whether standard output and standard error are the same terminal.
    has_answers: bool,
    /// Whether the cursor is behind an unfinished line of an answer. No transient line is drawn
    /// then, because it would overwrite that line.
    has_open_answer: Arc<AtomicBool>,
}

/// What the transient line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transient {
    /// An agent at work: with the time since its session began.
    Work,
    /// A wait.
    Wait,
}

impl Screen {
    pub(crate) fn new(surroundings: &Surroundings, with_activity: bool) -> Self {
        let bar = (surroundings.has_terminal && with_activity).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(style(Transient::Work));
            bar
        });
        Self {
            bar,
            colours: surroundings.colours,
            has_answers: surroundings.has_terminal && surroundings.columns.is_some(),
            has_open_answer: Arc::default(),
        }
    }

    /// Tells whether there is a transient line.
    pub(crate) fn has_transient(&self) -> bool {
        self.bar.is_some()
    }

    /// Writes a line that stays.
    pub(super) fn line(&self, line: &Line) {
        let style = match self.colours {
            true => style_of(line.level),
            false => Style::new(),
        };
        self.write(&format!("{style}{}{style:#}\n", harmless_line(&line.text)));
    }

    /// Writes text that stays.
    pub(super) fn write(&self, text: &str) {
        self.without_transient(|| {
            let mut stderr = io::stderr().lock();
            // Nobody reading it is no failure of ours.
            if self.has_open_answer.swap(false, Ordering::Relaxed) {
                let _ = stderr.write_all(b"\n");
            }
            let _ = stderr.write_all(text.as_bytes());
            let _ = stderr.flush();
        });
    }

    /// Removes the transient line and writes a part of an answer to standard output.
    pub(super) fn write_answer(&self, text: &str) -> Result<Reader, Unwritten> {
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

    /// Starts the clock of the transient line anew.
    pub(super) fn begin(&self) {
        if let Some(bar) = &self.bar {
            bar.reset_elapsed();
        }
    }

    /// Shows `text` on the transient line, unless an answer has an unfinished line.
    pub(super) fn show(&self, about: Transient, text: &str) {
        let is_free = !self.has_open_answer.load(Ordering::Relaxed);
        if let Some(bar) = self.bar.as_ref().filter(|_| is_free) {
            bar.set_style(style(about));
            bar.set_message(harmless_line(text));
            bar.enable_steady_tick(TICK);
            bar.tick();
        }
    }

    /// Takes the transient line away.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
            bar.set_style(ProgressStyle::with_template("").unwrap_or_else(|_| plain()));
            // A tick may be skipped because there were many; this is never skipped.
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
        // There is nowhere to tell that a line could not be written into memory.
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
