//! Events that a member shares with the fleet, derived from its journal.

use autonoe_core::{RunEnding, RunOutcome};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{HarnessId, HarnessResult, NewHarnessEvent, WorkEvent};

/// Makes the shared events of one run of a member.
///
/// Each event has a key that depends on the journal only, so that events of a journal can be emitted
/// again after a crash and are kept once.
#[derive(Clone, Debug)]
pub(super) struct MemberEvents {
    member: HarnessId,
    /// When the run was first opened, which distinguishes it from earlier runs of the same name.
    began: Timestamp,
}

impl MemberEvents {
    /// Returns `None` before the journal has an event that opens the run.
    pub(super) fn of_journal<'a>(
        member: &HarnessId,
        journal: impl IntoIterator<Item = &'a WorkEvent>,
    ) -> Option<Self> {
        let opened = journal.into_iter().find_map(|event| match event {
            WorkEvent::Opened { at, .. } => Some(*at),
            _ => None,
        });
        opened.map(|began| Self {
            member: member.clone(),
            began,
        })
    }

    /// Returns what an entry of the journal emits: `spawn`, `progress` or `instruction`.
    pub(super) fn of_entry(&self, entry: &WorkEvent) -> Vec<NewHarnessEvent> {
        match entry {
            WorkEvent::Opened { run, .. } => {
                vec![self.event("spawn", "", self.began, json!({"run": run}))]
            }
            WorkEvent::Iterated {
                task,
                iteration,
                branch,
                at,
                verification,
                score,
                told,
                ..
            } => {
                let place = format!("{task} {} {iteration}", branch.as_deref().unwrap_or("-"));
                let instructions = told.iter().enumerate().map(|(number, told)| {
                    let details = json!({"id": told.id, "text": told.text, "task": task});
                    let key = format!("{place} {number}");
                    self.event("instruction", &key, *at, details)
                });
                let details = json!({
                    "task": task,
                    "iteration": iteration,
                    "branch": branch,
                    "score": score,
                    "passed": verification.is_success(),
                });
                let progress = self.event("progress", &place, *at, details);
                instructions.chain([progress]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the event of the member's end: `complete`, `fail` or `stop`.
    pub(super) fn of_outcome(
        &self,
        outcome: &RunOutcome,
        result: &HarnessResult,
        artifact: &str,
        at: Timestamp,
    ) -> NewHarnessEvent {
        let kind = match outcome.ending {
            RunEnding::Succeeded => "complete",
            RunEnding::Failed { .. } => "fail",
            RunEnding::Cancelled { .. } => "stop",
        };
        let details = json!({
            "progress": result.progress,
            "error": result.error,
            "artifact": artifact,
        });
        self.event(kind, "", at, details)
    }

    fn event(&self, kind: &str, place: &str, at: Timestamp, details: Value) -> NewHarnessEvent {
        let key = format!("{} {} {kind} {place}", self.member, self.began);
        NewHarnessEvent::new(kind, at)
            .about(self.member.clone())
            .with_details(details)
            .with_key(key.trim_end())
    }
}
