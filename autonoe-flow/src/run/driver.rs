//! Driver of a flow: performs the actions of its [`FlowMachine`](crate::FlowMachine).

use autonoe_core::SessionOrder;
use autonoe_core::agent::{Activity, BudgetKind, SessionReport, Support};
use autonoe_core::event::{InstructionName, WaitReason};
use autonoe_core::run::Durability;
use autonoe_core::session::SessionWait;

use super::observer::{FlowEvent, emit as notify_observers};
use super::outcome::{expense, failure, outcome};
use super::started::{Started, budget_spent, failed, interrupted, resolve, until};
use super::step_check::check;
use crate::error::FlowErrorKind;
use crate::escalation::{Notice, NoticeFailure, Notifier};
use crate::machine::{
    CompletionOrder, CompletionVerdict, Expense, FlowAction, FlowEnd, FlowFact, FlowFailure,
    FlowWait, NotifyOrder, PromptOrder, PromptOutcome, SessionChoice,
};
use crate::port::{CompletionContext, CompletionResult};
use crate::tools::{IterationSlot, iteration_tools};

/// Runs a flow until it ends or stops.
pub(super) async fn run(flow: &mut Started) -> FlowEnd {
    let mut action = start_or_resume(flow);
    loop {
        if flow.control.is_cancelled() && !matches!(action, FlowAction::Finish(_)) {
            action = cancel(flow);
        }
        let fact = match action {
            FlowAction::Finish(end) => return end,
            FlowAction::Prompt(order) => prompt(flow, order).await,
            FlowAction::Check(order) => check(flow, order).await,
            FlowAction::CheckCompletion(order) => complete(flow, order).await,
            FlowAction::Notify(order) => notify(flow, order).await,
            FlowAction::Wait { reason, until } => wait(flow, reason, until).await,
            FlowAction::Continue | FlowAction::Stop => {
                let message = "the flow cannot continue: its journal does not match its definition";
                failed(flow, FlowFailure::new(FlowErrorKind::Record, message))
            }
        };
        let durability = match fact {
            FlowFact::Prompted { .. } | FlowFact::Notified { .. } => Durability::Synced,
            FlowFact::Started { .. }
            | FlowFact::ConversationLost { .. }
            | FlowFact::Checked { .. }
            | FlowFact::CheckLimited { .. }
            | FlowFact::CompletionChecked { .. }
            | FlowFact::WaitOver { .. }
            | FlowFact::LimitsChanged { .. }
            | FlowFact::Lost { .. }
            | FlowFact::Cancelled { .. }
            | FlowFact::Failed { .. }
            | FlowFact::Resumed { .. } => Durability::Written,
        };
        action = record_fact(flow, fact, durability);
    }
}

/// Starts a flow, or resumes it where it stopped or was interrupted.
fn start_or_resume(flow: &mut Started) -> FlowAction {
    let options = &flow.parts.options;
    let (at, limits) = (options.clock.now(), options.limits);
    let is_stopped = flow.machine.is_stopped();
    let mut action = flow.machine.action();
    match &action {
        FlowAction::Finish(_) if !is_stopped => return action,
        FlowAction::Continue => {}
        _ => {
            if let Some(limits) = limits.filter(|limits| limits != flow.machine.limits()) {
                let fact = FlowFact::LimitsChanged { limits };
                let _ = record_fact(flow, fact, Durability::Written);
            }
        }
    }
    if is_stopped {
        action = record_fact(flow, FlowFact::Resumed { at }, Durability::Written);
    }
    if let FlowAction::Continue = action {
        let limits = limits.unwrap_or_default();
        return record_fact(flow, FlowFact::Started { at, limits }, Durability::Written);
    }
    if is_stopped {
        return action;
    }
    if !flow.machine.is_working() {
        return flow.machine.action();
    }
    // The journal of the sessions may contain more than the facts: a session may have ended, or not
    // started.
    let known = flow.open.spent();
    let mut known = Expense {
        cost: known.cost,
        tokens: known.tokens,
    };
    if flow.open.last_session_was_cut_off() {
        known.cost.add(None);
    }
    let spent = Some(known.saturating_sub(flow.machine.expense()));
    record_fact(flow, FlowFact::Lost { spent }, Durability::Written)
}

