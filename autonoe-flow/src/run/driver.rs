//! Driver of a flow: performs the actions of its [`FlowMachine`](crate::FlowMachine).

use std::sync::Arc;

use autonoe_core::agent::{Activity, BudgetKind, SessionReport, Support};
use autonoe_core::event::{InstructionName, WaitReason};
use autonoe_core::run::Durability;
use autonoe_core::session::{JudgeQuestion, SessionJudge, SessionWait};
use autonoe_core::time::Clock;
use autonoe_core::{RunControl, SessionOrder};
use jiff::Timestamp;

use super::flow::Started;
use super::observer::FlowEvent;
use super::outcome::{failure, outcome, session_outcome};
use crate::check::{StepChecked, StepResponse, check_step};
use crate::completion::{CompletionContext, CompletionResult};
use crate::definition::Check;
use crate::error::FlowErrorKind;
use crate::escalation::{Notice, NoticeFailure, Notifier};
use crate::machine::{
    Answer, CheckOrder, CompletionOrder, CompletionVerdict, FlowAction, FlowEnd, FlowFact,
    FlowFailure, FlowWait, NotifyOrder, PromptOrder, PromptOutcome, SessionChoice, SessionUsage,
};
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
            FlowAction::CheckCompletion(order) => check_completion(flow, order).await,
            FlowAction::Notify(order) => notify(flow, order).await,
            FlowAction::Wait { reason, until } => wait(flow, reason, until).await,
            FlowAction::Continue | FlowAction::Stop => {
                let message = "the flow cannot continue: its journal does not match its definition";
                flow.failed(FlowFailure::new(FlowErrorKind::Record, message))
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
    let mut known = SessionUsage {
        cost: known.cost,
        tokens: known.tokens,
    };
    if flow.open.last_session_was_cut_off() {
        known.cost.add(None);
    }
    let spent = Some(known.saturating_sub(flow.machine.session_usage()));
    record_fact(flow, FlowFact::Lost { spent }, Durability::Written)
}

/// Stops a flow that was cancelled while no action was in progress.
fn cancel(flow: &mut Started) -> FlowAction {
    let fact = flow.failed(FlowFailure::cancelled());
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
            flow.failed(FlowFailure::new(FlowErrorKind::Record, message).with_cause(error))
        }
    };
    let action = flow.machine.apply(fact.clone());
    flow.emit(&FlowEvent::Decided {
        fact: &fact,
        action: &action,
    });
    action
}

async fn prompt(flow: &mut Started, order: PromptOrder) -> FlowFact {
    let slot = IterationSlot::default();
    let session = match session_order(flow, &order, &slot) {
        Ok(session) => session,
        Err(mut failure) => {
            failure.iteration = Some(order.iteration);
            failure.step = Some(order.at.step);
            return flow.failed(failure);
        }
    };
    let performed = flow.open.run(session).await;
    let at = flow.parts.options.clock.now();
    let (iteration, spent) = (order.iteration, SessionUsage::from(&performed.result));
    let can_resume = flow.open.capabilities().resume != Support::No;
    let mut outcome = outcome(&performed, &order.budget, order.judged, &slot);
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
    let work = flow.parts.flow.definition().registry().work(step);
    let reference = work.and_then(|work| work.prompt.as_ref());
    let reference = reference.ok_or_else(|| {
        let message = format!("the step `{step}` has no prompt");
        FlowFailure::new(FlowErrorKind::UnknownStep, message)
    })?;
    let prompt = flow.resolve(step, reference, &order.variables)?;
    let choice = match &order.session {
        SessionChoice::Continue(_) if flow.open.capabilities().resume == Support::No => {
            &SessionChoice::Fresh
        }
        choice => choice,
    };
    flow.emit(&FlowEvent::PromptSent {
        iteration: order.iteration,
        at: &order.at,
        session: choice,
    });
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
    if flow.parts.needs.reads_ledger {
        session = session.deliverable_tools(InstructionName::Coding);
    }
    let tools = iteration_tools(&order.outputs, &flow.parts.needs.signals, slot);
    Ok(tools.into_iter().fold(session, SessionOrder::tool))
}

