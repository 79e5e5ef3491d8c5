//! The sessions that most checks inspect, and checks applied to every session that could be played.

use std::panic::AssertUnwindSafe;

use autonoe_core::Capabilities;
use autonoe_core::agent::{HookCoverage, Support};
use futures::FutureExt;
use jiff::Timestamp;

use super::fixture::{Fixture, GateMode, Subject};
use super::leftover_processes::left_in_background;
use super::played::{PlayedSession, play};
use super::{ProbeCall, Scenario, probe_tool};
use crate::conformance::checks::{CheckOutcome, Checks, Flaw, Marker};

/// The text of the agent in the session `says`.
pub(super) const TEXT: &str = "The agent says this: ä, 🦀 and \"quotes\".";

/// The command of the agent in the session `command`.
pub(super) const COMMAND: &str = "echo 'conformance' && true";

/// A played session, or the reason why there is none.
pub(super) type Session = CheckOutcome<PlayedSession>;

/// The sessions that most checks inspect.
pub(super) struct Sessions {
    pub(super) capabilities: Capabilities,
    /// The file that the denied command would create.
    pub(super) marker: Marker,
    pub(super) says: Session,
    pub(super) command: Session,
    /// The command of this session leaves a process in the background.
    pub(super) background: Session,
    pub(super) denied_command: Session,
    pub(super) tool: Session,
    pub(super) tools_at_once: Session,
    pub(super) failing_tool: Session,
    pub(super) denied_tools: Session,
    pub(super) breaks: Session,
    pub(super) quota: Session,
}

impl Sessions {
    /// Plays all sessions, one after the other.
    pub(super) async fn play(subject: &Subject<'_>) -> Self {
        // A backend that cannot be probed has no capabilities; another check reports the failed
        // probe.
        let first = text_scenario();
        let probing = AssertUnwindSafe(Fixture::new(subject, &first)).catch_unwind();
        let capabilities = match probing.await {
            Ok(Ok(fixture)) => fixture.capabilities,
            _ => Capabilities::new("unknown"),
        };
        let can = &capabilities;
        let marker = Marker::in_dir(&subject.harness.project());
        let quota = Scenario::HitsQuota {
            resets_at: Timestamp::constant(4_102_444_800, 0),
        };
        let stage = Stage { subject };
        Self {
            says: stage.open(Ok(()), "says", &text_scenario()).await,
            command: stage.open(Ok(()), "command", &runs(COMMAND)).await,
            background: stage
                .open(Ok(()), "background", &runs(&left_in_background()))
                .await,
            denied_command: stage
                .closed(calls_gate(can), "denied command", &runs(&marker.touch()))
                .await,
            tool: stage
                .open(
                    takes_tools(can),
                    "tool",
                    &uses([probe_tool::with_fragile_input()]),
                )
                .await,
            tools_at_once: stage
                .open(takes_tools(can), "tools at once", &uses(two_calls()))
                .await,
            failing_tool: stage
                .open(
                    takes_tools(can),
                    "failing tool",
                    &uses([probe_tool::fails()]),
                )
                .await,
            denied_tools: stage
                .closed(
                    calls_gate(can).and(takes_tools(can)),
                    "denied tools",
                    &uses(two_calls()),
                )
                .await,
            breaks: stage.open(Ok(()), "breaks", &Scenario::Fails).await,
            quota: stage.open(reports_quota(can), "quota", &quota).await,
            capabilities,
            marker,
        }
    }

    /// Returns the sessions whose agents ended their turns by themselves.
    pub(super) fn completed(&self) -> [&Session; 7] {
        [
            &self.says,
            &self.command,
            &self.denied_command,
            &self.tool,
            &self.tools_at_once,
            &self.failing_tool,
            &self.denied_tools,
        ]
    }

    /// Returns all sessions.
    pub(super) fn all(&self) -> impl Iterator<Item = &Session> {
        self.completed()
            .into_iter()
            .chain([&self.background, &self.breaks, &self.quota])
    }

    /// Returns the sessions with tool calls, and the number of their calls.
    pub(super) fn calling(&self) -> [(&Session, usize); 6] {
        [
            (&self.command, 1),
            (&self.denied_command, 1),
            (&self.tool, 1),
            (&self.tools_at_once, 2),
            (&self.failing_tool, 1),
            (&self.denied_tools, 2),
        ]
    }
}

struct Stage<'a> {
    subject: &'a Subject<'a>,
}

