//! What happens in a task loop.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{AgentSessionId, CostTotal, Failure, RunId, TokenUsage};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::WorkSoFar;
use crate::{
    Climb, ExecutionEnd, ExecutionResult, PassedOver, ProgressSignal, RecoveryStep, Spending,
    StuckReport, TaskId, Verification, WorkPlace,
};

/// Takes note of what happens in a task loop: a journal, a database.
///
/// An implementer owes that what it took note of stays, once it has answered. It is told one event
/// after the other, all of one run: tasks and messages of two runs may have the same names.
#[async_trait]
pub trait WorkObserver: Send + Sync {
    /// Takes note.
    ///
    /// # Errors
    ///
    /// It cannot. Then the work ends as failed: what nobody knows of cannot be gone on with.
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure>;

    /// Returns what earlier lives of the run came to, by what was noted of them. With that the
    /// loop goes on: it repeats nothing that is done, tells nothing twice, and counts what was
    /// spent.
    ///
    /// By default nothing was before, which is right for who forgets everything.
    ///
    /// # Errors
    ///
    /// It cannot be read. Then nothing begins.
    async fn so_far(&self) -> Result<WorkSoFar, Failure> {
        Ok(WorkSoFar::default())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<O: WorkObserver + ?Sized> WorkObserver for Arc<O> {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        (**self).note(event).await
    }

    async fn so_far(&self) -> Result<WorkSoFar, Failure> {
        (**self).so_far().await
    }
}

#[async_trait]
impl<F> WorkObserver for F
where
    F: Fn(&WorkEvent) -> Result<(), Failure> + Send + Sync,
{
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self(event)
    }
}

/// Something that a person said and an agent was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToldMessage {
    /// Its id, if whoever sent it remembers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What was said.
    pub text: String,
}

/// Takes note of nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWorkObserver;

#[async_trait]
impl WorkObserver for NoWorkObserver {
    async fn note(&self, _: &WorkEvent) -> Result<(), Failure> {
        Ok(())
    }
}

/// Something that happened in a task loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "most events are of that variant")]
pub enum WorkEvent {
    /// A run is carried out, or again after its process was lost. What follows is about it.
    Opened {
        /// The run.
        run: RunId,
        /// When.
        at: Timestamp,
    },
    /// Work on a task began, or began again after the process that worked on it was lost.
    Began {
        /// The task.
        task: TaskId,
        /// When.
        at: Timestamp,
    },
    /// An agent is about to have a turn. Where no other word of that turn follows, it was cut off.
    IterationBegan {
        /// The task.
        task: TaskId,
        /// The number of the iteration, from 1; on a branch of its own count.
        iteration: u32,
        /// The branch that it is on, if it is one of several ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// When.
        at: Timestamp,
    },
    /// The turn of an agent did not begin after all. Nothing was spent on it.
    NotBegun {
        /// The task.
        task: TaskId,
        /// The number of the iteration, from 1; on a branch of its own count.
        iteration: u32,
        /// The branch that it was to be on, if it was one of several ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Why, for people.
        reason: String,
    },
    /// An agent had a turn.
    Iterated {
        /// The task.
        task: TaskId,
        /// The number of the iteration, from 1; on a branch of its own count.
        iteration: u32,
        /// The branch that it was on, if it was one of several ways.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// When it was over.
        at: Timestamp,
        /// Who had it.
        cli: String,
        /// With which model, if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// How it ended.
        end: ExecutionEnd,
        /// The backend's name of the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<AgentSessionId>,
        /// Whether what the task asks for holds.
        verification: Verification,
        /// How far it came on, from 0 to 1.
        score: f64,
        /// Whether it is stuck.
        stuck: StuckReport,
        /// How many of its calls were denied.
        denied: u32,
        /// What persons said and it was told, each once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        told: Vec<ToldMessage>,
        /// What it cost.
        cost: CostTotal,
        /// The tokens that it took.
        tokens: TokenUsage,
        /// How many milliseconds it took.
        duration_ms: u64,
        /// What shows how far it came on.
        #[serde(default)]
        signal: ProgressSignal,
        /// All that the agent said, if what the task asks for does not hold.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        output: String,
        /// What it took beside to find out whether what the task asks for holds.
        #[serde(default, skip_serializing_if = "is_nothing")]
        checks: Spending,
        /// Whether the work was stopped in it: its cost may be unknown for that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
        /// What came of it, if what the task asks for holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Box<ExecutionResult>>,
    },
    /// A task waits for the quota of its backend, or for a failure to pass. The turn before does not
    /// count as an iteration.
    Waited {
        /// The task.
        task: TaskId,
        /// Until when.
        until: Timestamp,
    },
    /// A stuck agent is helped.
    Recovered {
        /// The task.
        task: TaskId,
        /// After which iteration.
        iteration: u32,
        /// The `type` of the strategy.
        strategy: String,
        /// What it changes.
        step: RecoveryStep,
        /// What could not be tried before it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passed_over: Vec<PassedOver>,
        /// How far up the ladder the task is with it.
        #[serde(default)]
        climb: Climb,
    },
    /// One of several ways came to its end.
    Explored {
        /// The task.
        task: TaskId,
        /// The branch.
        branch: String,
        /// Whether its work was merged.
        merged: bool,
        /// Where its work is, if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<WorkPlace>,
        /// What came of it, for people.
        said: String,
    },
    /// What was verified was verified again, before a merge.
    Checked {
        /// What that took.
        checks: Spending,
        /// Whether the work was stopped in it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    },
    /// Work on a task ended.
    Ended {
        /// The task.
        task: TaskId,
        /// When.
        at: Timestamp,
        /// Whether it is done and verified.
        success: bool,
        /// Why, for people.
        reason: String,
        /// How many iterations it took.
        iterations: u32,
    },
    /// Work on a task was stopped from outside; it is neither done nor failed.
    Stopped {
        /// The task.
        task: TaskId,
        /// When.
        at: Timestamp,
        /// How many iterations it took until then.
        iterations: u32,
    },
    /// The work is over. What persons said and no agent was told is here.
    Closed {
        /// What persons said.
        untold: Vec<String>,
    },
}

fn is_nothing(spending: &Spending) -> bool {
    *spending == Spending::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closure_takes_note_and_may_fail() {
        let at = Timestamp::UNIX_EPOCH;
        let opened = WorkEvent::Opened {
            run: RunId::new("member"),
            at,
        };
        let began = WorkEvent::Began {
            task: "login".parse().expect("a name"),
            at,
        };
        let only_opened: Arc<dyn WorkObserver> = Arc::new(|event: &WorkEvent| match event {
            WorkEvent::Opened { .. } => Ok(()),
            _ => Err(Failure::permanent("full", "there is no room")),
        });

        assert_eq!(only_opened.note(&opened).await, Ok(()));
        let refused = only_opened.note(&began).await;
        assert_eq!(refused.expect_err("there is no room").code, "full");
    }
}
