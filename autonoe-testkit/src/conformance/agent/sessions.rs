//! The sessions that most checks look at.

use std::panic::AssertUnwindSafe;

use autonoe_core::{Capabilities, HookCoverage, Support};
use futures::FutureExt;
use jiff::Timestamp;

use super::harness::{ProbeCall, Scenario};
use super::played::{Played, play};
use super::probe_tool;
use super::stand::Subject;
use super::stand::{GateIs, Stand};
use super::survey::missing;
use super::survivors::left_in_background;
use crate::conformance::checks::Marker;
use crate::conformance::checks::{Finding, Flaw};

/// What the agent says in the session `says`.
pub(super) const TEXT: &str = "The agent says this: ä, 🦀 and \"quotes\".";

/// What the agent runs in the session `command`.
pub(super) const COMMAND: &str = "echo 'conformance' && true";

/// A session that was played, or why there is none.
pub(super) type Session = Finding<Played>;

/// The sessions that most checks look at.
pub(super) struct Sessions {
    pub(super) capabilities: Capabilities,
    /// Where the denied command would leave a trace.
    pub(super) marker: Marker,
    pub(super) says: Session,
    pub(super) command: Session,
    /// Its command leaves a process in the background.
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
    /// Plays all of them, one after the other.
    pub(super) async fn play(subject: &Subject<'_>) -> Self {
        // What cannot be probed can do nothing; that it cannot is told by a check.
        let first = says();
        let probing = AssertUnwindSafe(Stand::of(subject, &first)).catch_unwind();
        let capabilities = match probing.await {
            Ok(Ok(stand)) => stand.capabilities,
            _ => Capabilities::new("unknown"),
        };
        let can = &capabilities;
        let marker = Marker::in_dir(&subject.harness.project());
        let quota = Scenario::HitsQuota {
            resets_at: Timestamp::constant(4_102_444_800, 0),
        };
        let stage = Stage { subject };
        Self {
            says: stage.open(Ok(()), "says", &says()).await,
            command: stage.open(Ok(()), "command", &runs(COMMAND)).await,
            background: stage
                .open(Ok(()), "background", &runs(&left_in_background()))
                .await,
            denied_command: stage
                .closed(asks_gate(can), "denied command", &runs(&marker.touch()))
                .await,
            tool: stage
                .open(takes_tools(can), "tool", &uses([probe_tool::carries()]))
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
                    asks_gate(can).and(takes_tools(can)),
                    "denied tools",
                    &uses(two_calls()),
                )
                .await,
            breaks: stage.open(Ok(()), "breaks", &Scenario::Fails).await,
            quota: stage.open(tells_quota(can), "quota", &quota).await,
            capabilities,
            marker,
        }
    }

    /// Returns those whose agents ended their turns by themselves.
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

    /// Returns all of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Session> {
        self.completed()
            .into_iter()
            .chain([&self.background, &self.breaks, &self.quota])
    }

    /// Returns those with tool calls, and how many each has.
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
    async fn open(&self, possible: Finding, label: &'static str, scenario: &Scenario) -> Session {
        possible?;
        play(self.subject, label, scenario, GateIs::Open).await
    }

    async fn closed(&self, possible: Finding, label: &'static str, scenario: &Scenario) -> Session {
        possible?;
        play(self.subject, label, scenario, GateIs::Closed).await
    }
}

pub(super) fn says() -> Scenario {
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

pub(super) fn asks_gate(capabilities: &Capabilities) -> Finding {
    if capabilities.hooks == HookCoverage::EveryTool {
        return Ok(());
    }
    Err(Flaw::Untestable(
        "the backend does not ask the gate about every call".into(),
    ))
}

pub(super) fn takes_tools(capabilities: &Capabilities) -> Finding {
    needs(
        capabilities.in_process_tools,
        "the backend does not take our tools in-process",
    )
}

fn tells_quota(capabilities: &Capabilities) -> Finding {
    needs(
        capabilities.quota_reset,
        "the backend does not tell when a spent quota comes back",
    )
}

fn needs(support: Support, otherwise: &str) -> Finding {
    if support.is_yes() {
        Ok(())
    } else {
        Err(Flaw::Untestable(otherwise.to_owned()))
    }
}

/// Lets an agent run a command that writes into the project and beside it: the first shows that
/// it ran.
pub(super) async fn an_agent_is_kept_in(subject: &Subject<'_>, claimed: Support) -> Finding {
    if !claimed.is_yes() {
        let why = "the backend makes no outer sandbox";
        return Err(Flaw::Untestable(why.to_owned()));
    }
    let project = subject.harness.project();
    let beside = project.parent().filter(|folder| folder.parent().is_some());
    let beside = beside.ok_or_else(|| {
        Flaw::Untestable("the project is in no folder that could be written to".to_owned())
    })?;
    let (inside, outside) = (Marker::in_dir(&project), Marker::in_dir(beside));
    let scenario = runs(&format!("{}; {}", inside.touch(), outside.touch()));

    let session = play(subject, "enclosed", &scenario, GateIs::OpenInWalls).await;

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
