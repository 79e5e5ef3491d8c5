//! Checks by the outcomes of tool calls and commands.

use std::time::Duration;

use autonoe_core::tool::Toolbox;

use super::{StepCheckResult, ToolOutcome};
use crate::command::{CommandOutcome, CommandRunner};
use crate::definition::{ActionCheck, ActionOutcome, CommandAction, ExpectedAction, ToolAction};
use crate::error::{FlowError, FlowErrorKind};

/// Compares the expected actions in order, and stops at the first mismatch.
pub(super) async fn check(
    check: &ActionCheck,
    performed: &[ToolOutcome],
    commands: &dyn CommandRunner,
) -> Result<StepCheckResult, FlowError> {
    if check.actions.is_empty() {
        return Ok(StepCheckResult::failed("no action is expected"));
    }
    for expected in &check.actions {
        let problem = match expected {
            ExpectedAction::Tool(expected) => tool_problem(expected, performed),
            ExpectedAction::Command(expected) => command_problem(expected, commands).await?,
        };
        if let Some(problem) = problem {
            return Ok(StepCheckResult::failed(problem));
        }
    }
    Ok(StepCheckResult::passed("every expected action happened"))
}

/// Returns how the calls of a tool differ from the expectation.
fn tool_problem(expected: &ToolAction, performed: &[ToolOutcome]) -> Option<String> {
    let tool = &expected.tool;
    let of_tool = |action: &&ToolOutcome| plain(&action.tool) == plain(tool);
    let wanted = name(expected.outcome);
    let last = performed.iter().rfind(of_tool);
    let Some(last) = last else {
        return Some(format!("the tool `{tool}` was not called"));
    };
    if last.outcome != expected.outcome {
        let ended = name(last.outcome);
        return Some(format!(
            "the last call of the tool `{tool}` {ended}, but should have {wanted}"
        ));
    }
    let all = performed.iter().filter(of_tool);
    let count = all
        .filter(|action| action.outcome == expected.outcome)
        .count();
    let times = expected.times;
    let is_enough = u32::try_from(count).map_or(true, |count| count >= times);
    (!is_enough).then(|| {
        format!(
            "only {count} of the calls of the tool `{tool}` {wanted}; the check expects at least \
             {times}"
        )
    })
}

/// Returns the bare name of a tool. Some backends prefix the tools of Autonoe.
fn plain(tool: &str) -> &str {
    let ours = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.strip_prefix(Toolbox::SERVER)?.strip_prefix("__"));
    ours.unwrap_or(tool)
}

fn name(outcome: ActionOutcome) -> &'static str {
    match outcome {
        ActionOutcome::Succeeded => "succeeded",
        ActionOutcome::Failed => "failed",
    }
}

/// Runs a command and returns how its end differs from the expectation.
///
/// Only an exit code is an answer. A command that was killed, by a timeout or by a signal, never
/// matches, even if the check expects it to fail.
async fn command_problem(
    expected: &CommandAction,
    commands: &dyn CommandRunner,
) -> Result<Option<String>, FlowError> {
    let program = expected.command.first().map_or("", String::as_str);
    let time = Duration::from_secs(expected.timeout_seconds);
    let end = commands.run(&expected.command, time).await;
    let end = end.map_err(|error| {
        let message = format!("the command `{program}` of the check could not be run");
        FlowError::new(FlowErrorKind::StepCheck, message).because(error)
    })?;
    let is_expected = match (end, expected.outcome) {
        (CommandOutcome::Exited { code }, ActionOutcome::Succeeded) => code == 0,
        (CommandOutcome::Exited { code }, ActionOutcome::Failed) => code != 0,
        _ => false,
    };
    let wanted = name(expected.outcome);
    Ok((!is_expected).then(|| format!("the command `{program}` {end}, but should have {wanted}")))
}
