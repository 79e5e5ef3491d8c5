//! [`FlowMachine`]: a flow as a state machine without I/O.

mod action;
mod apply;
mod attempt_outcome;
mod completion;
mod context;
mod fact;
mod failure;
mod transitions;

use std::collections::{BTreeMap, BTreeSet};

use autonoe_core::Budget;
use autonoe_core::agent::BudgetUsage;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::action::{
    CheckOrder, CompletionOrder, FlowAction, FlowEnd, FlowResult, FlowWait, NotifyOrder,
    PromptOrder, SessionChoice, StepAttempt,
};
pub use self::context::{ContextCarry, IterationSummary, RuntimeContext, StepRecord};
pub use self::fact::{
    Answer, CompletionVerdict, FlowFact, FlowLimits, PromptOutcome, SessionUsage,
};
use self::fact::{between, later};
pub use self::failure::FlowFailure;
pub use crate::check::CheckVerdict;
use crate::check::ToolOutcome;
use crate::definition::{
    Check, FlowName, ReturnFlow, StepEscalation, StepId, StepsRegistry, WorkStep,
};
use crate::parameters::ParameterValues;
use crate::progress::FlowProgress;
use crate::prompt::Variables;
use crate::validate::ValidatedFlow;

/// A flow as a state machine: facts in, actions out.
///
/// It has no clock, performs no I/O and uses no random numbers: the same facts produce the same
/// actions. It can be serialized at any point and continued from there; [`action`](Self::action)
/// returns the action in progress. The journal of a flow consists of its facts, and a killed flow
/// resumes where they end.
///
/// A fact that does not fit changes nothing: an answer that was not requested, or the end of a wait
/// that does not exist or is not over. After `Finish`, every fact returns the same `Finish` again,
/// until a [stopped](FlowEnd::Stopped) flow is resumed with [`FlowFact::Resumed`].
///
/// ```
/// use autonoe_flow::definition::{FlowAgent, StepsRegistry};
/// use autonoe_flow::machine::{Answer, SessionUsage, PromptOutcome};
/// use autonoe_flow::{
///     FlowAction, FlowDefinition, FlowFact, FlowLimits, FlowMachine, ParameterValues,
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
/// let spent = SessionUsage::default();
/// let answered = FlowFact::Prompted { at, iteration: 1, outcome: answer, spent };
/// assert!(matches!(machine.apply(answered), FlowAction::CheckCompletion(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowMachine {
    flow: FlowName,
    registry: StepsRegistry,
    parameters: Map<String, Value>,
    /// The keywords of the completion condition.
    keywords: BTreeSet<String>,
    limits: FlowLimits,
    state: MachineState,
    started_at: Option<Timestamp>,
    /// The time of the last fact with a timestamp.
    now: Timestamp,
    frames: Vec<Frame>,
    /// The last visited step, and its number of consecutive visits.
    consecutive_visits: Option<(StepId, u32)>,
    last_step: StepId,
    steps: BTreeMap<StepId, StepRecord>,
    context: RuntimeContext,
    progress: FlowProgress,
    /// Whether there is progress since the last completion check.
    has_new_progress: bool,
    states: BTreeMap<String, bool>,
    spent: SessionUsage,
    rate_limits_in_a_row: u32,
    cancelled: bool,
}

/// The state of the machine: the action in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "doing", rename_all = "snake_case")]
enum MachineState {
    Nothing,
    Prompting,
    Checking,
    Completing(CompletionQuery),
    PendingNotification(PendingNotification),
    Waiting {
        reason: FlowWait,
        until: Timestamp,
        /// The next state; `Nothing` continues the step.
        then: Box<MachineState>,
    },
    /// Stopped until it is resumed.
    Stopped {
        failure: FlowFailure,
        /// The interrupted state; `Nothing` continues the step.
        then: Box<MachineState>,
    },
    Finished(FlowEnd),
}

/// A notification of a failure in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PendingNotification {
    call: EscalationCall,
    escalation: StepEscalation,
    /// The number of retries.
    retry: u32,
}

/// A completion check in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CompletionQuery {
    /// Continuation of a flow that is not complete.
    then: AfterCompletion,
    /// The number of retries after errors.
    retry: u32,
}

