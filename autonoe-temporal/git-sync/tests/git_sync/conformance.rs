//! Conformance test of the session host for synchronised projects.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::project::ProjectSessionHost;
use autonoe_git_sync::{SyncRemote, SyncedProject, SyncedSessionHost};
use autonoe_testkit::conformance::{HostProject, session_host};

use crate::fixture::{commands, git};

/// Opens the folder that all hosts of a host_project share, like several processes on one machine.
fn open(host_project: &HostProject) -> SyncedProject {
    let remote = host_project.project().join("remote.git");
    if !remote.exists() {
        create_remote(host_project.project(), &remote);
    }
    let remote = SyncRemote::new(remote.to_str().expect("plain")).expect("a path");
    let home = host_project.project().join("home");
    let opened = SyncedProject::open(&home, remote, "main", &host_project.run(), commands());
    opened.expect("it can be opened")
}

/// Creates a remote with one commit.
fn create_remote(folder: &Path, remote: &Path) {
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
async fn git_sync_host_conforms() {
    let report = session_host(async |host_project| {
        let synced_project = open(host_project);
        let sessions =
            ProjectSessionHost::new(synced_project.project().clone(), host_project.agents());
        let host = SyncedSessionHost::new(synced_project, sessions);
        Arc::new(host.takeover_check_interval(Duration::from_secs(1))) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 23, "{report}");
}
