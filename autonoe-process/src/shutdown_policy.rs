//! [`ShutdownPolicy`], the steps that end a process before it is killed, and the report of a
//! shutdown.

use std::time::{Duration, Instant};

use crate::{Exit, Launch};

/// The steps that end a process before it is killed.
///
/// After each step, the process has some time to exit. Once it has exited, the remaining steps are
/// skipped. Finally everything that is left is killed: the process, its group and its descendants.
/// Processes with its [`Marker`](crate::Marker) are killed too, unless its supervisor proves that
/// no descendant is left.
///
/// The default is made for idle agents: closing their input ends them, `SIGINT` makes them end
/// their tools, and `SIGTERM` is for those that ignore it. Protocol messages (an interrupt, the end
/// of a session) come before the policy and are up to the caller: an agent at work may take the end
/// of its input for the end of its supervision, and continue without. If no connection to the agent
/// is left, [`interrupt_first`](Self::interrupt_first) is the safe choice.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_process::{ShutdownAction, ShutdownPolicy, Signal};
///
/// let policy = ShutdownPolicy::kill_at_once()
///     .then(ShutdownAction::CloseStdin, Duration::from_secs(5))
///     .then(ShutdownAction::Signal(Signal::Interrupt), Duration::from_secs(2))
///     .then(ShutdownAction::Signal(Signal::Terminate), Duration::from_secs(2))
///     .kill_within(Duration::from_secs(5));
///
/// assert_eq!(policy, ShutdownPolicy::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownPolicy {
    steps: Vec<ShutdownStep>,
    kill_limit: Duration,
}

/// One step of a [`ShutdownPolicy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShutdownStep {
    /// The action.
    pub(crate) action: ShutdownAction,
    /// The time that the process then has to exit.
    pub(crate) wait: Duration,
}

/// The action of a step of a [`ShutdownPolicy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShutdownAction {
    /// Closes its standard input, even if it is still being written to.
    CloseStdin,
    /// Sends a signal to the process only, not to its descendants.
    Signal(Signal),
}

impl ShutdownPolicy {
    /// Creates a policy without steps: everything is killed at once, for at most five seconds.
    pub fn kill_at_once() -> Self {
        Self {
            steps: Vec::new(),
            kill_limit: Duration::from_secs(5),
        }
    }

    /// Creates the policy for an agent that may be at work without a connection: `SIGINT` for five
    /// seconds and `SIGTERM` for two, with its input open, before the kill.
    pub fn interrupt_first() -> Self {
        Self::kill_at_once()
            .then(
                ShutdownAction::Signal(Signal::Interrupt),
                Duration::from_secs(5),
            )
            .then(
                ShutdownAction::Signal(Signal::Terminate),
                Duration::from_secs(2),
            )
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, action: ShutdownAction, wait: Duration) -> Self {
        self.steps.push(ShutdownStep { action, wait });
        self
    }

    /// Sets the time limit for killing what is left.
    #[must_use]
    pub fn kill_within(mut self, limit: Duration) -> Self {
        self.kill_limit = limit;
        self
    }

    /// Returns the steps before the kill.
    pub(crate) fn steps(&self) -> &[ShutdownStep] {
        &self.steps
    }

    /// Returns the time limit for killing what is left.
    pub(crate) fn kill_limit(&self) -> Duration {
        self.kill_limit
    }
}

impl Default for ShutdownPolicy {
    fn default() -> Self {
        Self::kill_at_once()
            .then(ShutdownAction::CloseStdin, Duration::from_secs(5))
            .then(
                ShutdownAction::Signal(Signal::Interrupt),
                Duration::from_secs(2),
            )
            .then(
                ShutdownAction::Signal(Signal::Terminate),
                Duration::from_secs(2),
            )
    }
}

/// Report of a shutdown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The exit of the process; `None` if even a kill has not ended it within the limit.
    pub exit: Option<Exit>,
    /// The step that ended it.
    pub ended_by: EndedBy,
    /// Other processes of its process tree that had to be killed.
    pub killed: Vec<ProcessInfo>,
    /// Processes that were still alive when the limit had passed.
    pub left: Vec<ProcessInfo>,
    /// The end of its standard error.
    pub stderr_tail: String,
}

impl ShutdownReport {
    /// Returns whether the process has ended and none of its processes is left.
    pub fn is_complete(&self) -> bool {
        self.exit.is_some() && self.left.is_empty()
    }
}

/// The cause of the end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndedBy {
    /// It had ended before the shutdown.
    Itself,
    /// A step of the policy.
    Step(ShutdownAction),
    /// The kill at the end of the policy.
    Kill,
    /// Nothing: as far as known, it is alive.
    Nothing,
}

/// Report of the processes that were killed, and of those that survived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KillReport {
    /// Processes that were killed.
    pub killed: Vec<ProcessInfo>,
    /// Processes that were still alive when the limit had passed.
    pub left: Vec<ProcessInfo>,
}

/// A process in the process list of the system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProcessInfo {
    /// Its process ID.
    pub pid: u32,
    /// The process ID of its parent.
    pub parent: u32,
    /// The name of its program, shortened by the system.
    pub name: String,
}

/// The end of a time limit; `None` if it is too far away to be represented.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn after(limit: Duration) -> Self {
        Self(Instant::now().checked_add(limit))
    }

    pub(crate) fn has_passed(self) -> bool {
        self.left() == Some(Duration::ZERO)
    }

    /// Returns the remaining time; `None` means unlimited.
    pub(crate) fn left(self) -> Option<Duration> {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.0.map(left)
    }

    /// Returns the earlier of this deadline and one after `limit`.
    pub(crate) fn or_after(self, limit: Duration) -> Self {
        let left = self.left().map_or(limit, |left| left.min(limit));
        Self::after(left)
    }
}

/// A signal that ends a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// `SIGINT`. Agents end their tools on it.
    Interrupt,
    /// `SIGTERM`. Some agents leave their tools running on it.
    Terminate,
}

impl Signal {
    pub(crate) fn to_system(self) -> rustix::process::Signal {
        match self {
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Terminate => rustix::process::Signal::TERM,
        }
    }
}

/// The receiver of the signals for the program of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalTarget {
    /// The child, which is the program.
    Child,
    /// The program in the sandbox. The child is bubblewrap, which does not forward signals.
    InSandbox,
}

impl SignalTarget {
    pub(crate) fn for_launch(launch: &Launch) -> Self {
        match launch.sandbox {
            Some(_) => Self::InSandbox,
            None => Self::Child,
        }
    }
}
