//! A flow as a state machine without I/O.

mod action;
mod asking;
mod context;
mod data;
mod fact;
mod failure;
mod frame;
mod limits;
mod result;
mod settle;
mod told;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use autonoe_core::{Budget, Spent};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::action::{
    CheckOrder, CompletionOrder, FlowAction, FlowEnd, FlowWait, NotifyOrder, PromptOrder,
    SessionChoice, StepTry,
};
pub use self::context::{ContextCarry, IterationSummary, RuntimeContext};
pub use self::data::StepRecord;
pub use self::fact::{Answer, CheckVerdict, CompletionVerdict, Expense, FlowFact, PromptOutcome};
pub use self::failure::FlowFailure;
use self::frame::{Call, Frame, Settled};
pub use self::limits::FlowLimits;
use self::limits::{between, later};
pub use self::result::FlowResult;
use crate::definition::{Check, Escalation, FlowName, StepId, StepsRegistry, WorkStep};
use crate::parameters::ParameterValues;
use crate::progress::{FlowProgress, Watched};
use crate::validate::ValidatedFlow;

/// A flow as a state machine: facts in, actions out.
///
/// It has no clock, does no I/O and draws no random numbers; the same facts
/// give the same actions. It can be serialised at any point and goes on from
/// there: [`action`](Self::action) says what is under way. The journal of a
/// flow is its facts, and a flow that was killed goes on where they end.
///
/// A fact that does not fit (an answer that was not asked for, a wait that
/// nobody waits for, one that is over too early) changes nothing. After
/// `Finish` every fact gives the same `Finish` again, until a flow that has
/// [stopped](FlowEnd::Stopped) is resumed with [`FlowFact::Resumed`].
///
/// ```
/// use autonoe_flow::{
///     Answer, Expense, FlowAction, FlowAgent, FlowDefinition, FlowFact, FlowLimits, FlowMachine,
///     ParameterValues, PromptOutcome, StepsRegistry,
/// };
/// use jiff::Timestamp;
///
/// let agent: FlowAgent = serde_json::from_str(
///     r#"{"version": "1", "name": "hello", "behavior": {"completionType": "stepMachine"}}"#,
/// )?;
/// let registry: StepsRegistry = serde_json::from_str(
///     r#"{"entryStep": "greet", "steps": {
///         "greet": {"prompt": "prompts/greet.md", "transition": {"next": "end"}}
///     }}"#,
/// )?;
/// let flow = FlowDefinition::new(agent, registry)
///     .with_prompt("prompts/greet.md", "Say hello.")
///     .validated()?;
/// let at = Timestamp::UNIX_EPOCH;
/// let mut machine = FlowMachine::new(&flow, &ParameterValues::default());
///
/// let started = FlowFact::Started { at, limits: FlowLimits::default() };
/// let FlowAction::Prompt(order) = machine.apply(started) else {
///     panic!("a flow begins with a prompt");
/// };
/// assert_eq!((order.iteration, order.at.step.as_str()), (1, "greet"));
///
/// let answer = PromptOutcome::Answered(Answer::text("Hello!"));
/// let answered = FlowFact::Prompted { at, iteration: 1, outcome: answer, spent: Expense::default() };
/// assert!(matches!(machine.apply(answered), FlowAction::AskCompletion(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowMachine {
    flow: FlowName,
    registry: StepsRegistry,
    parameters: Map<String, Value>,
    /// The words for which the completion waits.
    keywords: BTreeSet<String>,
    limits: FlowLimits,
    doing: Doing,
    started_at: Option<Timestamp>,
    /// The time of the last fact that had one.
    now: Timestamp,
    frames: Vec<Frame>,
    /// The step that was gone to last, and how often in a row.
    row: Option<(StepId, u32)>,
    last_step: StepId,
    steps: BTreeMap<StepId, StepRecord>,
    context: RuntimeContext,
    progress: FlowProgress,
    /// Whether something was reached since the completion was asked last.
    unasked: bool,
    states: BTreeMap<String, bool>,
    spent: Expense,
    rate_limits_in_a_row: u32,
    cancelled: bool,
}

/// What is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
enum Doing {
    Nothing,
    Prompting,
    Checking,
    Completing(Asked),
    PendingNotification(PendingNotification),
    Waiting {
        reason: FlowWait,
        until: Timestamp,
        /// What follows; `Nothing` is what comes next in the step.
        then: Box<Doing>,
    },
    /// Stopped until it is resumed.
    Stopped {
        failure: FlowFailure,
        /// What was under way; `Nothing` is what comes next in the step.
        then: Box<Doing>,
    },
    Finished(FlowEnd),
}

/// Somebody outside is notified of a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PendingNotification {
    call: Call,
    escalation: Escalation,
    /// How often the notification was sent again.
    retry: u32,
}

/// The completion is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    /// How the flow goes on if it is not complete.
    then: Then,
    /// How often it was asked again after an error.
    retry: u32,
}

/// How the flow goes on if it is not complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Then {
    /// With what of the step comes next.
    GoOn,
    /// With what follows from the end of a try.
    Settle(Settled),
    /// It has come to its end.
    End,
}

