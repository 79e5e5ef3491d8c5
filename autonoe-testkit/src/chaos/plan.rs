//! Which fault hits which session.

use std::time::Duration;

use autonoe_core::{CostUsd, IdSource, SeededIds};

use super::fault::Fault;

/// What goes wrong in one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) fault: Fault,
    /// How many events come before a fault that strikes in the middle.
    pub(super) after: u64,
    /// The time before each event of a slow drip.
    pub(super) delay: Duration,
    /// The cost that is told instead of the right one.
    pub(super) cost: Option<CostUsd>,
}

/// Draws the fault of a session, or `None` when it is spared.
///
/// Each session has dice of its own, so that its fault does not depend on
/// which sessions came before it: a resumed run meets the same ones.
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
    fn the_rate_is_kept() {
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
