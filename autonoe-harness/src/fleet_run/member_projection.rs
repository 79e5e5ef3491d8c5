//! Derives the state of a member and its shared events from the entries of its journal.

use std::collections::BTreeMap;
use std::time::Duration;

use autonoe_core::engine::{RunEnding, RunOutcome};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::executor::{ExecutionOutcome, TaskId};
use crate::shared::NewMemberEvent;
use crate::state::TaskChange;
use crate::state::{ExecutionRecord, TaskStatus, TaskUpdate};
use crate::strategy::{MemberId, MemberReport};
use crate::work::WorkEvent;

/// Projects the journal of one member run, entry by entry.
///
/// The projection depends on the journal only: after a crash, the same entries give the same
/// changes and events again. Events have keys, so that one that is emitted twice is stored once.
#[derive(Debug)]
pub(super) struct MemberProjection {
    member: MemberId,
    /// The time at which the run was first opened, which distinguishes it from earlier runs of the
    /// same name.
    started_at: Option<Timestamp>,
    attempts: BTreeMap<TaskId, u32>,
    /// The last turn, if its checks passed and its work does not count yet.
    verified: Option<Verified>,
}

/// A turn whose checks passed.
#[derive(Debug)]
struct Verified {
    answer: String,
    at: Timestamp,
}

/// Projection of one journal entry.
#[derive(Debug, Default)]
pub(super) struct Projected {
    /// Changes of the state.
    pub(super) changes: Vec<TaskChange>,
    /// Shared events: `spawn`, `progress` or `instruction`.
    pub(super) events: Vec<NewMemberEvent>,
}

impl MemberProjection {
    fn new(member: MemberId) -> Self {
        Self {
            member,
            started_at: None,
            attempts: BTreeMap::new(),
            verified: None,
        }
    }

    /// Applies all entries of a journal.
    pub(super) fn replay(member: MemberId, entries: &[WorkEvent]) -> (Self, Projected) {
        let (mut projection, mut all) = (Self::new(member), Projected::default());
        for entry in entries {
            let projected = projection.apply(entry);
            all.changes.extend(projected.changes);
            all.events.extend(projected.events);
        }
        (projection, all)
    }

    /// Applies the next entry.
    pub(super) fn apply(&mut self, entry: &WorkEvent) -> Projected {
        let mut projected = Projected::default();
        let status = |task: &TaskId, update, at: &Timestamp| {
            vec![TaskChange::Status(task.clone(), update, *at)]
        };
        match entry {
            WorkEvent::Opened { run, at } => {
                self.started_at.get_or_insert(*at);
                let details = json!({"run": run});
                projected.events = self.event("spawn", "", *at, details).into_iter().collect();
            }
            WorkEvent::TaskStarted { task, at } => {
                *self.attempts.entry(task.clone()).or_default() += 1;
                let update = TaskUpdate::new(TaskStatus::InProgress);
                projected.changes = status(task, update, at);
            }
            WorkEvent::IterationEnded { task, branch, .. } => {
                projected.changes.extend(self.execution(entry));
                if branch.is_none() {
                    projected.changes.extend(self.completion(task));
                }
                projected.events = self.iteration_events(entry);
            }
            WorkEvent::Explored { task, merged, .. } => {
                let completion = self.completion(task);
                projected.changes = completion.filter(|_| *merged).into_iter().collect();
            }
            // A success is known since the checks passed: the process may be lost before this event.
            WorkEvent::Ended {
                task,
                at,
                success: false,
                reason,
                ..
            } => {
                let update = TaskUpdate {
                    error: Some(reason.clone()),
                    ..TaskUpdate::new(TaskStatus::Failed)
                };
                projected.changes = status(task, update, at);
            }
            WorkEvent::Stopped { task, at, .. } => {
                let update = TaskUpdate::new(TaskStatus::Pending);
                projected.changes = status(task, update, at);
            }
            _ => {}
        }
        projected
    }

    /// Returns the key of the event of the member's end. There is none before the run was opened.
    pub(super) fn end_key(&self) -> Option<String> {
        self.key("end", "")
    }

    /// Returns the event of the member's end: `complete`, `fail` or `stop`. There is none before
    /// the run was opened. The three kinds have the same key, so that a member ends once.
    pub(super) fn outcome_event(
        &self,
        outcome: &RunOutcome,
        result: &MemberReport,
        artifact: &str,
        at: Timestamp,
    ) -> Option<NewMemberEvent> {
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
        Some(NewMemberEvent {
            member: Some(self.member.clone()),
            details,
            key: Some(self.end_key()?),
            ..NewMemberEvent::new(kind, at)
        })
    }

    /// Completes a task with the turn whose checks passed, if there is one.
    fn completion(&mut self, task: &TaskId) -> Option<TaskChange> {
        let Verified { answer, at } = self.verified.take()?;
        let update = TaskUpdate {
            output: Some(answer),
            ..TaskUpdate::new(TaskStatus::Completed)
        };
        Some(TaskChange::Status(task.clone(), update, at))
    }

