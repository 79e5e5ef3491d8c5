//! Steps of a [`SessionsMachine`](super::SessionsMachine), and the events that they lead to.

use std::time::Duration;

use autonoe_core::RunReport;
use autonoe_core::engine::RunInstruction;
use autonoe_core::event::Failure;
use autonoe_core::ledger::LedgerView;

use super::super::requests::{Claim, EndCall, SessionAnswer, SessionCall};

/// The next step of a run.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum SessionsStep {
    /// Let a host claim the run; answer with [`SessionsEvent::Claimed`].
    Claim {
        /// The queue of the required host, or `None` for any host.
        queue: Option<String>,
    },
    /// Let the host of the run read the ledger; answer with [`SessionsEvent::LedgerRead`].
    ReadLedger(TargetHost),
    /// Let the host of the run execute a session; answer with [`SessionsEvent::Answered`].
    Session(TargetHost, Box<SessionCall>),
    /// Wait for this duration; answer with [`SessionsEvent::TimedOut`].
    Timer(Duration),
    /// Wait for [`SessionsEvent::Instructed`] or [`SessionsEvent::Cancelled`].
    AwaitInstruction,
    /// Continue with a new history and the current state.
    NewHistory,
    /// Let the host with this queue record the end of the run, if it can, within
    /// [`Timeouts::end`](crate::Timeouts::end). Answer with [`SessionsEvent::Concluded`].
    Conclude {
        /// The queue of the host.
        queue: String,
        /// The end.
        end: Box<EndCall>,
    },
    /// The run is over.
    Finish(Box<RunReport>),
}

/// The target host of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) struct TargetHost {
    pub(in crate::sessions) queue: String,
    /// Time that the host has to accept the request, before it counts as gone; unlimited if `None`.
    pub(in crate::sessions) timeout: Option<Duration>,
}

/// An event of a run. All events except [`Told`](Came::Told), [`Cancelled`](Came::Cancelled) and
/// [`HistoryIsLong`](Came::HistoryIsLong) answer the last step.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sessions) enum SessionsEvent {
    /// A host has claimed the run, or none could.
    Claimed(Result<Claim, Failure>),
    /// The ledger was read.
    LedgerRead(Result<Result<LedgerView, Failure>, NoAnswer>),
    /// The answer to a session request.
    Answered(Result<SessionAnswer, NoAnswer>),
    /// The end of the run was recorded, or cannot be.
    Concluded,
    /// A timer has fired, or was cancelled with the run.
    TimedOut,
    /// An operator has sent an instruction.
    Instructed(RunInstruction),
    /// An operator has cancelled the run, with a reason.
    Cancelled(String),
    /// The server requests a new history.
    HistoryIsLong,
}

/// Reason why a host did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sessions) enum NoAnswer {
    /// The run was cancelled.
    Cancelled,
    /// No worker of the host accepted the request.
    HostIsGone,
    /// The worker that accepted it has died or abandoned it.
    Worker(String),
}
