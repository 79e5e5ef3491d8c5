//! Who runs git for a fleet.

use autonoe_harness::FleetHome;
use autonoe_process::Commands;

use crate::surroundings::Surroundings;

/// What git is given of the environment.
const GIVEN: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Returns who runs git: with little of the environment, and none of its keys.
pub(super) fn git(home: &FleetHome, surroundings: &Surroundings) -> Commands {
    let given = GIVEN.map(|name| Some((name, surroundings.variable(name)?)));
    Commands::unconfined(home.project()).envs(given.into_iter().flatten())
}
