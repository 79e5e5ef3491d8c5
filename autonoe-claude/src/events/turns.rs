//! [`Turns`] of a session and their open tool calls, which determine whether the session is over.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::Tasks;
use crate::outcome::{
    ApiFailure, Evidence, Exit, HostAction, RejectedQuota, RetriedCall, TurnResult,
};
use crate::wire::Message;

/// Tracks the turns of a session, its tasks, and the evidence for its outcome.
///
/// A result ends a turn, not the session: when a background task ends, the program starts a turn of
/// its own to inform the agent. It reports `idle` after the last of them, if
/// `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1` is in its environment; then no guess is needed.
///
/// A failed turn ends the session even if tasks are running. Otherwise the program would start
/// another turn when a task ends, with a fresh limit of turns, although a limit was reached.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    open: bool,
    has_started: bool,
    states: States,
    /// A background task is finished, and the agent was not informed yet.
    is_turn_expected: bool,
    tasks: Tasks,
    host: HostAction,
    result: Option<TurnResult>,
    rejected: Option<RejectedQuota>,
    api_failure: Option<ApiFailure>,
    retrying: Option<RetriedCall>,
}

/// The last state that the program reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum States {
    /// None: the reports are not enabled.
    #[default]
    Unreported,
    Running,
    Idle,
}

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionPhase {
    /// A turn is running, or was requested.
    Working,
    /// No turn is running, but tasks are. When one ends, a turn follows.
    ///
    /// A task may never end, such as a server. A host that does not want to wait calls
    /// `stopped`; then the session counts as completed.
    Waiting,
    /// The program is expected to start a turn at once, but might not.
    ///
    /// If none has started after 5 seconds, the session is over.
    Settling,
    /// The session is over.
    Over,
}

impl Turns {
    /// Resets the state: the host has sent a prompt, so a turn follows.
    pub(super) fn start_query(&mut self) {
        *self = Self {
            open: true,
            has_started: self.has_started,
            states: self.states,
            tasks: std::mem::take(&mut self.tasks),
            ..Self::default()
        };
    }

    /// Records that the host has stopped the session, or is about to.
    pub(super) fn record_stop(&mut self, action: HostAction) {
        self.host = action;
    }

    /// Returns the state of the session.
    pub fn phase(&self) -> SessionPhase {
        let result = match &self.result {
            Some(result) if !self.open => result,
            _ => return SessionPhase::Working,
        };
        if self.host != HostAction::Nothing || !result.succeeded() {
            return SessionPhase::Over;
        }
        if !self.tasks.is_empty() {
            return SessionPhase::Waiting;
        }
        match self.states {
            States::Running => SessionPhase::Settling,
            States::Unreported | States::Idle if self.is_turn_expected => SessionPhase::Settling,
            States::Unreported | States::Idle => SessionPhase::Over,
        }
    }

    /// Returns the running tasks.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Returns the failed model call that the program is retrying, if nothing followed it.
    pub fn retrying(&self) -> Option<RetriedCall> {
        self.retrying
    }

    /// Returns the evidence for the outcome, including the end of the process.
    ///
    /// The result of an earlier turn does not apply to a turn without a result.
    pub fn evidence(&self, exit: Option<Exit>, stderr: &str, now: Timestamp) -> Evidence {
        Evidence {
            result: if self.open { None } else { self.result.clone() },
            rejected: self.rejected.clone(),
            reported_failure: self.api_failure,
            retrying: self.retrying,
            has_started: self.has_started,
            live_tasks: self.tasks.len(),
            exit,
            stderr: stderr.to_owned(),
            host: self.host,
            ..Evidence::new(now)
        }
    }

    /// Observes `message`. The calls determine whether a task ran in the foreground.
    pub(super) fn observe(&mut self, message: &Message<'_>, calls: &OpenCalls) {
        match message {
            Message::Init(_) => self.begin(),
            Message::Assistant(assistant) => {
                // Output of a sub-agent may arrive between two turns.
                if assistant.parent_tool_use_id.is_none() {
                    self.open = true;
                    self.retrying = None;
                }
                if let Some(error) = assistant.error.as_deref() {
                    self.api_failure = Some(ApiFailure::from_name(error));
                }
            }
            Message::Result(result) => {
                self.open = false;
                self.result = Some(TurnResult::from(&**result));
            }
            Message::RateLimit(event) => self.rejected = RejectedQuota::from_event(event),
            Message::ApiRetry(retry) => self.retrying = Some(RetriedCall::from(retry)),
            Message::SessionState(state) => match state.state.as_deref() {
                Some("idle") => {
                    self.states = States::Idle;
                    self.open = false;
                    self.is_turn_expected = false;
                }
                _ => {
                    self.states = States::Running;
                    self.open = true;
                    self.is_turn_expected = false;
                }
            },
            Message::TaskStarted(task) => self.tasks.start(task),
            Message::TaskUpdated(update) if update.is_end() => {
                self.task_ended(update.task_id.as_deref(), calls);
            }
            Message::TaskNotification(task) => self.task_ended(task.task_id.as_deref(), calls),
            Message::BackgroundTasks(list) => {
                for task in self.tasks.list(list) {
                    self.expect_turn(task.call.as_deref(), calls);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self) {
        self.open = true;
        self.has_started = true;
        self.is_turn_expected = false;
        self.rejected = None;
        self.api_failure = None;
        self.retrying = None;
        if self.states == States::Idle {
            self.states = States::Running;
        }
    }

    fn task_ended(&mut self, id: Option<&str>, calls: &OpenCalls) {
        if let Some(task) = self.tasks.end(id) {
            self.expect_turn(task.call.as_deref(), calls);
        }
    }

    /// Records that a turn must follow for a finished task.
    ///
    /// A task whose call is still open needs none: its end is the result of the call.
    fn expect_turn(&mut self, call: Option<&str>, calls: &OpenCalls) {
        self.is_turn_expected |= !call.is_some_and(|call| calls.is_open(call));
    }
}

/// Tool calls without a result, and which of them were denied.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: HashMap<String, u64>,
    call_count: u64,
    denied: HashSet<String>,
}

impl OpenCalls {
    /// Records a call; `false` if it is open already.
    pub(super) fn record_call(&mut self, id: &str) -> bool {
        if self.open.contains_key(id) {
            return false;
        }
        self.call_count += 1;
        self.open.insert(id.to_owned(), self.call_count);
        true
    }

    /// Records that a call was denied.
    pub(super) fn record_denial(&mut self, id: &str) {
        self.denied.insert(id.to_owned());
    }

    /// Records the result of a call; `None` if no such call is open.
    pub(super) fn record_result(&mut self, id: &str) -> Option<WasDenied> {
        self.open.remove(id)?;
        Some(if self.denied.remove(id) {
            WasDenied::Yes
        } else {
            WasDenied::No
        })
    }

    /// Returns whether the call has no result yet.
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Removes and returns the calls without a result, in the order in which they were made.
    pub(super) fn take_open(&mut self) -> Vec<String> {
        let mut open: Vec<(String, u64)> = self.open.drain().collect();
        open.sort_by_key(|(_, call_count)| *call_count);
        self.denied.clear();
        open.into_iter().map(|(id, _)| id).collect()
    }
}

/// Whether a call was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WasDenied {
    Yes,
    No,
}
