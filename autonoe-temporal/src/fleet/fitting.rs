//! What a fleet came to, made to fit in what travels.

use autonoe_core::RunOutcome;
use autonoe_harness::FleetReport;

use crate::payload::{bounded, too_large};

/// Returns what a fleet came to, by reference where it is large: what members said is left with
/// their runs, which can be asked for it, until the rest fits. The output that counts stays.
pub(super) fn fitting(fleet: &str, mut report: FleetReport) -> RunOutcome {
    while too_large("what the fleet came to", &report).is_some() {
        let largest = report.result.results.iter_mut();
        let largest = largest.max_by_key(|result| result.output.len());
        let Some(result) = largest.filter(|result| result.output.len() > SMALL) else {
            break;
        };
        let bytes = result.output.len();
        result.output = format!("({bytes} bytes, with the run {fleet}.{})", result.id);
    }
    bounded(report.outcome())
}

/// What is as small as what it would be replaced by.
const SMALL: usize = 512;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_core::RunOutcome;
    use autonoe_harness::{
        FleetCourse, FleetStep, HarnessId, MemberSpec, Parallel, Race, Strategy, StrategyRun,
    };
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::payload::MOST;

    /// Lets members end with so much output each.
    fn report(strategy: Arc<dyn Strategy>, outputs: &[usize]) -> FleetReport {
        let now = Timestamp::UNIX_EPOCH;
        let names = (0..outputs.len()).map(|number| format!("m{number}"));
        let members = names.map(|name| MemberSpec::new(HarnessId::new(name), "say", Value::Null));
        let what = StrategyRun::new(strategy).members(members);
        let mut course = FleetCourse::new("f", what, now).expect("it begins");
        let mut started = Vec::new();
        loop {
            match course.next(now) {
                FleetStep::Start { member, .. } => {
                    let _ = course.began(now, &member);
                    started.push(member);
                }
                FleetStep::Stop { member, .. } => {
                    course.ended(now, [(member, Ok(RunOutcome::cancelled("")))]);
                }
                FleetStep::Wait { .. } => {
                    let member = started.remove(0);
                    let number: usize = member.as_str()[1..].parse().expect("a number");
                    let said = json!("x".repeat(outputs[number]));
                    course.ended(now, [(member, Ok(RunOutcome::succeeded(said)))]);
                }
                FleetStep::Finish(report) => return *report,
            }
        }
    }

    #[test]
    fn what_members_said_stays_if_it_fits() {
        let report = report(Arc::new(Race {}), &[1000]);

        assert_eq!(fitting("f", report.clone()), report.outcome());
    }

    #[test]
    fn what_members_said_is_left_with_their_runs_from_the_largest_on() {
        let report = report(Arc::new(Race {}), &[1000, 9]);
        let mut large = report;
        large.result.results[1].output = "y".repeat(MOST);

        let outcome = fitting("f", large);

        assert!(outcome.is_success());
        let results = &outcome.output["result"]["results"];
        assert_eq!(results[0]["output"].as_str().map(str::len), Some(1000));
        assert_eq!(results[1]["output"], "(786432 bytes, with the run f.m1)");
        assert_eq!(too_large("it", &outcome), None);
    }

    #[test]
    fn what_does_not_fit_at_all_is_no_success() {
        let report = report(Arc::new(Parallel {}), &[MOST / 2, MOST / 2, MOST / 2]);

        let outcome = fitting("f", report);

        assert!(!outcome.is_success(), "{:?}", outcome.ending);
        assert_eq!(too_large("it", &outcome), None);
    }
}
