//! What is done to end a process, step by step.

use std::time::{Duration, Instant};

use crate::{Exit, Signal};

/// What is done to end a process, step by step, before it is killed.
///
/// After each step the process gets some time; when it ends, the steps that are
/// left are not taken. At last, everything that is left of it is killed: the process, its
/// group and its descendants. Processes with its [`Marker`](crate::Marker) are killed too,
/// unless its supervisor proves that no descendant is left.
///
/// The default is made for agents that have nothing to do any more: closing their
/// input ends them, `SIGINT` makes them end their tools, `SIGTERM` is for those that
/// do not listen to it. What a protocol offers (an interrupt, the end of a session)
/// comes before the ladder and is the caller's: an agent at work may take the end of
/// its input for the end of its supervision, and go on without. Where nobody can
/// talk to it any more, [`interrupt_first`](Self::interrupt_first) is the safe one.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_process::{Action, Ladder, Signal};
///
/// let ladder = Ladder::kill_at_once()
///     .then(Action::CloseStdin, Duration::from_secs(5))
///     .then(Action::Signal(Signal::Interrupt), Duration::from_secs(2))
///     .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
///     .kill_within(Duration::from_secs(5));
///
/// assert_eq!(ladder, Ladder::default());
/// assert_eq!(ladder.longest(), Duration::from_secs(14));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder {
    steps: Vec<Step>,
    kill_limit: Duration,
}

/// One step of a [`Ladder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is done.
    pub action: Action,
    /// How long the process then has to end.
    pub wait: Duration,
}

/// What is done in a step of a [`Ladder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Its standard input is closed, also if somebody still writes to it.
    CloseStdin,
    /// It is sent a signal; nothing else of it is.
    Signal(Signal),
}

impl Ladder {
    /// Makes a ladder without steps: everything is killed at once, for at most five seconds.
    pub fn kill_at_once() -> Self {
        Self {
            steps: Vec::new(),
            kill_limit: Duration::from_secs(5),
        }
    }

    /// Makes the ladder for an agent that may be at work while nobody answers it: `SIGINT`
    /// for five seconds and `SIGTERM` for two, with its input open, before the kill.
    pub fn interrupt_first() -> Self {
        Self::kill_at_once()
            .then(Action::Signal(Signal::Interrupt), Duration::from_secs(5))
            .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, action: Action, wait: Duration) -> Self {
        self.steps.push(Step { action, wait });
        self
    }

    /// Sets how long it is tried at most to kill what is left.
    #[must_use]
    pub fn kill_within(mut self, limit: Duration) -> Self {
        self.kill_limit = limit;
        self
    }

    /// Returns the steps before the kill.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns how long it is tried at most to kill what is left.
    pub fn kill_limit(&self) -> Duration {
        self.kill_limit
    }

    /// Returns how long the whole takes when nothing ends it.
    pub fn longest(&self) -> Duration {
        let steps = self.steps.iter().map(|step| step.wait);
        steps.fold(self.kill_limit, Duration::saturating_add)
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Self::kill_at_once()
            .then(Action::CloseStdin, Duration::from_secs(5))
            .then(Action::Signal(Signal::Interrupt), Duration::from_secs(2))
            .then(Action::Signal(Signal::Terminate), Duration::from_secs(2))
    }
}

/// How a process was ended, and what else had to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutDown {
    /// How it ended; `None` if even a kill has not ended it within the limit.
    pub exit: Option<Exit>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// Other processes of it that had to be killed.
    pub killed: Vec<ProcessInfo>,
    /// What still lived when the limit was over.
    pub left: Vec<ProcessInfo>,
    /// The end of what it wrote to its standard error.
    pub stderr_tail: String,
}

impl ShutDown {
    /// Tells whether the process has ended and nothing of it is left.
    pub fn is_complete(&self) -> bool {
        self.exit.is_some() && self.left.is_empty()
    }
}

/// What ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// It had ended before anything was done.
    Itself,
    /// This step of the ladder.
    Step(Action),
    /// The kill at the end of the ladder.
    Kill,
    /// Nothing: it lives, as far as anybody knows.
    Nothing,
}

/// What was killed, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweep {
    /// Processes that were killed.
    pub killed: Vec<ProcessInfo>,
    /// Processes that still lived when the limit was over.
    pub left: Vec<ProcessInfo>,
}

/// A process as the system lists it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Its number.
    pub pid: u32,
    /// The number of its parent.
    pub parent: u32,
    /// The name of its program, as the system shortens it.
    pub name: String,
}

/// When something is over; `None` if that is too far away to be said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn after(limit: Duration) -> Self {
        Self(Instant::now().checked_add(limit))
    }

    pub(crate) fn has_come(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// Returns how much time is left; `None` is any amount.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.0.map(left)
    }

    /// Returns the earlier of both.
    pub(crate) fn or_after(self, limit: Duration) -> Self {
        let left = self.left().map_or(limit, |left| left.min(limit));
        Self::after(left)
    }
}