/// Checks a step. Prompt checks run in a session of their own.
async fn check(flow: &mut Started, order: CheckOrder) -> FlowFact {
    let step = &order.at.step;
    let work = flow.parts.flow.definition().registry().work(step);
    let Some(check) = work.and_then(|work| work.check.clone()) else {
        let message = format!("the step `{step}` has no check");
        return flow.failed(FlowFailure::new(FlowErrorKind::UnknownStep, message));
    };
    let commands = flow.parts.options.commands.clone();
    let clock = flow.parts.options.clock.clone();
    let prompt = match &check {
        Check::Prompt(check) => match flow.resolve(step, &check.prompt, &order.variables) {
            Ok(prompt) => Some(prompt.text),
            Err(failure) => {
                return FlowFact::Checked {
                    at: clock.now(),
                    verdict: Err(failure),
                    spent: SessionUsage::default(),
                };
            }
        },
        Check::Keyword(_) | Check::Action(_) => None,
    };
    let response = StepResponse {
        text: &order.text,
        actions: &order.actions,
    };
    let checked = if let Some(prompt) = prompt {
        let name = format!("{step}-check");
        let question = JudgeQuestion {
            name: &name,
            prompt: &prompt,
            model: None,
            budget: order.budget,
        };
        // The session ends by itself when the flow is cancelled or its time is up.
        let judge = SessionJudge::new(&mut flow.open);
        check_step(&check, &response, &*commands, Some((&judge, question))).await
    } else {
        let checking = check_step(&check, &response, &*commands, None);
        match Interruption::new(flow).race(checking).await {
            Ok(checked) => checked,
            Err(failure) if failure.kind == FlowErrorKind::Interrupted => StepChecked {
                result: Err(failure.into()),
                session: None,
            },
            Err(failure) => return flow.failed(failure),
        }
    };
    let at = clock.now();
    let spent = checked
        .session
        .as_ref()
        .map(SessionUsage::from)
        .unwrap_or_default();
    let outcome = checked
        .session
        .map(|session| session_outcome(&session, &order.budget, Answer::default));
    let verdict = match outcome {
        None | Some(PromptOutcome::Answered(_)) => checked.result.map_err(FlowFailure::from),
        Some(PromptOutcome::RateLimited { resets_at }) => {
            return FlowFact::CheckLimited {
                at,
                resets_at,
                spent,
            };
        }
        Some(PromptOutcome::BudgetSpent { budget }) => Err(FlowFailure::budget_spent(budget)),
        Some(PromptOutcome::Failed { failure }) => Err(failure),
        Some(PromptOutcome::Cancelled) => Err(FlowFailure::cancelled()),
    };
    FlowFact::Checked { at, verdict, spent }
}

/// Checks whether the flow is complete.
async fn check_completion(flow: &mut Started, order: CompletionOrder) -> FlowFact {
    let data = flow.machine.data();
    let Some(mut now) = CompletionContext::new(&order.step, flow.machine.progress()) else {
        let message = "the completion was checked before the first iteration";
        let failure = FlowFailure::new(FlowErrorKind::CompletionImpossible, message);
        return flow.failed(failure);
    };
    (now.text, now.data) = (&order.text, &data);
    let limits = Interruption::new(flow);
    let checked = match limits.race(flow.parts.completion.check(&now)).await {
        Ok(checked) => checked,
        Err(failure) => return interrupted(flow, failure),
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
        Err(error) => Err(error.into()),
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
    let notifying = options.notifiers.notify(&order.escalation, &notice);
    let notified = match Interruption::new(flow).race(notifying).await {
        Ok(notified) => notified,
        Err(failure) => return interrupted(flow, failure),
    };
    FlowFact::Notified {
        at: options.clock.now(),
        result: notified.map_err(FlowFailure::from),
    }
}

async fn wait(flow: &mut Started, reason: FlowWait, until: Timestamp) -> FlowFact {
    let reason = match reason {
        FlowWait::RateLimit => WaitReason::Quota,
        FlowWait::RateLimitBackoff => WaitReason::QuotaBackoff,
        FlowWait::Retry | FlowWait::Completion | FlowWait::Notification => WaitReason::RetryAfter,
    };
    let deadline = flow.machine.deadline();
    let end = deadline.map_or(until, |deadline| deadline.min(until));
    match flow.open.wait(reason, end).await {
        SessionWait::Over if end == until => FlowFact::WaitOver {
            // A clock that is slightly early has waited nevertheless.
            at: flow.parts.options.clock.now().max(until),
        },
        SessionWait::Over | SessionWait::TimeBudgetSpent => {
            flow.failed(FlowFailure::budget_spent(BudgetKind::Time))
        }
        SessionWait::Cancelled => interrupted(flow, FlowFailure::cancelled()),
    }
}

/// Creates the fact that an action other than a session was interrupted.
fn interrupted(flow: &Started, failure: FlowFailure) -> FlowFact {
    match failure.kind {
        FlowErrorKind::Interrupted => FlowFact::Cancelled {
            at: flow.parts.options.clock.now(),
        },
        _ => flow.failed(failure),
    }
}

/// Causes that end an action: the cancellation and the deadline of a flow.
struct Interruption {
    control: RunControl,
    clock: Arc<dyn Clock>,
    deadline: Option<Timestamp>,
}

impl Interruption {
    fn new(flow: &Started) -> Self {
        Self {
            control: flow.control.clone(),
            clock: flow.parts.options.clock.clone(),
            deadline: flow.machine.deadline(),
        }
    }

    /// Performs `work`, or returns why it was interrupted.
    async fn race<T>(self, work: impl Future<Output = T>) -> Result<T, FlowFailure> {
        let deadline = async {
            match self.deadline {
                Some(deadline) => {
                    let left = deadline.duration_since(self.clock.now());
                    self.clock.sleep(left.try_into().unwrap_or_default()).await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.control.cancelled() => Err(FlowFailure::cancelled()),
            done = work => Ok(done),
            () = deadline => Err(FlowFailure::budget_spent(BudgetKind::Time)),
        }
    }
}
