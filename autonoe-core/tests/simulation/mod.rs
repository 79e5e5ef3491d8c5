//! Simulation of a run on several hosts that crash, sleep and lose their connection: every session
//! takes effect exactly once. The operator pauses, resumes and cancels it.
//!
//! The machine, its facts and its journal lines are the real ones; the hosts, the clock and the
//! project are the model of `autonoe_testkit::simulation`.

mod driver;
mod facts;
mod local;
mod operator;
mod sessions;

use std::ops::Range;

use autonoe_testkit::simulation::{Rules, Stats, Violation};
use local::simulate;

/// Plays each schedule of `seeds`; panics with the first one that breaks a rule.
fn all_hold(seeds: Range<u64>) -> Stats {
    let mut sum = Stats::default();
    for seed in seeds {
        let tally = simulate(seed, Rules::All)
            .unwrap_or_else(|violation| panic!("seed {seed}: {violation:?}"));
        sum.takeovers += tally.takeovers;
        sum.refused += tally.refused;
        sum.records_used += tally.records_used;
        sum.lost += tally.lost;
        sum.duplicates += tally.duplicates;
        sum.limits_changed += tally.limits_changed;
        sum.cancelled += tally.cancelled;
    }
    sum
}

/// Counts the schedules of `seeds` in which a session takes effect twice.
fn repeating(seeds: Range<u64>, rules: Rules) -> usize {
    seeds
        .filter(|seed| matches!(simulate(*seed, rules), Err(Violation::Repeated { .. })))
        .count()
}

/// Half of the schedules, so that two tests can run in parallel.
const HALF: u64 = 10_000;

#[test]
fn every_session_takes_effect_exactly_once_in_ten_thousand_schedules() {
    let totals = all_hold(0..HALF);

    // Schedules without these events would prove nothing.
    assert!(totals.takeovers > 2 * HALF, "{totals:?}");
    assert!(totals.duplicates > 2 * HALF, "{totals:?}");
    assert!(totals.refused > HALF / 10, "{totals:?}");
    assert!(totals.records_used > HALF / 10, "{totals:?}");
    assert!(totals.lost > HALF / 10, "{totals:?}");
    assert!(totals.limits_changed > HALF, "{totals:?}");
    assert!(totals.cancelled > HALF / 10, "{totals:?}");
}

#[test]
fn every_session_takes_effect_exactly_once_in_ten_thousand_more() {
    all_hold(HALF..2 * HALF);
}

#[test]
fn without_the_fence_a_session_takes_effect_twice() {
    assert!(repeating(0..500, Rules::NoFence) > 0);
}

#[test]
fn without_outcome_records_a_session_takes_effect_twice() {
    assert!(repeating(0..500, Rules::NoOutcomeRecord) > 0);
}

#[test]
fn a_seed_gives_the_same_schedule_each_time() {
    for seed in 0..20 {
        assert_eq!(simulate(seed, Rules::All), simulate(seed, Rules::All));
    }
}
