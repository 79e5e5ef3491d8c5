//! [`ScriptState`], the state that scripts share: progress, log, problems.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::event::InstructionName;
use autonoe_core::gate::GateDecision;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{SessionSpec, ToolCall};

use crate::session_script::SessionScript;

/// The input of a scripted session, and the decisions about its calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReceivedSession {
    /// Its number in the run.
    pub number: u32,
    /// The instruction, by name.
    pub instruction: InstructionName,
    /// The prompt.
    pub prompt: String,
    /// The requested model.
    pub model: Option<String>,
    /// The system prompt, if one was set.
    pub system_prompt: Option<String>,
    /// The conversation to resume.
    pub resume: Option<AgentSessionId>,
    /// The names of our tools that the session was offered.
    pub tools: Vec<String>,
    /// Every call that the gate decided about, with the decision.
    pub decisions: Vec<(ToolCall, GateDecision)>,
    /// Messages that were sent to the agent during the session.
    pub steered: Vec<String>,
}

/// The state that scripts share while they are played.
#[derive(Clone, Default)]
pub(crate) struct ScriptState {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) scripts: BTreeMap<u32, ScriptProgress>,
    /// Scripts by the instruction that they are for.
    pub(crate) for_instructions: BTreeMap<InstructionName, VecDeque<SessionScript>>,
    pub(crate) received: Vec<ReceivedSession>,
    pub(crate) problems: Vec<String>,
    /// Whether a session was requested.
    pub(crate) was_used: bool,
    pub(crate) disposed: usize,
    pub(crate) open_clients: usize,
}

/// A script and its progress.
pub(crate) struct ScriptProgress {
    pub(crate) script: SessionScript,
    pub(crate) started: bool,
    pub(crate) steps_done: usize,
}

impl ScriptState {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the script of the session.
    ///
    /// # Errors
    ///
    /// There is no script left for it. The message is recorded as a problem, too.
    pub(crate) fn start_session(&self, spec: &SessionSpec) -> Result<SessionScript, String> {
        let (number, instruction) = (spec.key.number, &spec.instruction);
        let mut guard = self.lock();
        let inner = &mut *guard;
        let of_instruction = inner.for_instructions.get_mut(instruction);
        let refusal = match (of_instruction, inner.scripts.get_mut(&number)) {
            (Some(scripts), _) => {
                // The last one is played repeatedly.
                let next = match scripts.len() {
                    0 | 1 => scripts.front().cloned(),
                    _ => scripts.pop_front(),
                };
                match next {
                    Some(script) => return Ok(script),
                    None => format!("there is no script for the instruction {instruction}"),
                }
            }
            (None, Some(playing)) if !playing.started => {
                playing.started = true;
                return Ok(playing.script.clone());
            }
            (None, Some(playing)) => {
                let name = &playing.script.name;
                format!(
                    "session {number} ({instruction}) has no script left: {name:?} was already \
                     played; create new scripted agents for each run"
                )
            }
            (None, None) => format!("there is no script for session {number} ({instruction})"),
        };
        inner.problems.push(refusal.clone());
        Err(refusal)
    }

    /// Records that a session was requested.
    pub(crate) fn mark_used(&self) {
        self.lock().was_used = true;
    }

    /// Returns whether a session was requested.
    pub(crate) fn was_used(&self) -> bool {
        self.lock().was_used
    }

    pub(crate) fn record_session(&self, received: ReceivedSession) {
        self.lock().received.push(received);
    }

    pub(crate) fn step_done(&self, number: u32) {
        if let Some(playing) = self.lock().scripts.get_mut(&number) {
            playing.steps_done += 1;
        }
    }

    pub(crate) fn record_decision(&self, call: ToolCall, decision: GateDecision) {
        let number = call.session.number;
        let mut inner = self.lock();
        let received = inner
            .received
            .iter_mut()
            .rfind(|received| received.number == number);
        if let Some(received) = received {
            received.decisions.push((call, decision));
        }
    }

    pub(crate) fn record_steering(&self, number: u32, text: &str) {
        let mut inner = self.lock();
        let received = inner
            .received
            .iter_mut()
            .rfind(|received| received.number == number);
        if let Some(received) = received {
            received.steered.push(text.to_owned());
        }
    }

    pub(crate) fn record_problem(&self, problem: String) {
        self.lock().problems.push(problem);
    }

    /// Returns all problems, including sessions and steps that were not played.
    pub(crate) fn problems(&self) -> Vec<String> {
        let inner = self.lock();
        let mut problems = inner.problems.clone();
        for (
            number,
            ScriptProgress {
                script,
                started,
                steps_done,
            },
        ) in &inner.scripts
        {
            let name = &script.name;
            if !started {
                problems.push(format!("session {number} ({name}) never started"));
            } else if let Some(step) = script.steps.get(*steps_done) {
                let at = steps_done + 1;
                problems.push(format!(
                    "session {number} ({name}) never finished step {at}: it {step}"
                ));
            }
        }
        problems
    }
}
