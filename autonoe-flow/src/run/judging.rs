//! Checks steps; where a model judges, in a session of its own.

use std::sync::{Mutex as Slot, PoisonError};

use async_trait::async_trait;
use autonoe_core::{BudgetKind, SessionAccess, SessionOrder};
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::driver::{budget_spent, failed, interrupted, resolve, until};
use super::flow::Started;
use super::outcome::{expense, outcome};
use crate::check::{Judge, StepCheckContext, StepChecker, Verdict, judge_prompt};
use crate::definition::PromptRef;
use crate::error::{FlowError, FlowErrorKind};
use crate::machine::{CheckOrder, CheckVerdict, Expense, FlowFact, FlowFailure, PromptOutcome};
use crate::tools::{Collected, VerdictSlot, verdict_tool};

/// Checks a step.
pub(super) async fn check(flow: &mut Started, order: CheckOrder) -> FlowFact {
    let registry = flow.parts.flow.definition().registry();
    let work = registry.step(&order.at.step).and_then(|step| step.work());
    let Some(check) = work.and_then(|work| work.check.clone()) else {
        let message = format!("the step `{}` has no check", order.at.step);
        let failure = FlowFailure::new(FlowErrorKind::UnknownStep, message);
        return failed(flow, failure);
    };
    let answer = StepCheckContext::new(&order.text).with_actions(&order.actions);
    let commands = flow.parts.options.commands.clone();
    let clock = flow.parts.options.clock.clone();
    let control = flow.control.clone();
    let time = until(clock.clone(), flow.machine.deadline());
    let judge = SessionJudge {
        flow: Mutex::new(flow),
        order: &order,
        heard: Slot::default(),
    };
    let checker = StepChecker::new(&judge, commands.as_ref());
    // A session ends by itself when the flow is cancelled, and is disposed of then.
    let is_session = matches!(check, crate::definition::Check::Prompt(_));
    let checked = tokio::select! {
        biased;
        () = control.cancelled(), if !is_session => Err(interrupted().into()),
        checked = checker.check(&check, &answer) => checked,
        // So it does when its time is up.
        () = time, if !is_session => return FlowFact::Failed {
            at: clock.now(),
            failure: budget_spent(BudgetKind::Time),
        },
    };
    let heard = judge.heard();
    let at = clock.now();
    if let Some(Limited { resets_at }) = heard.limited {
        return FlowFact::CheckLimited {
            at,
            resets_at,
            spent: heard.spent,
        };
    }
    let verdict = match checked {
        Ok(result) => Ok(CheckVerdict {
            passed: result.passed,
            reason: result.reason,
        }),
        Err(error) => {
            let mut failure = FlowFailure::from(error);
            failure.budget = heard.budget;
            Err(failure)
        }
    };
    FlowFact::Checked {
        at,
        verdict,
        spent: heard.spent,
    }
}

/// What came of the session of a judge, beside its verdict.
#[derive(Clone, Copy, Default)]
struct Heard {
    spent: Expense,
    limited: Option<Limited>,
    /// The part of the budget that is spent.
    budget: Option<BudgetKind>,
}

/// The service behind the judge asks to wait.
#[derive(Clone, Copy)]
struct Limited {
    resets_at: Option<Timestamp>,
}

/// Has a model judge in a session of its own, in which it can change nothing.
struct SessionJudge<'a> {
    flow: Mutex<&'a mut Started>,
    order: &'a CheckOrder,
    heard: Slot<Heard>,
}

impl SessionJudge<'_> {
    fn heard(&self) -> Heard {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, heard: Heard) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = heard;
    }
}

#[async_trait]
impl Judge for SessionJudge<'_> {
    async fn judge(
        &self,
        prompt: &PromptRef,
        answer: &StepCheckContext<'_>,
    ) -> Result<Option<Verdict>, FlowError> {
        let mut flow = self.flow.lock().await;
        let step = &self.order.at.step;
        let prompt = resolve(&flow, step, prompt, &self.order.variables)?;
        let slot = VerdictSlot::default();
        let order = SessionOrder::new(judge_prompt(&prompt.text, answer))
            .named(format!("{step}-check"))
            .access(SessionAccess::reading())
            .budget(self.order.budget)
            .tool(verdict_tool(&slot));
        let performed = flow.open.run(order).await;
        let mut heard = Heard {
            spent: expense(&performed),
            limited: None,
            budget: None,
        };
        let outcome = outcome(&performed, &self.order.budget, false, Collected::default);
        let judged = match outcome {
            PromptOutcome::Answered(_) => Ok(slot.take()),
            PromptOutcome::Failed { failure } => Err(failure.into()),
            PromptOutcome::RateLimited { resets_at } => {
                heard.limited = Some(Limited { resets_at });
                Ok(None)
            }
            PromptOutcome::BudgetSpent { budget } => {
                heard.budget = Some(budget);
                Err(FlowError::new(
                    FlowErrorKind::BudgetExceeded,
                    format!("the {budget} budget of the flow is spent"),
                ))
            }
            PromptOutcome::Cancelled => Err(interrupted().into()),
        };
        self.hear(heard);
        judged
    }
}
