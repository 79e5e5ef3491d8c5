//! Simulation of the state machine with the fault model that is also used for local runs.
//!
//! The state machine is the real one. The server, its workers and the network are models: tasks and
//! answers arrive late, twice or never, the server is unreachable for a while, and workers die, are
//! suspended and are cut off.

mod cluster;
mod ends;
mod history;
mod server;
mod workers;

use std::ops::Range;

use autonoe_testkit::simulation::{Rules, Stats, Violation};
use cluster::{Counted, simulate};

/// Plays each schedule of `seeds`. Panics at the first one that breaks a rule.
fn all_hold(seeds: Range<u64>) -> (Stats, Counted) {
    let mut sum = (Stats::default(), Counted::default());
    for seed in seeds {
        let (tally, counted) = simulate(seed, Rules::All)
            .unwrap_or_else(|violation| panic!("seed {seed}: {violation:?}"));
        assert_eq!(counted.undelivered, [""; 0], "seed {seed}");
        assert_eq!(counted.wrong_ends, [""; 0], "seed {seed}");
        sum.0.takeovers += tally.takeovers;
        sum.0.refused += tally.refused;
        sum.0.records_used += tally.records_used;
        sum.0.lost += tally.lost;
        sum.0.duplicates += tally.duplicates;
        sum.0.cancelled += tally.cancelled;
        sum.1.add(&counted);
    }
    sum
}

/// Counts the schedules of `seeds` in which a session takes effect twice.
fn repeating(seeds: Range<u64>, rules: Rules) -> usize {
    let repeats = |seed: &u64| {
        let played = simulate(*seed, rules);
        matches!(played, Err(Violation::Repeated { .. }))
    };
    seeds.filter(repeats).count()
}

/// Half of the schedules, so that two tests can run in parallel.
const HALF: u64 = 3000;

#[test]
fn every_session_takes_effect_exactly_once_in_three_thousand_schedules() {
    let (tally, counted) = all_hold(0..HALF);

    // Schedules without these events would prove nothing.
    let counts = format!("{tally:?} {counted:?}");
    assert!(tally.takeovers > HALF, "{counts}");
    assert!(tally.refused > HALF / 20, "{counts}");
    assert!(tally.records_used > HALF / 10, "{counts}");
    assert!(tally.lost > HALF / 2, "{counts}");
    assert!(tally.duplicates > HALF, "{counts}");
    assert!(counted.replays > HALF, "{counts}");
    assert!(counted.new_histories > HALF, "{counts}");
    assert!(counted.hosts_lost > HALF / 10, "{counts}");
    assert!(counted.late > HALF, "{counts}");
    assert!(counted.held > HALF / 10, "{counts}");
    assert!(tally.cancelled > HALF / 10, "{counts}");
    assert!(counted.concluded > HALF / 2, "{counts}");
    assert!(counted.cancelled_and_concluded > HALF / 20, "{counts}");
    assert!(counted.unconcluded > HALF / 20, "{counts}");
}

#[test]
fn every_session_takes_effect_exactly_once_in_three_thousand_more() {
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
