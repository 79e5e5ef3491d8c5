//! Conformance test of the session host for synchronised projects.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::project::ProjectSessionHost;
use autonoe_harness::git_sync::{SyncRemote, SyncedProject, SyncedSessionHost};
use autonoe_testkit::conformance::{HostProject, session_host};

use crate::travel::fixture::{commands, git};

/// Opens the folder that all hosts of a ground share, like several processes on one machine.
fn open(ground: &HostProject) -> SyncedProject {
    let remote = ground.project().join("remote.git");
    if !remote.exists() {
        make(ground.project(), &remote);
    }
    let remote = SyncRemote::new(remote.to_str().expect("plain")).expect("a path");
    let home = ground.project().join("home");
    let opened = SyncedProject::open(&home, remote, "main", &ground.run(), commands());
    opened.expect("it can be opened")
}

/// Creates a remote with one commit.
fn make(folder: &Path, remote: &Path) {
    let name = remote.to_str().expect("plain");
    git(
        folder,
        &["init", "--quiet", "--bare", "--initial-branch=main", name],
    );
    let tree = git(remote, &["mktree"]);
    let first = git(remote, &["commit-tree", &tree, "-m", "first"]);
    git(remote, &["update-ref", "refs/heads/main", &first]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_travelling_host_conforms() {
    let report = session_host(async |ground| {
        let travels = open(ground);
        let sessions = ProjectSessionHost::new(travels.project().clone(), ground.agents());
        let host = SyncedSessionHost::new(travels, sessions);
        Arc::new(host.takeover_check_interval(Duration::from_secs(1))) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 23, "{report}");
}