impl Stage<'_> {
    async fn open(
        &self,
        possible: CheckOutcome,
        label: &'static str,
        scenario: &Scenario,
    ) -> Session {
        possible?;
        play(self.subject, label, scenario, GateMode::Open).await
    }

    async fn closed(
        &self,
        possible: CheckOutcome,
        label: &'static str,
        scenario: &Scenario,
    ) -> Session {
        possible?;
        play(self.subject, label, scenario, GateMode::Closed).await
    }
}

pub(super) fn text_scenario() -> Scenario {
    Scenario::Says {
        text: TEXT.to_owned(),
    }
}

pub(super) fn runs(command: &str) -> Scenario {
    Scenario::RunsCommand {
        command: command.to_owned(),
    }
}

pub(super) fn uses(calls: impl Into<Vec<ProbeCall>>) -> Scenario {
    Scenario::UsesTools {
        calls: calls.into(),
    }
}

pub(super) fn two_calls() -> [ProbeCall; 2] {
    [probe_tool::answers(1), probe_tool::answers(2)]
}

pub(super) fn calls_gate(capabilities: &Capabilities) -> CheckOutcome {
    if capabilities.hooks == HookCoverage::EveryTool {
        return Ok(());
    }
    Err(Flaw::Untestable(
        "the backend does not send every call to the gate".into(),
    ))
}

pub(super) fn takes_tools(capabilities: &Capabilities) -> CheckOutcome {
    needs(
        capabilities.in_process_tools,
        "the backend does not accept tools of this process",
    )
}

fn reports_quota(capabilities: &Capabilities) -> CheckOutcome {
    needs(
        capabilities.quota_reset,
        "the backend does not report when a spent quota resets",
    )
}

fn needs(support: Support, otherwise: &str) -> CheckOutcome {
    if support.is_yes() {
        Ok(())
    } else {
        Err(Flaw::Untestable(otherwise.to_owned()))
    }
}

/// Has an agent run a command that writes into the project and next to it: the file in the project
/// shows that it ran.
pub(super) async fn agent_is_confined(subject: &Subject<'_>, claimed: Support) -> CheckOutcome {
    if !claimed.is_yes() {
        let reason = "the backend creates no outer sandbox";
        return Err(Flaw::Untestable(reason.to_owned()));
    }
    let project = subject.harness.project();
    let beside = project.parent().filter(|folder| folder.parent().is_some());
    let beside = beside
        .ok_or_else(|| Flaw::Untestable("the project is not in a writable folder".to_owned()))?;
    let (inside, outside) = (Marker::in_dir(&project), Marker::in_dir(beside));
    let scenario = runs(&format!("{}; {}", inside.touch(), outside.touch()));

    let session = play(subject, "enclosed", &scenario, GateMode::OpenInSandbox).await;

    outside.is_absent()?;
    let Ok(played) = &session else {
        return Err(missing(&session));
    };
    ensure!(
        inside.is_absent().is_err(),
        "the command did not run in the outer sandbox: {:?}",
        played.responses()
    );
    Ok(())
}

/// Applies `check` to each of `sessions` that could be played.
pub(super) fn over<'s>(
    checks: &mut Checks,
    name: &str,
    sessions: impl IntoIterator<Item = &'s Session>,
    check: impl Fn(&PlayedSession) -> CheckOutcome,
) {
    let pairs_of: Vec<_> = sessions.into_iter().map(|session| (session, 0)).collect();
    pairs(checks, name, &pairs_of, |played, _| check(played));
}

/// Applies `check` to each of `sessions` that could be played, with the number of its calls.
pub(super) fn pairs(
    checks: &mut Checks,
    name: &str,
    sessions: &[(&Session, usize)],
    check: impl Fn(&PlayedSession, usize) -> CheckOutcome,
) {
    // Another check reports a turn that did not end; its remaining items are unknown.
    let seen: Vec<_> = sessions
        .iter()
        .filter_map(|(session, count)| match session {
            Ok(played) if played.turn.is_ok() => Some((played, *count)),
            _ => None,
        })
        .collect();
    if seen.is_empty() {
        let reason = sessions.first().map(|(session, _)| missing(session));
        checks.run_sync(name, || {
            Err(reason.unwrap_or_else(|| Flaw::Untestable("nothing to see".into())))
        });
    } else {
        checks.each(name, seen, |(played, count)| check(played, count));
    }
}

/// Returns the reason why there is no session to inspect.
pub(super) fn missing(session: &Session) -> Flaw {
    Flaw::Untestable(match session {
        Err(Flaw::Untestable(reason)) => reason.clone(),
        Err(Flaw::Failed(_)) => "its session could not be played".into(),
        Ok(PlayedSession { label, .. }) => format!("the session {label:?} did not come to its end"),
    })
}
