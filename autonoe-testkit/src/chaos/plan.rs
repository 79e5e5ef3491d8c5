//! Assigns faults to sessions by seed.

use std::fmt;
use std::time::Duration;

use autonoe_core::CostUsd;
use autonoe_core::time::{IdSource, SeededIds};

/// The fault of one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) fault: Fault,
    /// Number of events before a fault in the middle of the stream.
    pub(super) after: u64,
    /// The time before each event of a slow drip.
    pub(super) delay: Duration,
    /// The cost that is reported instead of the right one.
    pub(super) cost: Option<CostUsd>,
}

/// Draws the fault of a session, or `None` if the session is spared.
///
/// Each session has its own random generator, so that its fault does not depend on the earlier
/// sessions: a resumed run meets the same faults.
pub(super) fn draw(seed: u64, session: u32, percent: u8, faults: &[Fault]) -> Option<Plan> {
    let dice = SeededIds::new(SeededIds::new(seed).next_u64() ^ u64::from(session));
    let hit = dice.next_u64() % 100 < u64::from(percent);
    let fault = *pick(&dice, faults)?;
    let after = dice.next_u64() % 6;
    let delay = Duration::from_secs(1 + dice.next_u64() % 120);
    let costs = [
        None,
        Some(CostUsd::ZERO),
        Some(CostUsd::from_cents(dice.next_u64() % 100_000)),
        Some(CostUsd::from_picos(u64::MAX)),
    ];
    let cost = *pick(&dice, &costs)?;
    hit.then_some(Plan {
        fault,
        after,
        delay,
        cost,
    })
}

fn pick<'a, T>(dice: &SeededIds, all: &'a [T]) -> Option<&'a T> {
    let count = u64::try_from(all.len()).ok().filter(|count| *count > 0)?;
    all.get(usize::try_from(dice.next_u64() % count).ok()?)
}

/// A way in which a backend violates its contract, or delays a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The stream ends in the middle, without an `End`.
    CutStream,
    /// The stream ends where the `End` should be, without it.
    MissingEnd,
    /// Every call is reported twice, and all of them with the id of the first.
    DuplicateCallIds,
    /// An error follows the `End`.
    ErrorAfterEnd,
    /// Time passes before every event.
    SlowDrip,
    /// The `End` reports another cost, or none.
    WrongCost,
    /// The quota is exhausted after a call was announced: an `End` follows instead of a response.
    QuotaInTool,
    /// No further event arrives, and the stream does not end.
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

/// A fault that the reader of the stream observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FaultHit {
    /// The number of the session.
    pub session: u32,
    /// The fault in the session.
    pub fault: Fault,
}

impl fmt::Display for FaultHit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {}: {}", self.session, self.fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_faults() {
        let all = |seed| -> Vec<_> { (1..50).map(|n| draw(seed, n, 50, &Fault::ALL)).collect() };

        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
    }

    #[test]
    fn faults_occur_at_the_configured_rate() {
        let hits = |percent| {
            (1..=1000)
                .filter(|n| draw(3, *n, percent, &Fault::ALL).is_some())
                .count()
        };

        assert_eq!((hits(0), hits(100)), (0, 1000));
        assert!((200..300).contains(&hits(25)), "{}", hits(25));
    }

    #[test]
    fn without_faults_nothing_is_drawn() {
        assert_eq!(draw(1, 1, 100, &[]), None);
    }

    #[test]
    fn every_fault_is_drawn_sooner_or_later() {
        for fault in Fault::ALL {
            let mut plans = (1..=500).filter_map(|n| draw(1, n, 100, &Fault::ALL));

            assert!(plans.any(|plan| plan.fault == fault), "{fault}");
        }
    }
}
