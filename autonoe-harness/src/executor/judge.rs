//! Port of judges: models that decide statements which no command can check.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::event::Failure;
use autonoe_core::run::{FlowExit, SessionAccess};
use autonoe_core::session::FlowStart;
use autonoe_core::tool::{JudgeVerdict, VerdictSlot, verdict_tool};
use autonoe_core::{Budget, RunControl, SessionOrder};
use serde_json::json;

use super::agent_executor::{elapsed_since, run_single_session};
use super::{AgentExecutor, ExecutionOutcome, Task, judge_prompt};
use crate::budget::{PaidSession, VerificationBudget};

/// Lets a model judge whether a statement holds.
///
/// Implementations must use a separate session that cannot change anything, provide the tool
/// `verdict` (see [`verdict_tool`](autonoe_core::tool::verdict_tool)), and return the verdict given
/// through it. Prose of the model is not a verdict. The session is charged to the budget of the
/// question, and must not start when that is exhausted.
///
/// ```
/// use autonoe_core::event::Failure;
/// use autonoe_core::tool::JudgeVerdict;
/// use autonoe_harness::executor::JudgeQuestion;
/// use autonoe_harness::Judge;
///
/// /// A judge that likes short accounts.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl Judge for Short {
///     async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
///         Ok(Some(JudgeVerdict {
///             passed: question.output.len() < 80,
///             reason: format!("it has {} bytes", question.output.len()),
///         }))
///     }
/// }
/// ```
#[async_trait]
pub trait Judge: Send + Sync {
    /// Judges a statement. Returns `None` if the model finished without a verdict.
    ///
    /// # Errors
    ///
    /// The model could not be run.
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<J: Judge + ?Sized> Judge for Arc<J> {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
        (**self).judge(question).await
    }
}

impl fmt::Debug for dyn Judge + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

/// Statement to be judged, with its context.
#[derive(Clone, Copy, Debug)]
pub struct JudgeQuestion<'a> {
    /// The task that was executed.
    pub task: &'a Task,
    /// The folder of the task.
    pub folder: &'a Path,
    /// The statement.
    pub statement: &'a str,
    /// The output of the agent that worked on the task. It may be wrong.
    pub output: &'a str,
    /// The model of the judge; the judge's default if `None`.
    pub model: Option<&'a str>,
    /// The account that pays for the session; `None` if it is not counted.
    pub budget: Option<&'a VerificationBudget>,
}

/// Time limit of a judge.
const TEN_MINUTES: Duration = Duration::from_secs(600);

#[async_trait]
impl Judge for AgentExecutor {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
        let slot = VerdictSlot::default();
        let order = SessionOrder::new(judge_prompt(question))
            .name(format!("task-{}-judge", question.task.id))
            .access(SessionAccess::read_only())
            .tool(verdict_tool(&slot));
        let model = question.model.or(self.model.as_deref());
        let start = FlowStart::new("judge").parameters(json!({"task": question.task.id}));
        let open = question.budget.map(VerificationBudget::open).transpose();
        let paid = open.map_err(|kind| {
            let message = format!("the {kind} budget is spent; no judge can be started");
            Failure::permanent("budget_spent", message)
        })?;
        let limits = paid
            .as_ref()
            .map_or_else(Budget::default, PaidSession::budget);
        let began = self.clock.now();
        // Dropping the future cancels the session.
        let control = RunControl::new();
        let performed = run_single_session(
            self.builder(question.folder, model),
            start,
            |_| order,
            (&control, &*self.clock),
            (TEN_MINUTES, limits),
        );
        let performed = performed.await;
        match (paid, &performed) {
            (Some(paid), Ok(Ok(performed))) => {
                let (cost, tokens) = (performed.result.cost, performed.result.tokens);
                paid.settle(cost, tokens, elapsed_since(began, &*self.clock));
            }
            (Some(paid), _) => paid.release(),
            (None, _) => {}
        }
        let performed =
            performed.map_err(|error| Failure::permanent("not_set_up", error.to_string()))?;
        let performed = performed.map_err(|exit| match exit {
            FlowExit::Failed { error } => error,
            exit => Failure::retryable("not_started", exit.to_string()),
        })?;
        match ExecutionOutcome::from_session(&performed.result, TEN_MINUTES.as_secs()) {
            // A judge that was stopped may have given its verdict before it had seen everything.
            ExecutionOutcome::Completed => Ok(slot.take()),
            ExecutionOutcome::Failed { error } => Err(error),
            end => Err(Failure::retryable(
                "judge_not_completed",
                format!("the session {end}"),
            )),
        }
    }
}