/// Continuation of a flow that is not complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AfterCompletion {
    /// Continue the current step.
    ContinueStep,
    /// Handle the outcome of an attempt.
    Settle(AttemptOutcome),
    /// End the flow: its steps have reached their end.
    End,
}

/// A step in progress. The bottom frame is the visited step; each other frame is a sub-step of the
/// frame below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    at: StepAttempt,
    role: FrameRole,
    stage: StepStage,
    /// The variables of the first prompt of this visit. A retry sends the same text.
    variables: Option<Variables>,
    /// Only in the bottom frame: the sub-steps that were started in this visit, by their path of
    /// indices. Starting one of them again does not count as a visit.
    started_parts: BTreeSet<Vec<usize>>,
    /// The answers of this attempt, including sub-steps, separated by blank lines.
    text: String,
    /// The tool calls of this attempt, including sub-steps.
    actions: Vec<ToolOutcome>,
}

/// Reason for running a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FrameRole {
    /// A transition led to it.
    Visit,
    /// It is a sub-step of the step below.
    Part,
    /// It handles the escalation of another step.
    Called(EscalationCall),
}

/// The escalation of a step that has failed for good, and how the flow continues after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct EscalationCall {
    by: StepId,
    visit: u32,
    /// Time of the failure.
    at: Timestamp,
    failure: FlowFailure,
    then: ReturnFlow,
}

/// The next part of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepStage {
    Prompt,
    /// The sub-step with this index.
    Part(usize),
    Check,
}

impl Frame {
    fn new(step: StepId, visit: u32, role: FrameRole) -> Self {
        Self {
            at: StepAttempt {
                step,
                visit,
                retry: 0,
            },
            role,
            stage: StepStage::Prompt,
            variables: None,
            started_parts: BTreeSet::new(),
            text: String::new(),
            actions: Vec::new(),
        }
    }

    /// Returns the index of the sub-step that is next or in progress.
    fn part(&self) -> Option<usize> {
        match self.stage {
            StepStage::Part(number) => Some(number),
            StepStage::Prompt | StepStage::Check => None,
        }
    }

    /// Starts a new attempt of the whole step.
    fn start_retry(&mut self) {
        self.at.retry = self.at.retry.saturating_add(1);
        self.stage = StepStage::Prompt;
        self.text.clear();
        self.actions.clear();
    }

    /// Adds an answer of this step or of one of its sub-steps.
    fn add_answer(&mut self, answer: &Answer) {
        if !self.text.is_empty() && !answer.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(&answer.text);
        self.actions.extend(answer.actions.iter().cloned());
    }
}

/// The outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AttemptOutcome {
    Passed,
    Failed(FlowFailure),
}

