//! A judge in a session of its own.

use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Budget, Failure, FlowExit, FlowStart, JudgeVerdict, RunControl, SessionAccess, SessionOrder,
    VerdictSlot, verdict_tool,
};
use serde_json::json;

use super::one_session::{one_session, since};
use super::{
    AgentExecutor, ExecutionEnd, Judge, JudgeQuestion, TabSession, VerificationTab, judge_prompt,
};

/// How long a judge may take.
const TEN_MINUTES: Duration = Duration::from_secs(600);

#[async_trait]
impl Judge for AgentExecutor {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
        let slot = VerdictSlot::default();
        let order = SessionOrder::new(judge_prompt(question))
            .named(format!("task-{}-judge", question.task.id))
            .access(SessionAccess::reading())
            .tool(verdict_tool(&slot));
        let model = question.model.or(self.model.as_deref());
        let start = FlowStart::new("judge").parameters(json!({"task": question.task.id}));
        let open = question.tab.map(VerificationTab::open).transpose();
        let paid = open.map_err(|kind| {
            let message = format!("nothing is left of the {kind} to pay a judge");
            Failure::permanent("budget_spent", message)
        })?;
        let limits = paid
            .as_ref()
            .map_or_else(Budget::default, TabSession::budget);
        let began = self.clock.now();
        // Who drops the future cuts the session off.
        let control = RunControl::new();
        let performed = one_session(
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
                paid.settle(cost, tokens, since(began, &*self.clock));
            }
            (Some(paid), _) => paid.did_not_begin(),
            (None, _) => {}
        }
        let performed =
            performed.map_err(|error| Failure::permanent("not_set_up", error.to_string()))?;
        let performed = performed.map_err(|exit| match exit {
            FlowExit::Failed { error } => error,
            exit => Failure::retryable("not_begun", exit.to_string()),
        })?;
        match ExecutionEnd::of(&performed.result, TEN_MINUTES.as_secs()) {
            // A judge that was stopped may have judged what it had not looked at to the end.
            ExecutionEnd::Completed => Ok(slot.take()),
            ExecutionEnd::Failed { error } => Err(error),
            end => Err(Failure::retryable(
                "judge_not_completed",
                format!("the session {end}"),
            )),
        }
    }
}
