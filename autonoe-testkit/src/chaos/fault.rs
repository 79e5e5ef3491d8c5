//! What can go wrong with a backend.

use std::fmt;

/// A way in which a backend breaks its contract, or tries the patience of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The stream ends in the middle, without an `End`.
    CutStream,
    /// The stream ends where the `End` should be, without it.
    MissingEnd,
    /// Every call is told twice, and all of them under the id of the first.
    DuplicateCallIds,
    /// After the `End` comes an error.
    ErrorAfterEnd,
    /// Time passes before every event.
    SlowDrip,
    /// The `End` tells another cost, or none.
    WrongCost,
    /// The quota is spent after a call was announced: no response comes, but an `End`.
    QuotaInTool,
    /// Nothing comes any more, and the stream does not end.
    Silence,
    /// The stream panics when it is polled.
    Panic,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 9] = [
        Self::CutStream,
        Self::MissingEnd,
        Self::DuplicateCallIds,
        Self::ErrorAfterEnd,
        Self::SlowDrip,
        Self::WrongCost,
        Self::QuotaInTool,
        Self::Silence,
        Self::Panic,
    ];
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CutStream => "cut stream",
            Self::MissingEnd => "missing end",
            Self::DuplicateCallIds => "duplicate call ids",
            Self::ErrorAfterEnd => "error after the end",
            Self::SlowDrip => "slow drip",
            Self::WrongCost => "wrong cost",
            Self::QuotaInTool => "quota in the middle of a tool",
            Self::Silence => "silence",
            Self::Panic => "panic",
        })
    }
}

/// A fault that was seen by whoever read the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FaultHit {
    /// The number of the session.
    pub session: u32,
    /// What went wrong in it.
    pub fault: Fault,
}

impl fmt::Display for FaultHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}: {}", self.session, self.fault)
    }
}
