//! Checks steps. Prompt checks run in a session of their own.

use autonoe_core::agent::BudgetKind;
use autonoe_core::session::{JudgeQuestion, SessionJudge};

use super::outcome::{expense, session_outcome};
use super::started::{Started, budget_spent, failed, interrupted, resolve, until};
use crate::check::{StepCheckContext, StepChecked, StepChecker};
use crate::definition::Check;
use crate::error::FlowErrorKind;
use crate::machine::{
    Answer, CheckOrder, CheckVerdict, Expense, FlowFact, FlowFailure, PromptOutcome,
};

/// Checks a step.
pub(super) async fn check(flow: &mut Started, order: CheckOrder) -> FlowFact {
    let registry = flow.parts.flow.definition().registry();
    let step = &order.at.step;
    let work = registry.step(step).and_then(|step| step.work());
    let Some(check) = work.and_then(|work| work.check.clone()) else {
        let message = format!("the step `{step}` has no check");
        let failure = FlowFailure::new(FlowErrorKind::UnknownStep, message);
        return failed(flow, failure);
    };
    let commands = flow.parts.options.commands.clone();
    let clock = flow.parts.options.clock.clone();
    let control = flow.control.clone();
    let time = until(clock.clone(), flow.machine.deadline());
    let prompt = match &check {
        Check::Prompt(check) => match resolve(flow, step, &check.prompt, &order.variables) {
            Ok(prompt) => Some(prompt),
            Err(failure) => {
                return FlowFact::Checked {
                    at: clock.now(),
                    verdict: Err(failure),
                    spent: Expense::default(),
                };
            }
        },
        Check::Keyword(_) | Check::Action(_) => None,
    };
    let name = format!("{step}-check");
    let mut answer = StepCheckContext::new(&order.text).with_actions(&order.actions);
    answer.question = prompt.as_ref().map(|prompt| JudgeQuestion {
        name: &name,
        prompt: &prompt.text,
        model: None,
        budget: order.budget,
    });
    let judge = SessionJudge::new(&mut flow.open);
    let checker = StepChecker::new(&judge, commands.as_ref());
    // A session ends by itself when the flow is cancelled, and is disposed of then.
    let is_session = prompt.is_some();
    let checked: StepChecked = tokio::select! {
        biased;
        () = control.cancelled(), if !is_session => Err(interrupted().into()).into(),
        checked = checker.check(&check, &answer) => checked,
        // A session also ends by itself when its time is up.
        () = time, if !is_session => return FlowFact::Failed {
            at: clock.now(),
            failure: budget_spent(BudgetKind::Time),
        },
    };
    let at = clock.now();
    let spent = checked.session.as_ref().map(expense).unwrap_or_default();
    let outcome = checked
        .session
        .map(|session| session_outcome(&session, &order.budget, || Answer::text("")));
    let verdict = match outcome {
        None | Some(PromptOutcome::Answered(_)) => match checked.result {
            Ok(result) => Ok(CheckVerdict {
                passed: result.passed,
                reason: result.reason,
            }),
            Err(error) => Err(error.into()),
        },
        Some(PromptOutcome::RateLimited { resets_at }) => {
            return FlowFact::CheckLimited {
                at,
                resets_at,
                spent,
            };
        }
        Some(PromptOutcome::BudgetSpent { budget }) => Err(budget_spent(budget)),
        Some(PromptOutcome::Failed { failure }) => Err(failure),
        Some(PromptOutcome::Cancelled) => Err(interrupted()),
    };
    FlowFact::Checked { at, verdict, spent }
}
