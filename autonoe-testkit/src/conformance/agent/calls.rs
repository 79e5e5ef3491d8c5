//! Checks of tool calls.

use std::collections::HashSet;

use autonoe_core::tool::ToolStatus;
use autonoe_core::{Mode, ToolCall, ToolKind};

use super::ProbeCall;
use super::fixture::REASON;
use super::played::{Invocation, PlayedSession};
use super::probe_tool::{FAILURE, answer};
use super::record::RecordEntry;
use crate::conformance::checks::{CheckOutcome, Flaw};

/// Returns the calls of a session that should make `expected` calls.
fn expect_calls(played: &PlayedSession, expected: usize) -> CheckOutcome<Vec<Invocation<'_>>> {
    let calls = played.invocations();
    let (label, found) = (played.label, calls.len());
    ensure!(
        found == expected,
        "{label}: the agent made {expected} calls, the stream shows {found}"
    );
    Ok(calls)
}

pub(super) fn are_answered_once(played: &PlayedSession, expected: usize) -> CheckOutcome {
    let label = played.label;
    let calls = expect_calls(played, expected)?;
    let ids: HashSet<_> = calls.iter().map(|call| call.id).collect();
    ensure!(
        ids.len() == calls.len(),
        "{label}: two calls have the same id: {calls:?}"
    );
    let responses = played.responses();
    for response in &responses {
        ensure!(
            ids.contains(response.id),
            "{label}: {response:?} belongs to none of {calls:?}"
        );
    }
    for call in &calls {
        let answers: Vec<_> = responses
            .iter()
            .filter(|response| response.id == call.id)
            .collect();
        ensure!(
            answers.len() == 1,
            "{label}: {call:?} has the answers {answers:?}"
        );
        ensure!(
            answers.iter().all(|answer| answer.at > call.at),
            "{label}: the answers {answers:?} came before the call"
        );
    }
    Ok(())
}

/// Returns the calls that the gate decided, with their indices in the log.
fn gate_calls(played: &PlayedSession) -> Vec<(usize, &ToolCall)> {
    let log = played.log.iter().enumerate();
    log.filter_map(|(at, entry)| match entry {
        RecordEntry::GateCalled(call) => Some((at, call)),
        _ => None,
    })
    .collect()
}

pub(super) fn are_gated_once(played: &PlayedSession, expected: usize) -> CheckOutcome {
    let label = played.label;
    let calls = expect_calls(played, expected)?;
    let decided = gate_calls(played);
    ensure!(
        decided.len() == calls.len(),
        "{label}: the gate was asked {} times about {} calls",
        decided.len(),
        calls.len()
    );
    for call in &calls {
        let Some((at, _)) = decided.iter().find(|(_, decided)| decided.id == call.id) else {
            return Err(Flaw::Failed(format!(
                "{label}: the gate was not asked about {call:?}"
            )));
        };
        let answered = played
            .responses()
            .into_iter()
            .find(|response| response.id == call.id);
        ensure!(
            answered.is_none_or(|response| *at < response.at),
            "{label}: {call:?} was answered before the gate was asked"
        );
    }
    Ok(())
}

pub(super) fn are_described(played: &PlayedSession) -> CheckOutcome {
    let label = played.label;
    for (_, call) in gate_calls(played) {
        let invocation = played
            .invocations()
            .into_iter()
            .find(|invocation| invocation.id == call.id);
        if let Some(invocation) = invocation {
            ensure!(
                invocation.name == call.name,
                "{label}: {:?} is {:?} in the stream",
                call.name,
                invocation.name
            );
            ensure!(
                *invocation.input == call.input,
                "{label}: another input is in the stream: {invocation:?}"
            );
        }
        let session = &call.session;
        ensure!(
            *session == played.key,
            "{label}: in session {}, not {session}",
            played.key
        );
        ensure!(
            call.mode == Mode::Sync,
            "{label}: in mode sync, not {}",
            call.mode
        );
        let same = |path: &std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        ensure!(
            same(&call.cwd) == same(&played.cwd),
            "{label}: in {:?}, not {:?}",
            played.cwd,
            call.cwd
        );
    }
    Ok(())
}

pub(super) fn is_a_shell_command(played: &PlayedSession, command: &str) -> CheckOutcome {
    for (_, call) in gate_calls(played) {
        let expected = ToolKind::Shell {
            command: command.to_owned(),
        };
        ensure!(
            call.kind == expected,
            "{}: {expected:?} reached the gate as {:?}",
            played.label,
            call.kind
        );
    }
    Ok(())
}

pub(super) fn have_status(played: &PlayedSession, allowed: &[ToolStatus]) -> CheckOutcome {
    for response in played.responses() {
        ensure!(
            allowed.contains(&response.status),
            "{}: {response:?}, which should be one of {allowed:?}",
            played.label
        );
    }
    Ok(())
}

pub(super) fn reasons_arrive(played: &PlayedSession) -> CheckOutcome {
    for response in played.responses() {
        ensure!(
            response.output.contains(REASON),
            "{}: the agent received {:?}, not the reason {REASON:?}",
            played.label,
            response.output
        );
    }
    Ok(())
}

pub(super) fn do_not_run(played: &PlayedSession) -> CheckOutcome {
    let runs = played.runs();
    ensure!(
        runs.is_empty(),
        "{}: the tool ran with {runs:?}",
        played.label
    );
    Ok(())
}

pub(super) fn run_once_with_their_input(
    played: &PlayedSession,
    calls: &[ProbeCall],
) -> CheckOutcome {
    let label = played.label;
    let runs = played.runs();
    let (expected, found) = (calls.len(), runs.len());
    ensure!(
        found == expected,
        "{label}: {expected} calls made the tool run {found} times"
    );
    for ProbeCall { input, .. } in calls {
        let arrived = runs.iter().any(|(_, got)| *got == input);
        ensure!(arrived, "{label}: called with {input}\nit got {runs:?}");
    }
    for (session, _) in runs {
        ensure!(
            *session == played.key,
            "{label}: in session {}, not {session}",
            played.key
        );
    }
    Ok(())
}

pub(super) fn outputs_arrive(played: &PlayedSession) -> CheckOutcome {
    for call in played.invocations() {
        let response = played.response_to(call.id)?;
        let expected = answer(&call.input["number"]);
        ensure!(
            response.output.contains(&expected) && response.status == ToolStatus::Ok,
            "{}: the tool returned {expected:?}, but the agent received {response:?}",
            played.label
        );
    }
    Ok(())
}

pub(super) fn errors_arrive(played: &PlayedSession) -> CheckOutcome {
    for call in played.invocations() {
        let response = played.response_to(call.id)?;
        ensure!(
            response.output.contains(FAILURE) && response.status == ToolStatus::Error,
            "{}: the tool failed with {FAILURE:?}, but the agent received {response:?}",
            played.label
        );
    }
    Ok(())
}
