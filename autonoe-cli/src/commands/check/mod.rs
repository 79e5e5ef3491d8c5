//! `autonoe check`: judges shell commands by the policy of the project.

mod answer;
mod gated_validator;
mod input;
mod underline;

use std::io::{self, IsTerminal};
use std::mem;
use std::process::ExitCode;

pub(super) use self::answer::{Answer, LineAnswer};
use autonoe_app::exit_code;

use self::answer::{Unanswered, format_verdict};
use self::gated_validator::GatedValidator;
use self::input::{next_line, parse_command};
use crate::args::CheckArgs;
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::results::{ReaderState, write_result};

/// Exit code for a denied command.
const DENIED: u8 = 1;

/// Byte order mark that some editors put before UTF-8 text.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Prints whether an agent may run a command, and why not.
pub(crate) fn check(args: &CheckArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    // A failed check must not look like a denial.
    judge(args, env).map_err(CliError::into_usage)
}

fn judge(args: &CheckArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    let validator = GatedValidator::build(args, env)?;
    let command = match args.command.as_deref() {
        None | Some("-") => {
            if io::stdin().is_terminal() {
                env.print_note("reading commands from standard input, one JSON string per line");
            }
            return judge_lines(&validator);
        }
        Some(command) => command,
    };
    let found = validator.explain(command);
    if args.json {
        env.print_json(&Answer::new(command, &found))?;
    } else {
        env.print(&format_verdict(command, &found))?;
    }
    Ok(if found.verdict.is_allowed() {
        ExitCode::SUCCESS
    } else {
        DENIED.into()
    })
}

/// Answers every line of standard input with one line of JSON.
fn judge_lines(validator: &GatedValidator) -> Result<ExitCode, CliError> {
    let unreadable =
        |error: io::Error| CliError::failure(format!("standard input cannot be read: {error}"));
    let mut worst = 0;
    let mut answers = 0_u64;
    let mut stdin = io::stdin().lock();
    let mut is_first = true;
    while let Some(line) = next_line(&mut stdin).map_err(unreadable)? {
        let mark: &[u8] = if mem::take(&mut is_first) {
            UTF8_MARK
        } else {
            b""
        };
        let line = line.strip_prefix(mark).unwrap_or(&line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        answers += 1;
        let found = parse_command(line).map(|command| {
            let found = validator.explain(&command);
            (command, found)
        });
        let (answer, code) = match &found {
            Ok((command, found)) => {
                let code = if found.verdict.is_allowed() {
                    0
                } else {
                    DENIED
                };
                (LineAnswer::Answer(Answer::new(command, found)), code)
            }
            Err(error) => {
                let error = error.clone();
                (
                    LineAnswer::Unanswered(Unanswered { error }),
                    exit_code::USAGE,
                )
            }
        };
        let answer = serde_json::to_string(&answer).map_err(|error| {
            CliError::failure(format!("the output cannot be written as JSON: {error}"))
        })?;
        worst = worst.max(code);
        if write_result(&format!("{answer}\n"))? == ReaderState::Closed {
            // The reader closed the pipe.
            break;
        }
    }
    if answers == 0 {
        // No command was judged, so none was allowed.
        let error = CliError::usage("standard input has no command");
        return Err(error.with_hint("write one JSON string per line, for example \"npm test\""));
    }
    Ok(worst.into())
}
