//! Runs the program for one short answer, and parses its version.

use std::time::Duration;

use autonoe_backend::{AnswerEnd, ShortAnswer, short_answer};
use autonoe_core::AgentError;
use autonoe_process::Exit;

use super::not_claude_error::{Mismatch, not_claude_error};
use crate::launch::{ClaudeOptions, Folders, bare_environment, create_session_directory};

/// Runs the program with `arguments` for at most `limit`, and returns its answer.
///
/// # Errors
///
/// The program cannot be started.
pub(super) async fn run_for_answer(
    options: &ClaudeOptions,
    arguments: &[&str],
    limit: Duration,
) -> Result<ShortAnswer, AgentError> {
    let place = create_session_directory(options)?;
    let environment = bare_environment(options, Folders::new(&place));
    let launch = place
        .launch(&options.program.path, &options.program.temporary)
        .args(arguments.iter().copied())
        .envs(environment);
    let answer = short_answer(launch, limit).await;
    answer.map_err(|error| not_claude_error(&options.program.path, &Mismatch::CannotStart(&error)))
}

/// Returns the numbers of the version, if the answer is from Claude Code.
pub(super) fn version_numbers(answer: &ShortAnswer) -> Option<[u32; 3]> {
    let ended_well = answer.end == AnswerEnd::Exited(Exit::Code(0));
    // Many other programs print three numbers as their version.
    let is_its_own = answer.stdout.to_lowercase().contains("claude");
    if !ended_well || !is_its_own {
        return None;
    }
    let word = answer.stdout.split_whitespace().next()?;
    let mut parts = word.split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers_of_claude_code() {
        let well = AnswerEnd::Exited(Exit::Code(0));
        for (said, end, found) in [
            ("2.1.197 (Claude Code)", well, Some([2, 1, 197])),
            ("2.1 (Claude Code)", well, None),
            ("v2.1.3 (Claude Code)", well, None),
            ("10.2.3", well, None),
            ("", well, None),
            (
                "2.1.197 (Claude Code)",
                AnswerEnd::Exited(Exit::Code(1)),
                None,
            ),
            (
                "2.1.197 (Claude Code)",
                AnswerEnd::Exited(Exit::Signal(9)),
                None,
            ),
            ("2.1.197 (Claude Code)", AnswerEnd::TimedOut, None),
            ("2.1.197 (Claude Code)", AnswerEnd::TooMuchOutput, None),
        ] {
            let answer = ShortAnswer {
                stdout: said.to_owned(),
                stderr: String::new(),
                end,
            };
            assert_eq!(version_numbers(&answer), found, "{said:?} {end:?}");
        }
    }
}
