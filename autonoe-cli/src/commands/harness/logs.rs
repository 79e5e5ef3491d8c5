//! `autonoe harness logs`: prints the logs of members and the coordinator.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use autonoe_app::text::sanitize_line;
use autonoe_harness::strategy::MemberId;
use schemars::JsonSchema;
use serde::Serialize;

use super::fleet_selection::{FleetSelection, select_fleet};
use crate::args::HarnessLogsArgs;
use crate::cli_env::CliEnv;
use crate::commands::runtime::block_on;
use crate::error::{CliError, OrFailure};
use crate::results::{ReaderState, write_result};

/// Poll interval of `--follow`.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Minimum number of lines to read again for finding the new ones.
const MIN_READ_LINES: usize = 2000;

/// One line of `autonoe harness logs --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct HarnessLogLine<'a> {
    /// The member; `null` for the coordinator.
    member: Option<&'a str>,
    /// The line of the log, with its time.
    line: &'a str,
}

/// Prints the logs of members or the coordinator.
pub(super) fn logs(args: &HarnessLogsArgs, env: &CliEnv) -> Result<ExitCode, CliError> {
    block_on(async {
        let chosen = select_fleet(&args.selection, env).await?;
        let writers = writers(&chosen, args)?;
        let mut printed = BTreeMap::<_, Vec<String>>::new();
        loop {
            // Checked before reading the logs, so that the last lines are still printed.
            let is_over = !args.follow || is_over(&chosen, args)?;
            for writer in &writers {
                let lines = read(&chosen, writer.as_ref(), args.tail.max(MIN_READ_LINES))?;
                let new = match printed.get(writer) {
                    None => lines.len().saturating_sub(args.tail),
                    Some(before) => first_new(before, &lines),
                };
                let text = format_lines(args, writer.as_ref(), &lines[new..])?;
                if write_result(&text)? == ReaderState::Closed {
                    return Ok(ExitCode::SUCCESS);
                }
                printed.insert(writer.clone(), lines);
            }
            if is_over {
                return Ok(ExitCode::SUCCESS);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    })
}

/// Returns the writers whose logs are printed; `None` is the coordinator.
fn writers(
    chosen: &FleetSelection,
    args: &HarnessLogsArgs,
) -> Result<Vec<Option<MemberId>>, CliError> {
    Ok(match &args.member {
        Some(name) => vec![Some(chosen.member(name)?)],
        None => {
            let members = chosen.fleet.member_ids().cloned().map(Some);
            std::iter::once(None).chain(members).collect()
        }
    })
}

fn read(
    chosen: &FleetSelection,
    writer: Option<&MemberId>,
    most: usize,
) -> Result<Vec<String>, CliError> {
    match writer {
        Some(member) => chosen.folder(member)?.log(most),
        None => chosen.home.log(chosen.name(), most),
    }
    .or_failure()
}

/// Returns whether no more lines will be written.
fn is_over(chosen: &FleetSelection, args: &HarnessLogsArgs) -> Result<bool, CliError> {
    if chosen.fleet.result.is_some() {
        return Ok(true);
    }
    let coordinator = chosen.home.coordinator(chosen.name());
    if coordinator.or_failure()?.is_none() {
        return Ok(true);
    }
    let Some(name) = &args.member else {
        return Ok(false);
    };
    let outcome = chosen.folder(&chosen.member(name)?)?.outcome();
    Ok(outcome.or_failure()?.is_some())
}

/// Returns the index of the first new line. Both slices are the end of the same log.
fn first_new(before: &[String], now: &[String]) -> usize {
    (0..=before.len())
        .find_map(|dropped| {
            let remaining = &before[dropped..];
            now.starts_with(remaining).then_some(remaining.len())
        })
        .unwrap_or(0)
}

fn format_lines(
    args: &HarnessLogsArgs,
    writer: Option<&MemberId>,
    lines: &[String],
) -> Result<String, CliError> {
    let mut text = String::new();
    for line in lines {
        if args.json {
            let line = HarnessLogLine {
                member: writer.map(MemberId::as_str),
                line,
            };
            let json = serde_json::to_string(&line).or_failure()?;
            text.push_str(&json);
        } else {
            // With a single member, the prefix is unnecessary.
            if args.member.is_none() {
                let name = writer.map_or("(coordinator)", MemberId::as_str);
                text.push_str(&format!("{}: ", sanitize_line(name)));
            }
            text.push_str(&sanitize_line(line));
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_lines_are_printed_even_when_old_ones_leave_the_window() {
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
