//! What a course asks for, and what comes of it.

use std::time::Duration;

use autonoe_core::{Failure, LedgerView, RunInstruction, RunReport};

use super::super::calls::{Claim, EndCall, SessionAnswer, SessionCall};

/// What is to be done next for a run.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum Step {
    /// A host is to claim the run; come back with [`Came::Claimed`].
    Claim {
        /// The queue of the only host that may; any by default.
        queue: Option<String>,
    },
    /// The host of the run is to look at the ledger; come back with [`Came::Looked`].
    Look(OnHost),
    /// The host of the run is to carry out a session; come back with [`Came::Answered`].
    Session(OnHost, Box<SessionCall>),
    /// Nothing, for so long; come back with [`Came::TimeIsUp`].
    Timer(Duration),
    /// Nothing, until there is [`Came::Told`] or [`Came::Cancelled`].
    AwaitInstruction,
    /// The history is to be begun anew, with what is known now.
    BeginAnew,
    /// The host with that queue is to write down how the run ended, as far as it can: it is waited
    /// for [`Pace::end`](crate::Pace::end) at most. Come back with [`Came::Concluded`].
    Conclude {
        /// The queue of the host.
        queue: String,
        /// The end.
        end: Box<EndCall>,
    },
    /// The run is over.
    Finish(Box<RunReport>),
}

/// The host that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) struct OnHost {
    pub(in crate::sessions) queue: String,
    /// How long it has to take the call, before it is gone; for ever if `None`.
    pub(in crate::sessions) patience: Option<Duration>,
}

/// Something that has come to a run. Everything but [`Told`](Came::Told),
/// [`Cancelled`](Came::Cancelled) and [`HistoryIsLong`](Came::HistoryIsLong) is the answer to the
/// last step.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum Came {
    /// A host has claimed the run, or none could.
    Claimed(Result<Claim, Failure>),
    /// The ledger was looked at.
    Looked(Result<Result<LedgerView, Failure>, Lost>),
    /// There is an answer about a session.
    Answered(Result<SessionAnswer, Lost>),
    /// The end of the run was written down, or cannot be.
    Concluded,
    /// A timer is over, or was cancelled with the run.
    TimeIsUp,
    /// A person has told the run something.
    Told(RunInstruction),
    /// A person has cancelled the run, for a reason.
    Cancelled(String),
    /// The server wants the history to be begun anew.
    HistoryIsLong,
}

/// Why there is no answer from a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) enum Lost {
    /// The run was cancelled.
    Cancelled,
    /// Nobody took the call.
    HostIsGone,
    /// Who took it is gone, or let go of it.
    Worker(String),
}