/// Stops a flow that was cancelled while no action was in progress.
fn cancel(flow: &mut Started) -> FlowAction {
    let fact = failed(flow, interrupted());
    record_fact(flow, fact, Durability::Written)
}

/// Records a fact in the journal, and then applies it to the machine.
pub(super) fn record_fact(
    flow: &mut Started,
    fact: FlowFact,
    durability: Durability,
) -> FlowAction {
    let recorded = match serde_json::to_value(&fact) {
        Ok(value) => flow
            .open
            .record_fact(value, durability)
            .map_err(|error| failure(&error)),
        Err(error) => Err(FlowFailure::new(FlowErrorKind::Record, error.to_string())),
    };
    let fact = match recorded {
        Ok(()) => fact,
        // A flow cannot be resumed from facts that are not recorded.
        Err(error) => {
            let message = "cannot record the progress of the flow";
            failed(
                flow,
                FlowFailure::new(FlowErrorKind::Record, message).with_cause(error),
            )
        }
    };
    let action = flow.machine.apply(fact.clone());
    let event = FlowEvent::Decided {
        fact: &fact,
        action: &action,
    };
    notify_observers(&flow.parts.options.observers, &event);
    action
}

async fn prompt(flow: &mut Started, order: PromptOrder) -> FlowFact {
    let slot = IterationSlot::default();
    let session = match session_order(flow, &order, &slot) {
        Ok(session) => session,
        Err(mut failure) => {
            failure.iteration = Some(order.iteration);
            failure.step = Some(order.at.step);
            return failed(flow, failure);
        }
    };
    let performed = flow.open.run(session).await;
    let at = flow.parts.options.clock.now();
    let (iteration, spent) = (order.iteration, expense(&performed.result));
    let can_resume = flow.open.capabilities().resume != Support::No;
    let mut outcome = outcome(&performed, &order.budget, order.judged, || slot.take());
    match &mut outcome {
        PromptOutcome::Answered(answer) if !can_resume => answer.agent_session = None,
        PromptOutcome::Failed { failure }
            if can_resume
                && matches!(order.session, SessionChoice::Continue(_))
                && is_conversation_lost(&performed.result) =>
        {
            tracing::warn!(iteration, step = %order.at.step, %failure, "cannot continue the conversation");
            return FlowFact::ConversationLost {
                at,
                iteration,
                failure: failure.clone(),
                spent,
            };
        }
        _ => {}
    }
    FlowFact::Prompted {
        at,
        iteration,
        outcome,
        spent,
    }
}

/// Returns whether a session failed before its backend had resumed the conversation.
fn is_conversation_lost(result: &SessionReport) -> bool {
    result.agent_session.is_none() && result.activity == Activity::None
}

fn session_order(
    flow: &Started,
    order: &PromptOrder,
    slot: &IterationSlot,
) -> Result<SessionOrder, FlowFailure> {
    let step = &order.at.step;
    let work = flow.parts.flow.definition().registry().step(step);
    let reference = work.and_then(|step| step.work()?.prompt.as_ref());
    let reference = reference.ok_or_else(|| {
        FlowFailure::new(
            FlowErrorKind::UnknownStep,
            format!("the step `{step}` has no prompt"),
        )
    })?;
    let prompt = resolve(flow, step, reference, &order.variables)?;
    let choice = match &order.session {
        SessionChoice::Continue(_) if flow.open.capabilities().resume == Support::No => {
            &SessionChoice::Fresh
        }
        choice => choice,
    };
    let event = FlowEvent::PromptSent {
        iteration: order.iteration,
        at: &order.at,
        session: choice,
    };
    notify_observers(&flow.parts.options.observers, &event);
    tracing::debug!(
        iteration = order.iteration,
        %step,
        visit = order.at.visit,
        retry = order.at.retry,
        fresh = *choice == SessionChoice::Fresh,
        "sending a prompt of a flow"
    );
    let mut session = SessionOrder::new(prompt.text)
        .name(step.as_str())
        .access(flow.parts.access.clone())
        .budget(order.budget);
    if let SessionChoice::Continue(conversation) = choice {
        session = session.resume(conversation.clone());
    }
    if let Some(text) = &flow.system_prompt {
        session = session.system_prompt(text);
    }
    if flow.parts.reads_ledger {
        session = session.deliverable_tools(InstructionName::Coding);
    }
    let tools = iteration_tools(&order.outputs, &flow.parts.watched, slot);
    Ok(tools.into_iter().fold(session, SessionOrder::tool))
}

