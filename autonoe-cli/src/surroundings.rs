//! What the process finds around itself: read once, here, and handed down.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use rustix::termios::tcgetwinsize;

use crate::error::CliError;
use crate::present::harmless;
use crate::results::write_result;

/// What the process finds around itself.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The directory that relative paths begin at.
    pub(crate) working_dir: PathBuf,
    /// The environment; what agents start with comes from it.
    pub(crate) environment: BTreeMap<OsString, OsString>,
    /// Whether standard error is a terminal.
    pub(crate) has_terminal: bool,
    /// Whether a person sees and types: standard input and standard error are terminals that can
    /// be drawn on.
    pub(crate) is_interactive: bool,
    /// Whether colours are wanted on standard error.
    pub(crate) colours: bool,
    /// How many columns the terminal has that results are shown on; `None` where they go to a
    /// program or a file, which get all of them.
    pub(crate) columns: Option<usize>,
}

/// Returns where the program of this process is, if that can be told.
pub(crate) fn this_program() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|path| path.is_file())
}

impl Surroundings {
    pub(crate) fn of_this_process() -> Self {
        let environment: BTreeMap<_, _> = std::env::vars_os().collect();
        let has_terminal = io::stderr().is_terminal();
        let is_dumb = environment
            .get(OsStr::new("TERM"))
            .is_none_or(|term| term == "dumb");
        let is_interactive = has_terminal && io::stdin().is_terminal() && !is_dumb;
        let colours = colours_wanted(has_terminal, |name| environment.get(OsStr::new(name)));
        Self {
            // A directory that is gone is told when a project is looked for in it.
            working_dir: std::env::current_dir().unwrap_or_default(),
            environment,
            has_terminal,
            is_interactive,
            colours,
            columns: columns_of_terminal(),
        }
    }

    /// Returns the working directory as the shell shows it: `PWD`, if it leads there.
    ///
    /// It may lead through symlinks; [`working_dir`](Self::working_dir) does not.
    pub(crate) fn shell_dir(&self) -> &Path {
        let shown = self.environment.get(OsStr::new("PWD")).map(Path::new);
        let leads_there = |shown: &&Path| {
            let real = shown.canonicalize();
            shown.is_absolute() && real.is_ok_and(|real| real == self.working_dir)
        };
        shown.filter(leads_there).unwrap_or(&self.working_dir)
    }

    /// Returns a variable of the environment, if it is text.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(OsStr::new(name))?.to_str()
    }

    /// Returns the variables whose names begin with `prefix`, as far as they are text.
    pub(crate) fn texts_beginning_with(&self, prefix: &str) -> Vec<(String, String)> {
        let texts = self.environment.iter().filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| name.starts_with(prefix))?;
            Some((name.to_owned(), value.to_str()?.to_owned()))
        });
        texts.collect()
    }

    /// Returns the user's home, if it is known.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let home = self.environment.get(OsStr::new("HOME"))?;
        (!home.is_empty()).then(|| home.into())
    }

    /// Writes a result to standard output. That nobody wants to read it is no failure.
    pub(crate) fn say(&self, text: &str) -> Result<(), CliError> {
        write_result(text)?;
        Ok(())
    }

    /// Writes a result to standard output as JSON, on as many lines as people like to read.
    pub(crate) fn say_json(&self, result: &impl serde::Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(result)
            .map_err(|error| CliError::failure(format!("it cannot be written as JSON: {error}")))?;
        self.say(&format!("{text}\n"))
    }

    /// Writes something that is no result to standard error.
    pub(crate) fn note(&self, text: &str) {
        // Nobody reading it is no failure of ours.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Writes an error to standard error.
    pub(crate) fn complain(&self, error: &CliError) {
        let style = match self.colours {
            true => AnsiColor::Red.on_default().bold(),
            false => Style::new(),
        };
        let mut stderr = io::stderr().lock();
        let _ = writeln!(
            stderr,
            "{style}error:{style:#} {}",
            harmless(&error.to_string())
        );
        if let Some(hint) = error.hint() {
            let _ = writeln!(stderr, "  hint: {}", harmless(hint));
        }
    }
}

/// Asks the terminal behind standard output, if there is one, how wide it is.
fn columns_of_terminal() -> Option<usize> {
    // A terminal that does not know says zero.
    let columns = tcgetwinsize(io::stdout()).ok()?.ws_col;
    (columns > 0).then_some(columns.into())
}

/// Decides whether to use colours: on a terminal that can, unless `NO_COLOR` says no.
fn colours_wanted<'v>(is_terminal: bool, variable: impl Fn(&str) -> Option<&'v OsString>) -> bool {
    let said_no = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !said_no && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        for (is_terminal, no_color, term, wanted) in [
            (true, None, Some("xterm"), true),
            (true, None, None, true),
            (false, None, Some("xterm"), false),
            (true, Some("1"), Some("xterm"), false),
            (true, Some(""), Some("xterm"), true),
            (true, None, Some("dumb"), false),
        ] {
            let [no_color, term] = [no_color, term].map(|value| value.map(OsString::from));
            let variable = |name: &str| match name {
                "NO_COLOR" => no_color.as_ref(),
                "TERM" => term.as_ref(),
                _ => None,
            };
            assert_eq!(
                colours_wanted(is_terminal, variable),
                wanted,
                "{no_color:?} {term:?}"
            );
        }
    }
}