impl FlowMachine {
    /// Makes the machine of a flow that has not begun.
    pub fn new(flow: &ValidatedFlow, parameters: &ParameterValues) -> Self {
        let definition = flow.definition();
        let agent = definition.agent();
        let registry = definition.registry().clone();
        let parameters = parameters.iter();
        Self {
            flow: agent.name.clone(),
            last_step: registry.entry_step.clone(),
            registry,
            parameters: parameters
                .map(|(name, value)| (name.to_string(), value.to_json()))
                .collect(),
            keywords: Watched::by(&agent.behavior.completion).keywords,
            limits: FlowLimits::default(),
            doing: Doing::Nothing,
            started_at: None,
            now: Timestamp::UNIX_EPOCH,
            frames: Vec::new(),
            row: None,
            steps: BTreeMap::new(),
            context: RuntimeContext::default(),
            progress: FlowProgress::default(),
            unasked: false,
            states: BTreeMap::new(),
            spent: Expense::default(),
            rate_limits_in_a_row: 0,
            cancelled: false,
        }
    }

    /// Returns what is under way, as the action that began it.
    pub fn action(&self) -> FlowAction {
        match &self.doing {
            Doing::Nothing => FlowAction::Continue,
            Doing::Prompting | Doing::Checking if self.cancelled => FlowAction::Stop,
            Doing::Prompting => self.prompt_order(),
            Doing::Checking => self.check_order(),
            Doing::Completing(asked) => FlowAction::AskCompletion(CompletionOrder {
                iteration: self.context.iteration(),
                step: self.last_step.clone(),
                text: self.previous_response().to_owned(),
                at_end: asked.then == Then::End,
            }),
            Doing::PendingNotification(PendingNotification {
                call, escalation, ..
            }) => FlowAction::Notify(NotifyOrder {
                failed_at: call.at,
                iteration: self.context.iteration(),
                step: call.by.clone(),
                visit: call.visit,
                escalation: escalation.clone(),
                failure: call.failure.clone(),
            }),
            Doing::Waiting { reason, until, .. } => FlowAction::Wait {
                reason: *reason,
                until: *until,
            },
            Doing::Stopped { failure, .. } => FlowAction::Finish(FlowEnd::Stopped {
                failure: failure.clone(),
            }),
            Doing::Finished(end) => FlowAction::Finish(end.clone()),
        }
    }

    /// Returns the name of the flow.
    pub fn flow(&self) -> &FlowName {
        &self.flow
    }

    /// Returns what the flow takes from one iteration to the next.
    pub fn context(&self) -> &RuntimeContext {
        &self.context
    }

    /// Returns what the flow has reached so far.
    pub fn progress(&self) -> &FlowProgress {
        &self.progress
    }

    /// Returns what is known of the steps that were visited.
    pub fn steps(&self) -> &BTreeMap<StepId, StepRecord> {
        &self.steps
    }

    /// Returns the limits that the flow keeps to.
    pub fn limits(&self) -> &FlowLimits {
        &self.limits
    }

    /// Tells whether the flow has stopped and can be resumed.
    pub fn is_stopped(&self) -> bool {
        matches!(self.doing, Doing::Stopped { .. })
    }

    /// Tells whether a prompt or a check is under way, which a process that ends takes with it.
    pub fn is_at_work(&self) -> bool {
        matches!(self.doing, Doing::Prompting | Doing::Checking)
    }

    /// Tells whether a session is under way: that of a prompt, or of a model that judges.
    pub fn has_session_under_way(&self) -> bool {
        match self.doing {
            Doing::Prompting => true,
            Doing::Checking => self
                .top()
                .is_some_and(|(_, work)| matches!(work.check, Some(Check::Prompt(_)))),
            _ => false,
        }
    }

    /// Returns what the sessions of the flow took so far.
    pub(crate) fn expense(&self) -> Expense {
        self.spent
    }

    /// Tells whether the agent has answered. Nothing is complete before.
    fn has_answer(&self) -> bool {
        self.context.carry().previous_response.is_some()
    }

    /// Returns the step that is being run.
    fn top(&self) -> Option<(&Frame, &WorkStep)> {
        let frame = self.frames.last()?;
        let work = self.registry.step(&frame.at.step)?.work()?;
        Some((frame, work))
    }

    fn previous_response(&self) -> &str {
        let text = self.context.carry().previous_response.as_deref();
        text.unwrap_or_default()
    }

    fn spent(&self) -> Spent {
        Spent {
            cost: self.spent.cost,
            tokens: self.spent.tokens,
            time: self.elapsed(self.now),
        }
    }

    fn elapsed(&self, at: Timestamp) -> std::time::Duration {
        let started = self.started_at;
        started.map_or(std::time::Duration::ZERO, |started| between(started, at))
    }

    fn budget_left(&self) -> Budget {
        self.limits.budget.remaining(&self.spent())
    }

    /// Returns when the time of the flow is up.
    pub fn deadline(&self) -> Option<Timestamp> {
        Some(later(self.started_at?, self.limits.budget.time?))
    }
}
