//! Why a server that is there is of no use.

use std::fmt;
use std::time::Duration;

use autonoe_core::AgentErrorKind;
use autonoe_process::{Action, Ladder, Process, ShutDown};
use tokio::time::timeout;

/// How long a server may take to exit after it has closed its output. The error reports the exit
/// status.
pub(super) const EXIT_LIMIT: Duration = Duration::from_secs(5);

/// How long a server that still runs may take to exit before it is killed.
const KILL_DELAY: Duration = Duration::from_millis(500);

/// Why a server that is there is of no use.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The session is over.
    Stopped,
    /// It was not ready in this time.
    Late(Duration),
    /// The connection ended, and perhaps why.
    Ended(Option<String>),
    /// It said something that it should not.
    Said(String),
}

impl Refusal {
    pub(super) fn kind(&self) -> AgentErrorKind {
        match self {
            Self::Late(_) => AgentErrorKind::Timeout,
            Self::Stopped | Self::Ended(_) | Self::Said(_) => AgentErrorKind::Other,
        }
    }

    /// Says what it means when the server is a child, which has ended so.
    pub(super) fn of_child(&self, end: &ShutDown) -> String {
        match (self, end.exit) {
            // A pipe that is broken says nothing; how the process ended does.
            (Self::Ended(_), Some(exit)) => format!("it {exit} before it was ready"),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("its start was cancelled because the session ended"),
            Self::Late(limit) => write!(f, "it was not ready after {limit:?}"),
            Self::Ended(None) => f.write_str("it ended the connection before it was ready"),
            Self::Ended(Some(why)) => write!(f, "it cannot be reached: {why}"),
            Self::Said(reason) => f.write_str(reason),
        }
    }
}

/// Ends a server that is of no use.
pub(super) async fn break_off(process: Process, refusal: &Refusal) -> ShutDown {
    let limit = match refusal {
        Refusal::Ended(_) => EXIT_LIMIT,
        Refusal::Said(_) => KILL_DELAY,
        Refusal::Stopped | Refusal::Late(_) => Duration::ZERO,
    };
    let _ = timeout(limit, process.exited()).await;
    let brief = Ladder::kill_at_once().then(Action::CloseStdin, KILL_DELAY);
    process.shut_down(brief).await
}
