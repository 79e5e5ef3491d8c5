//! What hosts have written down of the end of the run.

use autonoe_core::RunReport;

use super::cluster::Hosts;

/// Takes note that a host has said that the end of the run is written down.
pub(super) fn concluded(world: &mut Hosts) {
    let driver = &mut world.driver;
    driver.counted.concluded += 1;
    driver.counted.cancelled_and_concluded += u64::from(world.cancelled);
    let needs_end = !driver.losses.begun.is_empty();
    if driver.ends.len() != usize::from(needs_end) {
        let wrong = format!("a host has written down {:?}", driver.ends);
        driver.counted.wrong_ends.push(wrong);
    }
}

/// The end is told once to the host of a run that has one, and it is that of the run.
pub(super) fn check(world: &mut Hosts, report: &RunReport) {
    let driver = &mut world.driver;
    let is_claimed = driver.history.course.known.claim.is_some();
    let mut expected = Vec::new();
    if is_claimed {
        // What was said after that is not in it.
        let mut told = report.clone();
        let heard = driver.asked.first().map(|it| it.undelivered_messages.len());
        told.undelivered_messages
            .truncate(heard.unwrap_or_default());
        expected.push(told);
    }
    let is_right = driver.asked == expected && expected.starts_with(&driver.ends);
    if !is_right {
        let (asked, ends) = (&driver.asked, &driver.ends);
        let wrong = format!("{asked:?} was told, {ends:?} written down, {expected:?} is right");
        driver.counted.wrong_ends.push(wrong);
    }
}
