//! Assertions about a run after its end, whatever has failed meanwhile.

use std::collections::BTreeMap;

use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::{RunOutcome, RunSpec};
use autonoe_core::project::Journal;
use autonoe_core::run::JournalLine;
use autonoe_core::{DeliverableStatus, RunReport};
use autonoe_temporal_support::{Site, TWO_AT_ONCE, Work, wait_for_no_processes};

/// Fails unless all work is done, each session took effect once, and the project has the end of the
/// run recorded.
pub(crate) async fn assert_all_done_once(
    site: &Site,
    run: &RunSpec,
    work: &Work,
    outcome: &RunOutcome,
) {
    work_is_done_once(site, run, work, outcome).await;
    assert_end_recorded(&site.journal(run), outcome);
}

/// Fails unless all work is done, and each session took effect once.
pub(crate) async fn work_is_done_once(
    site: &Site,
    run: &RunSpec,
    work: &Work,
    outcome: &RunOutcome,
) {
    assert!(outcome.is_success(), "{}: {outcome:?}", run.id);
    assert_eq!(outcome.output["deliverablesPassedCount"], work.deliverables);
    assert_eq!(outcome.output["sessions"], work.sessions(), "{}", run.id);
    let ledger = site.ledger(run).await.state.ledger;
    let all = (1..=work.deliverables).map(|number| work.deliverable(number));
    let expected: Vec<_> = all.map(|id| (id, DeliverableStatus::Passed)).collect();
    let found = ledger.deliverables().iter();
    let found = found.map(|it| (it.id().to_string(), it.status()));
    assert_eq!(found.collect::<Vec<_>>(), expected, "{}", run.id);
    let ends = ends(site, run);
    let expected: Vec<_> = (1..=work.sessions()).collect();
    let numbers: Vec<_> = ends.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, expected, "{}", run.id);
    let is_completed = |(_, end): &(u32, SessionEnd)| end.is_completed();
    assert!(ends.iter().all(is_completed), "{}: {ends:?}", run.id);
    each_changed_once(site, run, work);
    wait_for_no_processes(site.path()).await;
    two_were_never_there(site, run);
}

/// Returns the numbers of the sessions with a recorded end, and how they ended, in order.
pub(crate) fn ends(site: &Site, run: &RunSpec) -> Vec<(u32, SessionEnd)> {
    let journal = site.journal(run);
    let ends = journal
        .entries()
        .iter()
        .filter_map(|entry| match &entry.line {
            JournalLine::SessionEnded { number, result } => Some((*number, result.end.clone())),
            _ => None,
        });
    ends.collect()
}

/// Fails unless the journal of a project contains the end of the run once, equal to the outcome.
pub(crate) fn assert_end_recorded(journal: &Journal, outcome: &RunOutcome) {
    let report: RunReport = serde_json::from_value(outcome.output.clone()).expect("a report");
    assert_eq!(run_ends(journal), [report]);
    assert_eq!(journal.interrupted_flow(), None);
}

/// Returns the recorded ends of runs.
pub(crate) fn run_ends(journal: &Journal) -> Vec<RunReport> {
    let ends = journal
        .entries()
        .iter()
        .filter_map(|entry| match &entry.line {
            JournalLine::RunEnded { report } => Some(report.clone()),
            _ => None,
        });
    ends.collect()
}

/// Fails unless each deliverable was added to the ledger once, and passed once.
fn each_changed_once(site: &Site, run: &RunSpec, work: &Work) {
    let mut changes = BTreeMap::<_, u32>::new();
    for entry in site.journal(run).entries() {
        if let JournalLine::StatusChanged { change, .. } = &entry.line {
            let change = (change.id.to_string(), format!("{:?}", change.status));
            *changes.entry(change).or_default() += 1;
        }
    }
    let is_once = changes.values().all(|count| *count == 1);
    // A kill may come between a change and its line in the journal.
    let most = 2 * usize::try_from(work.deliverables).expect("few");
    assert!(is_once && changes.len() <= most, "{}: {changes:?}", run.id);
}

/// Fails if two agents worked in the project at the same time.
pub(crate) fn two_were_never_there(site: &Site, run: &RunSpec) {
    let sign = site.project_path(run).join(TWO_AT_ONCE);
    assert!(!sign.exists(), "two agents were in {} at once", run.id);
}
