//! Conformance suite of strategies.

use std::time::Duration;

use autonoe_testkit::conformance::{Checks, Conformance, Flaw};

use super::simulated_fleet::{SimulatedFleet, SimulatedMember};
use crate::strategy::Strategy;

/// Number of simulated fleets per check.
const FLEETS: u64 = 300;

/// Checks a [`Strategy`] against its contract, on many simulated fleets.
///
/// ```
/// use autonoe_harness::{Pipeline, conformance};
///
/// conformance::strategy(&Pipeline {}).assert();
/// ```
pub fn strategy(strategy: &dyn Strategy) -> Conformance {
    let mut checks = Checks::new("strategy");
    checks.run_sync("a fleet without members finishes without success", || {
        let end = SimulatedFleet::new([])
            .run(strategy)
            .map_err(Flaw::Failed)?;
        if end.result.success {
            Err(Flaw::Failed("the fleet succeeds".to_owned()))
        } else {
            Ok(())
        }
    });
    for (check, success) in [
        ("a fleet in which all members succeed finishes", Some(true)),
        ("a fleet in which all members fail finishes", Some(false)),
        ("a fleet with random outcomes finishes", None),
    ] {
        checks.run_sync(check, || {
            for seed in 0..FLEETS {
                let fleet = fleet(seed, success);
                fleet
                    .run(strategy)
                    .map_err(|why| Flaw::Failed(format!("{why}: {fleet:?}")))?;
            }
            Ok(())
        });
    }
    checks.run_sync("a fleet in which all members fail does not succeed", || {
        for seed in 0..FLEETS {
            let fleet = fleet(seed, Some(false));
            let end = fleet.run(strategy).map_err(Flaw::Failed)?;
            if end.result.success || end.result.winner.is_some() {
                return Err(Flaw::Failed(format!("{:?}: {fleet:?}", end.result)));
            }
        }
        Ok(())
    });
    checks.run_sync(
        "the number of running members never exceeds the limit",
        || {
            for seed in 0..FLEETS {
                let fleet = fleet(seed, None).max_concurrent(2);
                let end = fleet.run(strategy).map_err(Flaw::Failed)?;
                if end.most_at_once > 2 {
                    return Err(Flaw::Failed(format!(
                        "{} members run at once",
                        end.most_at_once
                    )));
                }
            }
            Ok(())
        },
    );
    checks.run_sync("a strategy survives serialisation", || {
        let written = serde_json::to_value(strategy).map_err(|error| error.to_string())?;
        let read: Box<dyn Strategy> =
            serde_json::from_value(written).map_err(|error| error.to_string())?;
        for seed in 0..FLEETS {
            let fleet = fleet(seed, None);
            if fleet.run(strategy).ok() != fleet.run(&*read).ok() {
                return Err(Flaw::Failed(format!(
                    "the deserialised strategy decides differently: {fleet:?}"
                )));
            }
        }
        Ok(())
    });
    checks.finish()
}

/// Creates a fleet from a seed: equal seeds give equal fleets.
fn fleet(seed: u64, success: Option<bool>) -> SimulatedFleet {
    let mut dice = Dice(seed);
    let members = (0..dice.roll(9)).map(|_| {
        let mut member = SimulatedMember::succeeds(Duration::from_millis(dice.roll(50)));
        member.success = success.unwrap_or(dice.roll(2) == 0);
        member.deliverables_passed = dice.roll(3);
        member.criteria_passed = dice.roll(3);
        member.tests_passed = (dice.roll(3) > 0).then(|| dice.roll(4));
        member.failures = u32::try_from(dice.roll(4)).unwrap_or_default();
        member
    });
    let members: Vec<_> = members.collect();
    let room = usize::try_from(dice.roll(10)).unwrap_or_default();
    SimulatedFleet::new(members).max_concurrent(room)
}

/// Deterministic pseudo-random numbers (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
