//! What is done to end a process, step by step.

use std::time::Duration;

use crate::Signal;

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
