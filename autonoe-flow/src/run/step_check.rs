//! Checks steps. Prompt checks run in a session of their own.

use std::sync::{Mutex as Slot, PoisonError};

use async_trait::async_trait;
use autonoe_core::SessionOrder;
use autonoe_core::agent::BudgetKind;
use autonoe_core::run::SessionAccess;
use jiff::Timestamp;
use tokio::sync::Mutex;

use super::outcome::{expense, outcome};
use super::started::{Started, budget_spent, failed, interrupted, resolve, until};
use crate::check::{JudgeVerdict, StepCheckContext, StepChecker, StepJudge, judge_prompt};
use crate::definition::PromptRef;
use crate::error::{FlowError, FlowErrorKind};
use crate::machine::{CheckOrder, CheckVerdict, Expense, FlowFact, FlowFailure, PromptOutcome};
use crate::tools::{IterationReport, VerdictSlot, verdict_tool};

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
        report: Slot::default(),
    };
    let checker = StepChecker::new(&judge, commands.as_ref());
    // A session ends by itself when the flow is cancelled, and is disposed of then.
    let is_session = matches!(check, crate::definition::Check::Prompt(_));
    let checked = tokio::select! {
        biased;
        () = control.cancelled(), if !is_session => Err(interrupted().into()),
        checked = checker.check(&check, &answer) => checked,
        // A session also ends by itself when its time is up.
        () = time, if !is_session => return FlowFact::Failed {
            at: clock.now(),
            failure: budget_spent(BudgetKind::Time),
        },
    };
    let report = judge.report();
    let at = clock.now();
    if let Some(Limited { resets_at }) = report.limited {
        return FlowFact::CheckLimited {
            at,
            resets_at,
            spent: report.spent,
        };
    }
    let verdict = match checked {
        Ok(result) => Ok(CheckVerdict {
            passed: result.passed,
            reason: result.reason,
        }),
        Err(error) => {
            let mut failure = FlowFailure::from(error);
            failure.budget = report.budget;
            Err(failure)
        }
    };
    FlowFact::Checked {
        at,
        verdict,
        spent: report.spent,
    }
}

/// The report of a judge's session, beside its verdict.
#[derive(Clone, Copy, Default)]
struct JudgeReport {
    spent: Expense,
    limited: Option<Limited>,
    /// The exhausted part of the budget.
    budget: Option<BudgetKind>,
}

/// The service of the judge reported a rate limit.
#[derive(Clone, Copy)]
struct Limited {
    resets_at: Option<Timestamp>,
}

/// Lets a model judge in its own read-only session.
struct SessionJudge<'a> {
    flow: Mutex<&'a mut Started>,
    order: &'a CheckOrder,
    report: Slot<JudgeReport>,
}

impl SessionJudge<'_> {
    fn report(&self) -> JudgeReport {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_report(&self, report: JudgeReport) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }
}

#[async_trait]
impl StepJudge for SessionJudge<'_> {
    async fn judge(
        &self,
        prompt: &PromptRef,
        answer: &StepCheckContext<'_>,
    ) -> Result<Option<JudgeVerdict>, FlowError> {
        let mut flow = self.flow.lock().await;
        let step = &self.order.at.step;
        let prompt = resolve(&flow, step, prompt, &self.order.variables)?;
        let slot = VerdictSlot::default();
        let order = SessionOrder::new(judge_prompt(&prompt.text, answer))
            .name(format!("{step}-check"))
            .access(SessionAccess::read_only())
            .budget(self.order.budget)
            .tool(verdict_tool(&slot));
        let performed = flow.open.run(order).await;
        let mut report = JudgeReport {
            spent: expense(&performed),
            limited: None,
            budget: None,
        };
        let outcome = outcome(
            &performed,
            &self.order.budget,
            false,
            IterationReport::default,
        );
        let judged = match outcome {
            PromptOutcome::Answered(_) => Ok(slot.take()),
            PromptOutcome::Failed { failure } => Err(failure.into()),
            PromptOutcome::RateLimited { resets_at } => {
                report.limited = Some(Limited { resets_at });
                Ok(None)
            }
            PromptOutcome::BudgetSpent { budget } => {
                report.budget = Some(budget);
                Err(FlowError::new(
                    FlowErrorKind::BudgetExceeded,
                    format!("the {budget} budget of the flow is spent"),
                ))
            }
            PromptOutcome::Cancelled => Err(interrupted().into()),
        };
        self.set_report(report);
        judged
    }
}
