//! Whether a session is over.

use std::time::Duration;

use jiff::Timestamp;

use super::Tasks;
use super::calls::Calls;
use crate::outcome::{
    ApiFailure, Evidence, Exit, HostAction, RejectedQuota, RetriedCall, TurnResult,
};
use crate::wire::Message;

/// Follows the turns of a session, its tasks, and what is known for its end.
///
/// A result ends a turn, not the session: when a task in the background ends,
/// the program starts a turn of its own to tell the agent. It says `idle` after
/// the last of them, if `CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1` is in its
/// environment; then nothing is guessed.
///
/// A turn that failed ends the session whatever lives. The program would go on
/// with another turn when a task ends, with all the turns again that it was
/// allowed, after a limit was reached.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    open: bool,
    begun: bool,
    states: States,
    /// A task in the background is over, and the agent was not told yet.
    owed: bool,
    tasks: Tasks,
    host: HostAction,
    result: Option<TurnResult>,
    rejected: Option<RejectedQuota>,
    blamed: Option<ApiFailure>,
    retrying: Option<RetriedCall>,
}

/// What the program last said about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum States {
    /// Nothing: it was not told to.
    #[default]
    Untold,
    Running,
    Idle,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// A turn is under way, or was asked for.
    Working,
    /// No turn is under way, but tasks live. When one ends, a turn follows.
    ///
    /// A task may be one that never ends, such as a server. A host that does not
    /// want to wait says that it [stopped](super::Translator::stopped) the
    /// session, which then counts as completed.
    Waiting,
    /// A turn is expected to follow at once, unasked, but need not.
    ///
    /// If none has begun [in time](Turns::SETTLING), the session is over.
    Settling,
    /// The session is over.
    Over,
}

impl Turns {
    /// How long to wait for a turn that is expected but need not come. It takes
    /// some 50 ms on an idle machine.
    pub const SETTLING: Duration = Duration::from_secs(5);

    /// The host has sent a prompt: a turn is owed, and what was before is forgotten.
    pub(super) fn prompted(&mut self) {
        *self = Self {
            open: true,
            begun: self.begun,
            states: self.states,
            tasks: std::mem::take(&mut self.tasks),
            ..Self::default()
        };
    }

    /// The host has stopped the session, or is about to.
    pub(super) fn stopped(&mut self, action: HostAction) {
        self.host = action;
    }

    /// Returns how far the session is.
    pub fn standing(&self) -> Standing {
        let result = match &self.result {
            Some(result) if !self.open => result,
            _ => return Standing::Working,
        };
        if self.host != HostAction::Nothing || !result.succeeded() {
            return Standing::Over;
        }
        if !self.tasks.is_empty() {
            return Standing::Waiting;
        }
        match self.states {
            States::Running => Standing::Settling,
            States::Untold | States::Idle if self.owed => Standing::Settling,
            States::Untold | States::Idle => Standing::Over,
        }
    }

    /// Returns the tasks that live.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Returns the failed model call that the program is retrying, if nothing followed it.
    pub fn retrying(&self) -> Option<RetriedCall> {
        self.retrying
    }

    /// Returns what is known, with how the process ended.
    ///
    /// The result of an earlier turn says nothing about one that has none.
    pub fn evidence(&self, exit: Option<Exit>, stderr: &str, now: Timestamp) -> Evidence {
        Evidence {
            result: if self.open { None } else { self.result.clone() },
            rejected: self.rejected.clone(),
            blamed: self.blamed,
            retrying: self.retrying,
            begun: self.begun,
            live_tasks: self.tasks.len(),
            exit,
            stderr: stderr.to_owned(),
            host: self.host,
            ..Evidence::new(now)
        }
    }

    /// Takes note of `message`. The calls tell whether a task was waited for.
    pub(super) fn observe(&mut self, message: &Message<'_>, calls: &Calls) {
        match message {
            Message::Init(_) => self.begin(),
            Message::Assistant(said) => {
                // What a sub-agent says may come between two turns.
                if said.parent_tool_use_id.is_none() {
                    self.open = true;
                    self.retrying = None;
                }
                if let Some(error) = said.error.as_deref() {
                    self.blamed = Some(ApiFailure::from_name(error));
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
                    self.owed = false;
                }
                _ => {
                    self.states = States::Running;
                    self.open = true;
                    self.owed = false;
                }
            },
            Message::TaskStarted(task) => self.tasks.start(task),
            Message::TaskUpdated(update) if update.is_end() => {
                self.task_ended(update.task_id.as_deref(), calls);
            }
            Message::TaskNotification(task) => self.task_ended(task.task_id.as_deref(), calls),
            Message::BackgroundTasks(list) => {
                for task in self.tasks.list(list) {
                    self.owes(task.call.as_deref(), calls);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self) {
        self.open = true;
        self.begun = true;
        self.owed = false;
        self.rejected = None;
        self.blamed = None;
        self.retrying = None;
        if self.states == States::Idle {
            self.states = States::Running;
        }
    }

    fn task_ended(&mut self, id: Option<&str>, calls: &Calls) {
        if let Some(task) = self.tasks.end(id) {
            self.owes(task.call.as_deref(), calls);
        }
    }

    /// Notes that a turn is owed for a task that is over.
    ///
    /// None is for a task whose call is still open: its end is the call's result.
    fn owes(&mut self, call: Option<&str>, calls: &Calls) {
        self.owed |= !call.is_some_and(|call| calls.is_open(call));
    }
}
