//! `autonoe harness logs`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use autonoe_harness::HarnessId;
use schemars::JsonSchema;
use serde::Serialize;

use super::which::{Chosen, chosen};
use super::{broken, waiting};
use crate::args::HarnessLogsArgs;
use crate::error::CliError;
use crate::present::harmless_line;
use crate::results::{Reader, write_result};
use crate::surroundings::Surroundings;

/// How often it is looked whether something was written.
const PAUSE: Duration = Duration::from_millis(200);

/// How many lines at least are read again to find what is new.
const WINDOW: usize = 2000;

/// One line of `autonoe harness logs --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HarnessLogLine<'a> {
    /// The member; `null` for the coordinator.
    member: Option<&'a str>,
    /// What was written, with its time.
    line: &'a str,
}

/// Shows what members or the coordinator have written down.
pub(super) fn logs(
    args: &HarnessLogsArgs,
    surroundings: &Surroundings,
) -> Result<ExitCode, CliError> {
    waiting(async {
        let chosen = chosen(&args.which, surroundings).await?;
        let writers = writers(&chosen, args)?;
        let mut seen = BTreeMap::<_, Vec<String>>::new();
        loop {
            // Looked at before the logs are: what is written after that is read below.
            let is_over = !args.follow || is_over(&chosen, args)?;
            for writer in &writers {
                let lines = read(&chosen, writer.as_ref(), args.tail.max(WINDOW))?;
                let new = match seen.get(writer) {
                    None => lines.len().saturating_sub(args.tail),
                    Some(before) => first_new(before, &lines),
                };
                let text = shown(args, writer.as_ref(), &lines[new..])?;
                if write_result(&text)? == Reader::Gone {
                    return Ok(ExitCode::SUCCESS);
                }
                seen.insert(writer.clone(), lines);
            }
            if is_over {
                return Ok(ExitCode::SUCCESS);
            }
            tokio::time::sleep(PAUSE).await;
        }
    })
}

/// Returns whose logs are shown; `None` is the coordinator.
fn writers(chosen: &Chosen, args: &HarnessLogsArgs) -> Result<Vec<Option<HarnessId>>, CliError> {
    Ok(match &args.member {
        Some(name) => vec![Some(chosen.member(name)?)],
        None => {
            let members = chosen.fleet.plan.members.iter();
            let members = members.map(|(id, _)| Some(id.clone()));
            std::iter::once(None).chain(members).collect()
        }
    })
}

fn read(chosen: &Chosen, writer: Option<&HarnessId>, most: usize) -> Result<Vec<String>, CliError> {
    let lines = match writer {
        Some(member) => chosen.folder(member)?.log(most),
        None => chosen.home.log(chosen.name(), most),
    };
    lines.map_err(|error| broken(&error))
}

/// Tells whether nothing more is written.
fn is_over(chosen: &Chosen, args: &HarnessLogsArgs) -> Result<bool, CliError> {
    if chosen.fleet.result.is_some() {
        return Ok(true);
    }
    let leader = chosen.home.coordinator(chosen.name());
    if leader.map_err(|error| broken(&error))?.is_none() {
        return Ok(true);
    }
    let Some(name) = &args.member else {
        return Ok(false);
    };
    let outcome = chosen.folder(&chosen.member(name)?)?.outcome();
    Ok(outcome.map_err(|error| broken(&error))?.is_some())
}

/// Finds where the lines begin that were not there before. Both are the ends of one log.
fn first_new(before: &[String], now: &[String]) -> usize {
    (0..=before.len())
        .find_map(|gone| {
            let kept = &before[gone..];
            now.starts_with(kept).then_some(kept.len())
        })
        .unwrap_or(0)
}

fn shown(
    args: &HarnessLogsArgs,
    writer: Option<&HarnessId>,
    lines: &[String],
) -> Result<String, CliError> {
    let mut text = String::new();
    for line in lines {
        if args.json {
            let line = HarnessLogLine {
                member: writer.map(HarnessId::as_str),
                line,
            };
            let json = serde_json::to_string(&line).map_err(|error| broken(&error))?;
            text.push_str(&json);
        } else {
            // Who wrote it is known where only one is asked for.
            if args.member.is_none() {
                let name = writer.map_or("(coordinator)", HarnessId::as_str);
                text.push_str(&format!("{}: ", harmless_line(name)));
            }
            text.push_str(&harmless_line(line));
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_lines_are_told_also_when_old_ones_leave_the_window() {
        let lines = |text: &str| -> Vec<String> { text.chars().map(String::from).collect() };
        for (before, now, new) in [
            ("", "", ""),
            ("", "ab", "ab"),
            ("ab", "ab", ""),
            ("ab", "abc", "c"),
            ("abc", "bcd", "d"),
            ("abc", "xyz", "xyz"),
            ("aa", "aaa", "a"),
        ] {
            let (before, now) = (lines(before), lines(now));

            let found = first_new(&before, &now);

            assert_eq!(now[found..].concat(), new, "{before:?} {now:?}");
        }
    }
}
