//! [`CliEnv`], the environment of the process: read once at the start and passed down.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::ops::Deref;

use anstyle::{AnsiColor, Style};
use autonoe_app::Env;
use autonoe_core::sanitize;
use rustix::termios::tcgetwinsize;

use crate::error::CliError;
use crate::results::write_result;

/// Environment of the process.
#[derive(Clone, Debug)]
pub(crate) struct CliEnv {
    /// The environment variables and the working directory. Those of agents derive from it.
    pub(crate) env: Env,
    /// Whether standard error is a terminal.
    pub(crate) has_terminal: bool,
    /// Whether an operator is present: standard input and standard error are terminals with cursor
    /// control.
    pub(crate) is_interactive: bool,
    /// Whether to use colours on standard error.
    pub(crate) colours: bool,
    /// Columns of the terminal behind standard output; `None` if results go to a program or a file,
    /// which get them in full.
    pub(crate) columns: Option<usize>,
}

impl Deref for CliEnv {
    type Target = Env;

    fn deref(&self) -> &Env {
        &self.env
    }
}

impl CliEnv {
    pub(crate) fn from_process() -> Self {
        let env = Env {
            // A missing directory is reported when a project is looked for in it.
            working_dir: env::current_dir().unwrap_or_default(),
            environment: env::vars_os().collect(),
        };
        let environment = &env.environment;
        let has_terminal = io::stderr().is_terminal();
        let is_dumb = environment
            .get(OsStr::new("TERM"))
            .is_none_or(|term| term == "dumb");
        let is_interactive = has_terminal && io::stdin().is_terminal() && !is_dumb;
        let colours = wants_colours(has_terminal, |name| environment.get(OsStr::new(name)));
        Self {
            env,
            has_terminal,
            is_interactive,
            colours,
            columns: terminal_columns(),
        }
    }

    /// Returns a copy with another environment.
    pub(crate) fn with_env(&self, env: Env) -> Self {
        Self {
            env,
            ..self.clone()
        }
    }

    /// Writes a result to standard output. A closed pipe is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<(), CliError> {
        write_result(text)?;
        Ok(())
    }

    /// Writes a result to standard output: as JSON, or as the text that `format` returns.
    pub(crate) fn print_as<R: serde::Serialize>(
        &self,
        is_json: bool,
        result: &R,
        format: impl FnOnce(&R) -> String,
    ) -> Result<(), CliError> {
        if is_json {
            self.print_json(result)
        } else {
            self.print(&format(result))
        }
    }

    /// Writes a result to standard output as pretty-printed JSON.
    pub(crate) fn print_json(&self, result: &impl serde::Serialize) -> Result<(), CliError> {
        let text = serde_json::to_string_pretty(result).map_err(|error| {
            CliError::failure(format!("the output cannot be written as JSON: {error}"))
        })?;
        self.print(&format!("{text}\n"))
    }

    /// Writes a message that is not a result to standard error.
    pub(crate) fn print_note(&self, text: &str) {
        // A closed standard error is not an error of the command.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Prints an error to standard error.
    pub(crate) fn print_error(&self, error: &CliError) {
        let style = if self.colours {
            AnsiColor::Red.on_default().bold()
        } else {
            Style::new()
        };
        let mut stderr = io::stderr().lock();
        let _ = writeln!(
            stderr,
            "{style}error:{style:#} {}",
            sanitize(&error.to_string())
        );
        if let Some(hint) = error.hint() {
            let _ = writeln!(stderr, "  hint: {}", sanitize(hint));
        }
    }
}

/// Returns the width of the terminal behind standard output, if there is one.
fn terminal_columns() -> Option<usize> {
    // A terminal of unknown width reports zero.
    let columns = tcgetwinsize(io::stdout()).ok()?.ws_col;
    (columns > 0).then_some(columns.into())
}

/// Returns whether to use colours: on a capable terminal, unless `NO_COLOR` is set.
fn wants_colours<'v>(is_terminal: bool, variable: impl Fn(&str) -> Option<&'v OsString>) -> bool {
    let is_disabled = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = variable("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !is_disabled && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        for (is_terminal, no_color, term, expected) in [
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
                wants_colours(is_terminal, variable),
                expected,
                "{no_color:?} {term:?}"
            );
        }
    }
}