async fn complete(flow: &mut Started, order: CompletionOrder) -> FlowFact {
    let data = flow.machine.data();
    let now = CompletionContext::new(&order.step, flow.machine.progress());
    let Some(now) = now else {
        let message = "the completion was checked before the first iteration";
        let failure = FlowFailure::new(FlowErrorKind::CompletionImpossible, message);
        return failed(flow, failure);
    };
    let now = now.with_text(&order.text).with_data(&data);
    let time = until(flow.parts.options.clock.clone(), flow.machine.deadline());
    let checked = tokio::select! {
        biased;
        () = flow.control.cancelled() => return cancelled(flow),
        checked = flow.parts.completion.check(&now) => checked,
        () = time => return timed_out(flow),
    };
    let verdict = match checked {
        Ok(result) => Ok(CompletionVerdict {
            complete: match result {
                CompletionResult::Complete { reason } if reason.trim().is_empty() => {
                    Some("the condition holds".to_owned())
                }
                CompletionResult::Complete { reason } => Some(reason),
                CompletionResult::Incomplete => None,
            },
            states: flow.parts.completion.condition_states(),
        }),
        Err(error) => Err(FlowFailure::from(error)),
    };
    FlowFact::CompletionChecked {
        at: flow.parts.options.clock.now(),
        verdict,
    }
}

async fn notify(flow: &mut Started, order: NotifyOrder) -> FlowFact {
    let options = &flow.parts.options;
    let notice = Notice {
        run: flow.open.run_id().clone(),
        flow: flow.machine.flow().clone(),
        step: order.step,
        visit: u64::from(order.visit),
        iteration: order.iteration,
        failure: NoticeFailure::new(order.failure.kind, order.failure.message_with_causes()),
        return_flow: order.escalation.return_flow,
        at: order.failed_at,
    };
    let time = until(options.clock.clone(), flow.machine.deadline());
    let notified = tokio::select! {
        biased;
        () = flow.control.cancelled() => return cancelled(flow),
        notified = options.notifiers.notify(&order.escalation, &notice) => notified,
        () = time => return timed_out(flow),
    };
    FlowFact::Notified {
        at: options.clock.now(),
        result: notified.map_err(FlowFailure::from),
    }
}

async fn wait(flow: &mut Started, reason: FlowWait, until: jiff::Timestamp) -> FlowFact {
    let reason = match reason {
        FlowWait::RateLimit => WaitReason::Quota,
        FlowWait::RateLimitBackoff => WaitReason::QuotaBackoff,
        FlowWait::Retry | FlowWait::Completion | FlowWait::Notification => WaitReason::RetryAfter,
    };
    let deadline = flow.machine.deadline();
    let end = deadline.map_or(until, |deadline| deadline.min(until));
    match flow.open.wait(reason, end).await {
        SessionWait::Cancelled => cancelled(flow),
        SessionWait::Over if end < until => timed_out(flow),
        SessionWait::Over => FlowFact::WaitOver {
            // A clock that is slightly early has waited nevertheless.
            at: flow.parts.options.clock.now().max(until),
        },
        SessionWait::TimeBudgetSpent => timed_out(flow),
    }
}

fn cancelled(flow: &Started) -> FlowFact {
    FlowFact::Cancelled {
        at: flow.parts.options.clock.now(),
    }
}

/// Creates the fact that the time budget is exhausted.
fn timed_out(flow: &Started) -> FlowFact {
    failed(flow, budget_spent(BudgetKind::Time))
}
