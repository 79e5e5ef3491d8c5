//! `autonoe check`.

mod answer;
mod gated_validator;
mod input;
mod underline;

use std::io::{self, IsTerminal};
use std::mem;
use std::process::ExitCode;

pub(super) use self::answer::{Answer, LineAnswer};
use self::answer::{Unanswered, shown};
use self::gated_validator::GatedValidator;
use self::input::{command_of, next_line};
use crate::args::CheckArgs;
use crate::error::CliError;
use crate::exit_code;
use crate::results::{Reader, write_result};
use crate::surroundings::Surroundings;

/// The command may not run.
const DENIED: u8 = 1;

/// What some editors put before a text in UTF-8.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Says whether an agent may run a command, and why not.
pub(crate) fn check(args: &CheckArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    // A check that could not be made must not look like one that denied.
    judge(args, surroundings).map_err(CliError::into_usage)
}

fn judge(args: &CheckArgs, surroundings: &Surroundings) -> Result<ExitCode, CliError> {
    let validator = GatedValidator::build(args, surroundings)?;
    let command = match args.command.as_deref() {
        None | Some("-") => {
            if io::stdin().is_terminal() {
                surroundings.note("reads commands from standard input, one JSON string per line");
            }
            return judge_lines(&validator);
        }
        Some(command) => command,
    };
    let found = validator.explain(command);
    match args.json {
        true => surroundings.say_json(&Answer::new(command, &found))?,
        false => surroundings.say(&shown(command, &found))?,
    }
    Ok(match found.verdict.is_allowed() {
        true => ExitCode::SUCCESS,
        false => DENIED.into(),
    })
}

/// Answers every line of standard input with a line.
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
        let found = command_of(line).map(|command| {
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
        let answer = serde_json::to_string(&answer)
            .map_err(|error| CliError::failure(format!("it cannot be written as JSON: {error}")))?;
        worst = worst.max(code);
        if write_result(&format!("{answer}\n"))? == Reader::Gone {
            // Nobody wants the other answers.
            break;
        }
    }
    if answers == 0 {
        // Nothing was judged, so nothing was allowed.
        let error = CliError::usage("no command came on standard input");
        return Err(error.with_hint("write one JSON string per line, for example \"npm test\""));
    }
    Ok(worst.into())
}
