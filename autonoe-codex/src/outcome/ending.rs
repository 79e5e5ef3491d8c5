//! All that is known when a turn is over.

use crate::wire::{ErrorInfo, RateLimits, TurnError, TurnStatus};

/// All that is known when a turn is over.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Ending {
    /// How the program says it ended; `None` if it never did.
    pub status: Option<TurnStatus>,
    /// Why it failed, as the program says.
    pub error: Option<TurnError>,
    /// What went wrong before, when the program still tried again.
    pub last_retry: Option<ErrorInfo>,
    /// What was told last of the subscription.
    pub limits: RateLimits,
    /// Whether the host stopped it.
    pub stopped: Option<HostAction>,
    /// What the program wrote to its standard error, and how it ended, if it is gone.
    pub gone: Option<String>,
}

/// Why the host stopped a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// Somebody wanted it.
    Interrupted,
    /// The session had as many calls of the model as it may.
    MaxTurns,
}
