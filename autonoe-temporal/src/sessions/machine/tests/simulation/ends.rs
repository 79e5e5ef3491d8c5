//! Ends of the run that hosts have recorded.

use autonoe_core::RunReport;

use super::cluster::Simulation;

/// Counts a host's confirmation that the end of the run is recorded.
pub(super) fn concluded(simulation: &mut Simulation) {
    let driver = &mut simulation.driver;
    driver.counted.concluded += 1;
    driver.counted.cancelled_and_concluded += u64::from(simulation.cancelled);
    let needs_end = !driver.losses.starts.is_empty();
    if driver.ends.len() != usize::from(needs_end) {
        let wrong = format!("a host has recorded {:?}", driver.ends);
        driver.counted.wrong_ends.push(wrong);
    }
}

/// Checks that the host of a claimed run was requested once to record the end, with the report of
/// the run.
pub(super) fn check(simulation: &mut Simulation, report: &RunReport) {
    let driver = &mut simulation.driver;
    let is_claimed = driver.history.state_machine.known.claim.is_some();
    let mut expected = Vec::new();
    if is_claimed {
        // Later messages are not in it.
        let mut recorded = report.clone();
        let undelivered = driver
            .requested_ends
            .first()
            .map(|it| it.undelivered_messages.len());
        recorded
            .undelivered_messages
            .truncate(undelivered.unwrap_or_default());
        expected.push(recorded);
    }
    let is_right = driver.requested_ends == expected && expected.starts_with(&driver.ends);
    if !is_right {
        let (requested, ends) = (&driver.requested_ends, &driver.ends);
        let wrong = format!("requested {requested:?}, recorded {ends:?}, expected {expected:?}");
        driver.counted.wrong_ends.push(wrong);
    }
}
