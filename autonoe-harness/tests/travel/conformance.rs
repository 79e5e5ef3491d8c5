//! A host of a project that travels does what every session host must do.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::ProjectSessionHost;
use autonoe_harness::{TravelRemote, TravellingHost, TravellingProject};
use autonoe_testkit::conformance::{HostGround, session_host};

use crate::travel::setting::{commands, git};

/// Opens the place that all hosts of a ground share, as several processes on one machine would.
fn open(ground: &HostGround) -> TravellingProject {
    let remote = ground.project().join("remote.git");
    if !remote.exists() {
        make(ground.project(), &remote);
    }
    let remote = TravelRemote::new(remote.to_str().expect("plain")).expect("a path");
    let home = ground.project().join("home");
    let opened = TravellingProject::open(&home, remote, "main", &ground.run(), commands());
    opened.expect("it can be opened")
}

/// Makes a remote with one commit.
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
        let host = TravellingHost::new(travels, sessions);
        Arc::new(host.watch_every(Duration::from_secs(1))) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.passed().len(), 23, "{report}");
}
