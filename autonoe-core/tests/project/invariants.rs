//! Invariants of a project after its writers were stopped in the middle of a write.

use std::collections::HashSet;
use std::fs;

use autonoe_core::ledger::Fence;
use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::{DeliverableRepository, Project};

/// A file that the next write replaces.
const TEMPORARY: &str = "status.json.tmp";

/// Fails if the ledger is not whole, an acknowledged update is missing, or the next write leaves
/// anything behind except `files`.
pub(crate) async fn assert_nothing_is_lost(
    project: &Project,
    acknowledged: &[String],
    files: &[&str],
) {
    let found = files_of(project);
    let is_known = |name: &String| name == TEMPORARY || files.contains(&name.as_str());
    assert!(found.iter().all(is_known), "left behind: {found:?}");
    let repository = FileDeliverableRepository::open(project).expect("writable");
    let snapshot = repository
        .load()
        .await
        .expect("the file is whole")
        .expect("something was saved");
    let present: HashSet<&str> = snapshot
        .state
        .ledger
        .deliverables()
        .iter()
        .map(|item| item.id().as_str())
        .collect();
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !present.contains(id.as_str()))
        .collect();
    assert!(lost.is_empty(), "acknowledged updates are lost: {lost:?}");

    let fence = Fence {
        base: Some(snapshot.revision),
        epoch: snapshot.epoch,
    };
    repository
        .save(&snapshot.state, fence)
        .await
        .expect("no other writer saves");
    assert_eq!(files_of(project), files);
}

fn files_of(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.state_dir()).expect("readable");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("readable").file_name())
        .map(|name| name.into_string().expect("text"))
        .collect();
    names.sort();
    names
}
