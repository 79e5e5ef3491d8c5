//! Shrinks the report of a fleet to the maximum payload size.

use autonoe_core::engine::RunOutcome;
use autonoe_harness::FleetReport;

use crate::payload::{bounded, too_large};

/// Returns the outcome of a fleet, shortened if it is too large: outputs of members are replaced by
/// references to their runs, largest first, until the rest fits. The winning output stays.
pub(super) fn shrink_report(fleet: &str, mut report: FleetReport) -> RunOutcome {
    while too_large("the report of the fleet", &report).is_some() {
        let largest = report.result.results.iter_mut();
        let largest = largest.max_by_key(|result| result.output.len());
        let Some(result) = largest.filter(|result| result.output.len() > SMALL) else {
            break;
        };
        let bytes = result.output.len();
        result.output = format!("({bytes} bytes, in the run {fleet}.{})", result.id);
    }
    bounded(report.outcome())
}

/// Outputs up to this size are not replaced, because a reference would be as large.
const SMALL: usize = 512;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_core::engine::RunOutcome;
    use autonoe_harness::coordinate::{FleetStep, MemberSpec, StrategyRun};
    use autonoe_harness::strategy::MemberId;
    use autonoe_harness::{FleetMachine, Parallel, Race, Strategy};
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::*;
    use crate::payload::MAX_PAYLOAD;

    /// Runs members that end with outputs of these sizes.
    fn report(strategy: Arc<dyn Strategy>, outputs: &[usize]) -> FleetReport {
        let now = Timestamp::UNIX_EPOCH;
        let names = (0..outputs.len()).map(|number| format!("m{number}"));
        let members = names.map(|name| MemberSpec::new(MemberId::new(name), "say", Value::Null));
        let what = StrategyRun::new(strategy).members(members);
        let mut machine = FleetMachine::new("f", what, now).expect("it begins");
        let mut started = Vec::new();
        loop {
            match machine.next(now) {
                FleetStep::Start { member, .. } => {
                    let _ = machine.on_started(now, &member);
                    started.push(member);
                }
                FleetStep::Stop { member, .. } => {
                    machine.on_ended(now, [(member, Ok(RunOutcome::cancelled("")))]);
                }
                FleetStep::Wait { .. } => {
                    let member = started.remove(0);
                    let number: usize = member.as_str()[1..].parse().expect("a number");
                    let output = json!("x".repeat(outputs[number]));
                    machine.on_ended(now, [(member, Ok(RunOutcome::succeeded(output)))]);
                }
                FleetStep::Finish(report) => return *report,
            }
        }
    }

    #[test]
    fn small_report_is_unchanged() {
        let report = report(Arc::new(Race {}), &[1000]);

        assert_eq!(shrink_report("f", report.clone()), report.outcome());
    }

    #[test]
    fn largest_outputs_are_replaced_by_references() {
        let report = report(Arc::new(Race {}), &[1000, 9]);
        let mut large = report;
        large.result.results[1].output = "y".repeat(MAX_PAYLOAD);

        let outcome = shrink_report("f", large);

        assert!(outcome.is_success());
        let results = &outcome.output["result"]["results"];
        assert_eq!(results[0]["output"].as_str().map(str::len), Some(1000));
        assert_eq!(results[1]["output"], "(786432 bytes, in the run f.m1)");
        assert_eq!(too_large("it", &outcome), None);
    }

    #[test]
    fn oversized_report_is_a_failure() {
        let report = report(
            Arc::new(Parallel {}),
            &[MAX_PAYLOAD / 2, MAX_PAYLOAD / 2, MAX_PAYLOAD / 2],
        );

        let outcome = shrink_report("f", report);

        assert!(!outcome.is_success(), "{:?}", outcome.ending);
        assert_eq!(too_large("it", &outcome), None);
    }
}