    fn execution(&mut self, entry: &WorkEvent) -> Option<TaskChange> {
        let WorkEvent::IterationEnded {
            task,
            at,
            end,
            verification,
            output,
            result,
            duration_ms,
            ..
        } = entry
        else {
            return None;
        };
        let attempt = self.attempts.get(task).copied().unwrap_or(1);
        let duration = Duration::from_millis(*duration_ms);
        self.verified = result.as_ref().map(|result| Verified {
            answer: match result.answer.as_str() {
                "" => result.output.clone(),
                answer => answer.to_owned(),
            },
            at: *at,
        });
        let record = match result {
            Some(result) => ExecutionRecord::from_result(attempt, result),
            None => ExecutionRecord {
                task: task.clone(),
                attempt,
                success: *end == ExecutionOutcome::Completed,
                output: output.clone(),
                error: Some(verification.reason().to_owned()),
                duration,
                started_at: at.checked_sub(duration).unwrap_or(*at),
            },
        };
        Some(TaskChange::Execution(record))
    }

    fn iteration_events(&self, entry: &WorkEvent) -> Vec<NewMemberEvent> {
        let WorkEvent::IterationEnded {
            task,
            iteration,
            branch,
            at,
            verification,
            score,
            messages,
            ..
        } = entry
        else {
            return Vec::new();
        };
        let place = format!("{task} {} {iteration}", branch.as_deref().unwrap_or("-"));
        let instructions = messages.iter().enumerate().filter_map(|(number, message)| {
            let details = json!({"id": message.id, "text": message.text, "task": task});
            self.event("instruction", &format!("{place} {number}"), *at, details)
        });
        let details = json!({
            "task": task,
            "iteration": iteration,
            "branch": branch,
            "score": score,
            "passed": verification.is_success(),
        });
        let progress = self.event("progress", &place, *at, details);
        instructions.chain(progress).collect()
    }

    fn event(
        &self,
        kind: &str,
        place: &str,
        at: Timestamp,
        details: Value,
    ) -> Option<NewMemberEvent> {
        Some(NewMemberEvent {
            member: Some(self.member.clone()),
            details,
            key: Some(self.key(kind, place)?),
            ..NewMemberEvent::new(kind, at)
        })
    }

    fn key(&self, kind: &str, place: &str) -> Option<String> {
        let started_at = self.started_at?;
        let key = format!("{} {started_at} {kind} {place}", self.member);
        Some(key.trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::{CostTotal, TokenUsage};

    use super::*;
    use crate::budget::Spending;
    use crate::executor::{ExecutionReport, Task, Verification};
    use crate::progress::ProgressSignal;
    use crate::stuck::StuckReport;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    /// A turn on a branch, or in the worktree of the member.
    fn turn(task: &str, branch: Option<&str>, passed: bool) -> WorkEvent {
        let task = Task::new(task, "Do it.").expect("an id");
        let mut result = ExecutionReport::new(&task, "codex", ExecutionOutcome::Completed);
        result.answer = "Done.".to_owned();
        WorkEvent::IterationEnded {
            task: task.id,
            iteration: 1,
            branch: branch.map(str::to_owned),
            at: AT,
            cli: "codex".to_owned(),
            model: None,
            end: ExecutionOutcome::Completed,
            conversation: None,
            verification: Verification::passed("it is there"),
            score: 0.0,
            stuck: StuckReport::default(),
            denied: 0,
            messages: Vec::new(),
            cost: CostTotal::default(),
            tokens: TokenUsage::default(),
            duration_ms: 1,
            signal: ProgressSignal::default(),
            output: String::new(),
            checks: Spending::default(),
            interrupted: false,
            result: passed.then(|| result.into()),
        }
    }

    fn explored(task: &str, branch: &str, merged: bool) -> WorkEvent {
        WorkEvent::Explored {
            task: task.parse().expect("an id"),
            branch: branch.to_owned(),
            merged,
            unmerged_work: None,
            outcome: String::new(),
        }
    }

    #[test]
    fn a_task_is_completed_when_verified_work_is_in_the_worktree_of_the_member() {
        let own = |passed| turn("a", None, passed);
        let on = |branch| turn("a", Some(branch), true);
        for (events, completed) in [
            (vec![own(false)], None),
            (vec![own(true)], Some("a")),
            (vec![own(false), own(true)], Some("a")),
            (vec![on("b")], None),
            (vec![on("b"), explored("a", "b", true)], Some("a")),
            (vec![on("b"), explored("a", "b", false)], None),
            (
                vec![
                    on("b"),
                    explored("a", "b", false),
                    on("c"),
                    explored("a", "c", true),
                ],
                Some("a"),
            ),
            // The process was lost after the turn on the branch.
            (vec![on("b"), turn("other", None, false)], None),
        ] {
            let (_, projected) = MemberProjection::replay(MemberId::new("m"), &events);

            let changes = projected.changes.into_iter();
            let updates: Vec<_> = changes
                .filter_map(|change| match change {
                    TaskChange::Status(task, update, _) => Some((task.to_string(), update)),
                    TaskChange::Execution(_) => None,
                })
                .collect();
            let update = TaskUpdate {
                output: Some("Done.".to_owned()),
                ..TaskUpdate::new(TaskStatus::Completed)
            };
            let expected = completed.map(|task| (task.to_owned(), update));
            assert_eq!(updates, Vec::from_iter(expected), "{events:?}");
        }
    }
}
