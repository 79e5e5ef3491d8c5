//! [`Script`]: drives a machine, and records its actions as text.

use std::collections::VecDeque;

use autonoe_core::CostUsd;
use autonoe_core::agent::CostTotal;
use autonoe_core::time::AgentSessionId;
use autonoe_flow::machine::{
    Answer, CheckVerdict, CompletionVerdict, FlowFailure, PromptOutcome, SessionChoice,
    SessionUsage,
};
use autonoe_flow::{
    FlowAction, FlowEnd, FlowErrorKind, FlowFact, FlowLimits, FlowMachine, ParameterValues,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::{agent, definition};

/// The answers of the agent, the checks and the completion, in order. By default everything
/// succeeds.
pub(crate) struct Script {
    pub(crate) machine: FlowMachine,
    pub(crate) limits: FlowLimits,
    pub(crate) prompts: VecDeque<PromptOutcome>,
    pub(crate) checks: VecDeque<Result<bool, FlowErrorKind>>,
    pub(crate) completions: VecDeque<Result<bool, FlowErrorKind>>,
    pub(crate) notifications: VecDeque<FlowErrorKind>,
    /// All facts, in order.
    pub(crate) facts: Vec<FlowFact>,
    /// The actions of the machine, as text.
    pub(crate) actions: Vec<String>,
    pub(crate) now: Timestamp,
    /// The cost of a prompt, in cents.
    pub(crate) price: u64,
}

impl Script {
    /// A flow of these steps that is complete at its end.
    pub(crate) fn with_steps(steps: Value) -> Self {
        Self::new(json!({}), json!({"entryStep": "a", "steps": steps}))
    }

    pub(crate) fn new(agent_fields: Value, registry: Value) -> Self {
        Self::with_parameters(agent_fields, registry, json!({}))
    }

    pub(crate) fn with_parameters(agent_fields: Value, registry: Value, values: Value) -> Self {
        let flow = definition(agent(agent_fields), registry)
            .validated()
            .unwrap_or_else(|report| panic!("{report}"));
        let parameters = &flow.definition().agent().parameters;
        let parameters = ParameterValues::from_json(parameters, &values).expect("parameters");
        Self {
            machine: FlowMachine::new(&flow, &parameters),
            limits: FlowLimits::default(),
            prompts: VecDeque::new(),
            checks: VecDeque::new(),
            completions: VecDeque::new(),
            notifications: VecDeque::new(),
            facts: Vec::new(),
            actions: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
            price: 1,
        }
    }

    pub(crate) fn limits(mut self, limits: FlowLimits) -> Self {
        self.limits = limits;
        self
    }

    pub(crate) fn prompts(mut self, prompts: impl IntoIterator<Item = PromptOutcome>) -> Self {
        self.prompts.extend(prompts);
        self
    }

    pub(crate) fn checks(mut self, checks: impl IntoIterator<Item = bool>) -> Self {
        self.checks.extend(checks.into_iter().map(Ok));
        self
    }

    /// Applies a fact, and records the action.
    pub(crate) fn apply(&mut self, fact: FlowFact) -> FlowAction {
        self.facts.push(fact.clone());
        let action = self.machine.apply(fact);
        let started = Timestamp::UNIX_EPOCH;
        self.actions.push(format_action(&action, started));
        action
    }

    /// Starts the flow.
    pub(crate) fn begin(&mut self) -> FlowAction {
        let (at, limits) = (self.now, self.limits);
        self.apply(FlowFact::Started { at, limits })
    }

    /// Drives the machine to its end.
    pub(crate) fn run(mut self) -> Self {
        let mut action = self.begin();
        while !matches!(action, FlowAction::Finish(_)) {
            assert!(self.actions.len() < 5_000, "it does not end");
            action = self.step(action);
        }
        self
    }

    /// Performs an action, and applies its result.
    pub(crate) fn step(&mut self, action: FlowAction) -> FlowAction {
        let at = self.now;
        let fact = match action {
            FlowAction::Prompt(order) => FlowFact::Prompted {
                at,
                iteration: order.iteration,
                outcome: self
                    .prompts
                    .pop_front()
                    .unwrap_or_else(|| answer_text("fine")),
                spent: SessionUsage {
                    cost: CostTotal::known(CostUsd::from_cents(self.price)),
                    ..SessionUsage::default()
                },
            },
            FlowAction::Check(_) => FlowFact::Checked {
                at,
                verdict: match self.checks.pop_front().unwrap_or(Ok(true)) {
                    Ok(passed) => Ok(CheckVerdict {
                        passed,
                        reason: None,
                    }),
                    Err(kind) => Err(failure(kind)),
                },
                spent: SessionUsage::default(),
            },
            FlowAction::CheckCompletion(order) => FlowFact::CompletionChecked {
                at,
                verdict: match self.completions.pop_front().unwrap_or(Ok(order.at_end)) {
                    Ok(complete) => Ok(CompletionVerdict {
                        complete: complete.then(|| "it is".to_owned()),
                        ..CompletionVerdict::default()
                    }),
                    Err(kind) => Err(failure(kind)),
                },
            },
            FlowAction::Notify(_) => FlowFact::Notified {
                at,
                result: self
                    .notifications
                    .pop_front()
                    .map_or(Ok(()), |kind| Err(failure(kind))),
            },
            FlowAction::Wait { until, .. } => {
                self.now = until;
                FlowFact::WaitOver { at: until }
            }
            other => panic!("nothing to do for {other:?}"),
        };
        self.apply(fact)
    }

    pub(crate) fn end(&self) -> FlowEnd {
        match self.machine.action() {
            FlowAction::Finish(end) => end,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the actions, without completion checks.
    pub(crate) fn steps(&self) -> Vec<&str> {
        let actions = self.actions.iter().map(String::as_str);
        actions.filter(|actions| *actions != "complete?").collect()
    }
}

pub(crate) fn answer_text(text: &str) -> PromptOutcome {
    PromptOutcome::Answered(Answer::text(text))
}

/// An answer in a conversation that can be continued.
pub(crate) fn answer_text_in(session: &str, text: &str) -> PromptOutcome {
    let mut answer = Answer::text(text);
    answer.agent_session = Some(AgentSessionId::new(session));
    PromptOutcome::Answered(answer)
}

/// An answer that sets outputs.
pub(crate) fn sets(outputs: Value) -> PromptOutcome {
    let mut answer = Answer::text("set");
    answer.outputs = outputs.as_object().expect("an object").clone();
    PromptOutcome::Answered(answer)
}

pub(crate) fn breaks(kind: FlowErrorKind) -> PromptOutcome {
    PromptOutcome::Failed {
        failure: failure(kind),
    }
}

pub(crate) fn failure(kind: FlowErrorKind) -> FlowFailure {
    FlowFailure::new(kind, format!("it is {}", kind.code()))
}

fn format_action(action: &FlowAction, started: Timestamp) -> String {
    match action {
        FlowAction::Prompt(order) => {
            let at = &order.at;
            let mut text = format!("prompt {}: {}", order.iteration, at.step);
            if at.visit > 1 {
                text += &format!(" visit {}", at.visit);
            }
            if at.retry > 0 {
                text += &format!(" retry {}", at.retry);
            }
            if let SessionChoice::Continue(id) = &order.session {
                text += &format!(" in {id}");
            }
            text
        }
        FlowAction::Check(order) => format!("check {}", order.at.step),
        FlowAction::CheckCompletion(order) if order.at_end => "complete at end?".to_owned(),
        FlowAction::CheckCompletion(_) => "complete?".to_owned(),
        FlowAction::Notify(order) => {
            format!("notify {} of {}", order.escalation.escalate_to, order.step)
        }
        FlowAction::Wait { until, reason } => {
            let wait: SignedDuration = until.duration_since(started);
            format!("wait for {reason:?} until {} ms", wait.as_millis())
        }
        FlowAction::Finish(FlowEnd::Complete { .. }) => "complete".to_owned(),
        FlowAction::Finish(FlowEnd::Failed { failure }) => {
            format!("failed: {}", failure.kind.code())
        }
        FlowAction::Finish(FlowEnd::Stopped { failure }) => {
            format!("stopped: {}", failure.kind.code())
        }
        FlowAction::Stop => "stop".to_owned(),
        FlowAction::Continue => "continue".to_owned(),
    }
}
