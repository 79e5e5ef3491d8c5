//! What every strategy must do.

use std::time::Duration;

use autonoe_testkit::conformance::{Checks, Conformance, Flaw};

use super::simulated_fleet::{SimulatedFleet, SimulatedMember};
use crate::Strategy;

/// How many fleets each check looks at.
const FLEETS: u64 = 300;

/// Checks a [`Strategy`] against its contract, on many simulated fleets.
///
/// ```
/// use autonoe_harness::{Pipeline, conformance};
///
/// conformance::strategy(&Pipeline {}).assert();
/// ```
pub fn strategy(strategy: &dyn Strategy) -> Conformance {
    let mut checks = Checks::of("strategy");
    checks.look("a fleet of nobody comes to an end without success", || {
        let end = SimulatedFleet::new([])
            .run(strategy)
            .map_err(Flaw::Failed)?;
        match end.result.success {
            true => Err(Flaw::Failed("it succeeds".to_owned())),
            false => Ok(()),
        }
    });
    for (check, success) in [
        ("a fleet in which all succeed comes to an end", Some(true)),
        ("a fleet in which all fail comes to an end", Some(false)),
        ("a fleet of any kind comes to an end", None),
    ] {
        checks.look(check, || {
            for seed in 0..FLEETS {
                let fleet = fleet(seed, success);
                fleet
                    .run(strategy)
                    .map_err(|why| Flaw::Failed(format!("{why}: {fleet:?}")))?;
            }
            Ok(())
        });
    }
    checks.look("who finds only failures does not succeed", || {
        for seed in 0..FLEETS {
            let fleet = fleet(seed, Some(false));
            let end = fleet.run(strategy).map_err(Flaw::Failed)?;
            if end.result.success || end.result.winner.is_some() {
                return Err(Flaw::Failed(format!("{:?}: {fleet:?}", end.result)));
            }
        }
        Ok(())
    });
    checks.look("there is never more at work than there is room for", || {
        for seed in 0..FLEETS {
            let fleet = fleet(seed, None).with_room(2);
            let end = fleet.run(strategy).map_err(Flaw::Failed)?;
            if end.most_at_once > 2 {
                return Err(Flaw::Failed(format!("{} at once", end.most_at_once)));
            }
        }
        Ok(())
    });
    checks.look(
        "the same strategy comes out of what it is written as",
        || {
            let written = serde_json::to_value(strategy).map_err(|error| error.to_string())?;
            let read: Box<dyn Strategy> =
                serde_json::from_value(written).map_err(|error| error.to_string())?;
            for seed in 0..FLEETS {
                let fleet = fleet(seed, None);
                if fleet.run(strategy).ok() != fleet.run(&*read).ok() {
                    return Err(Flaw::Failed(format!("it leads otherwise: {fleet:?}")));
                }
            }
            Ok(())
        },
    );
    checks.finish()
}

/// Makes the fleet of a number: the same each time.
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
    SimulatedFleet::new(members).with_room(room)
}

/// Numbers that look random and are not (splitmix64).
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