impl FlowMachine {
    /// Creates the machine of a flow that has not started.
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
            keywords: agent.behavior.completion.needs().keywords,
            limits: FlowLimits::default(),
            state: MachineState::Nothing,
            started_at: None,
            now: Timestamp::UNIX_EPOCH,
            frames: Vec::new(),
            consecutive_visits: None,
            steps: BTreeMap::new(),
            context: RuntimeContext::default(),
            progress: FlowProgress::default(),
            has_new_progress: false,
            states: BTreeMap::new(),
            spent: SessionUsage::default(),
            rate_limits_in_a_row: 0,
            cancelled: false,
        }
    }

    /// Returns the action in progress.
    pub fn action(&self) -> FlowAction {
        match &self.state {
            MachineState::Nothing => FlowAction::Continue,
            MachineState::Prompting | MachineState::Checking if self.cancelled => FlowAction::Stop,
            MachineState::Prompting => self.prompt_order(),
            MachineState::Checking => self.check_order(),
            MachineState::Completing(query) => FlowAction::CheckCompletion(CompletionOrder {
                iteration: self.context.iteration(),
                step: self.last_step.clone(),
                text: self.previous_response().to_owned(),
                at_end: query.then == AfterCompletion::End,
            }),
            MachineState::PendingNotification(PendingNotification {
                call, escalation, ..
            }) => FlowAction::Notify(NotifyOrder {
                failed_at: call.at,
                iteration: self.context.iteration(),
                step: call.by.clone(),
                visit: call.visit,
                escalation: escalation.clone(),
                failure: call.failure.clone(),
            }),
            MachineState::Waiting { reason, until, .. } => FlowAction::Wait {
                reason: *reason,
                until: *until,
            },
            MachineState::Stopped { failure, .. } => FlowAction::Finish(FlowEnd::Stopped {
                failure: failure.clone(),
            }),
            MachineState::Finished(end) => FlowAction::Finish(end.clone()),
        }
    }

    /// Returns the name of the flow.
    pub fn flow(&self) -> &FlowName {
        &self.flow
    }

    /// Returns the state that the flow carries from one iteration to the next.
    pub fn context(&self) -> &RuntimeContext {
        &self.context
    }

    /// Returns the progress of the flow.
    pub fn progress(&self) -> &FlowProgress {
        &self.progress
    }

    /// Returns the records of the visited steps.
    pub fn steps(&self) -> &BTreeMap<StepId, StepRecord> {
        &self.steps
    }

    /// Returns the limits of the flow.
    pub fn limits(&self) -> &FlowLimits {
        &self.limits
    }

    /// Returns whether the flow has stopped and can be resumed.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, MachineState::Stopped { .. })
    }

    /// Returns whether a prompt or a check is in progress, which is lost when the process ends.
    pub fn is_working(&self) -> bool {
        matches!(self.state, MachineState::Prompting | MachineState::Checking)
    }

    /// Returns whether a session is in progress: that of a prompt, or of a model that judges.
    pub fn has_active_session(&self) -> bool {
        match self.state {
            MachineState::Prompting => true,
            MachineState::Checking => self
                .top()
                .is_some_and(|(_, work)| matches!(work.check, Some(Check::Prompt(_)))),
            _ => false,
        }
    }

    /// Returns cost and tokens of all sessions of the flow so far.
    pub(crate) fn session_usage(&self) -> SessionUsage {
        self.spent
    }

    /// Returns whether the agent has answered. The flow cannot be complete before.
    fn has_answer(&self) -> bool {
        self.context.carry().previous_response.is_some()
    }

    /// Returns the current step.
    fn top(&self) -> Option<(&Frame, &WorkStep)> {
        let frame = self.frames.last()?;
        let work = self.registry.work(&frame.at.step)?;
        Some((frame, work))
    }

    fn previous_response(&self) -> &str {
        let text = self.context.carry().previous_response.as_deref();
        text.unwrap_or_default()
    }

    fn spent(&self) -> BudgetUsage {
        BudgetUsage {
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

    /// Returns the deadline of the flow, if it has one.
    pub fn deadline(&self) -> Option<Timestamp> {
        Some(later(self.started_at?, self.limits.budget.time?))
    }
}

impl FlowMachine {
    fn prompt_order(&self) -> FlowAction {
        let Some((frame, work)) = self.top() else {
            return FlowAction::Continue;
        };
        FlowAction::Prompt(PromptOrder {
            iteration: self.context.iteration() + 1,
            at: frame.at.clone(),
            session: match self.context.session_id() {
                Some(id) => SessionChoice::Continue(id.clone()),
                None => SessionChoice::Fresh,
            },
            variables: frame.variables.clone().unwrap_or_default(),
            outputs: work.outputs.clone(),
            judged: self.is_judged(),
            budget: self.budget_left(),
        })
    }

    /// Returns the variables of the first prompt of a visit.
    fn prompt_variables(&self, frame: &Frame, work: &WorkStep) -> Variables {
        let mut context = self.context_of(&frame.at, self.context.iteration() + 1);
        // A retry sends the same text, so the text must not depend on the number of the retry.
        context.remove("retry");
        self.variables(work, &context)
    }

    /// Returns whether a model judges the current step or an enclosing one.
    fn is_judged(&self) -> bool {
        let frames = self.frames.iter();
        let mut works = frames.filter_map(|frame| self.registry.work(&frame.at.step));
        works.any(|work| matches!(work.check, Some(Check::Prompt(_))))
    }

    fn check_order(&self) -> FlowAction {
        let Some((frame, work)) = self.top() else {
            return FlowAction::Continue;
        };
        let iteration = self.context.iteration();
        let mut context = self.context_of(&frame.at, iteration);
        context.insert("response".to_owned(), frame.text.as_str().into());
        FlowAction::Check(CheckOrder {
            iteration,
            at: frame.at.clone(),
            text: frame.text.clone(),
            actions: frame.actions.clone(),
            variables: self.variables(work, &context),
            budget: self.budget_left(),
        })
    }
}
