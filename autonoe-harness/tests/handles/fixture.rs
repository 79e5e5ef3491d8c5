//! Fixture: a folder of members, and waiting with a deadline.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::RunId;
use autonoe_core::engine::RunSpec;
use autonoe_harness::folder::MemberFolder;
use autonoe_harness::manager::MemberLifetime;
use autonoe_harness::strategy::MemberId;
use autonoe_harness::{MemberCommand, MemberManager};
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Poll interval of members in tests.
pub(crate) const OFTEN: Duration = Duration::from_millis(10);

/// A folder of members. None of their processes survive it.
pub(crate) struct Fixture {
    dir: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join(".harness")
    }

    pub(crate) fn folder(&self, id: &str) -> MemberFolder {
        MemberFolder::new(&self.root(), &MemberId::new(id)).expect("an id")
    }

    pub(crate) fn manager(&self) -> MemberManager {
        manager(&self.root(), MemberLifetime::BoundToManager)
    }

    pub(crate) fn has_no_processes(&self, id: &str) -> bool {
        let marker = self.folder(id).marker().expect("it is there");
        marker.processes().is_empty()
    }

    /// Waits for the file `name`, and returns its text.
    pub(crate) async fn wait_for_file(&self, name: &str) -> String {
        let path = self.dir.path().join(name);
        let read = || {
            let text = fs::read_to_string(&path).ok();
            text.filter(|text| text.ends_with('\n'))
        };
        eventually(&format!("the file {name}"), || read().is_some()).await;
        read().expect("it was there").trim().to_owned()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // A failed test leaves nothing behind either.
        for folder in MemberFolder::list(&self.root()).unwrap_or_default() {
            if let Ok(marker) = folder.marker() {
                marker.kill_all(DEADLINE);
            }
        }
    }
}

/// A manager whose members are this program in another role.
pub(crate) fn manager(root: &Path, member_lifetime: MemberLifetime) -> MemberManager {
    MemberManager::new(root, program().member_lifetime(member_lifetime)).every(OFTEN)
}

pub(crate) fn program() -> MemberCommand {
    MemberCommand::new(std::env::current_exe().expect("this program"))
        .args(["handles::roles::member", "--exact", "--nocapture"])
        .env(crate::handles::roles::IS_MEMBER, "yes")
        .env("PATH", std::env::var_os("PATH").expect("set"))
}

pub(crate) fn order(id: &str, job: &str, input: Value) -> RunSpec {
    RunSpec::new(RunId::new(id), job, input)
}

/// Waits until `is_so` returns true, and fails after the deadline.
pub(crate) async fn eventually(description: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(
            started.elapsed() < DEADLINE,
            "waited in vain for {description}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, and fails after the deadline.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}

/// Returns whether the process `pid` is alive.
pub(crate) fn lives(pid: u32) -> bool {
    autonoe_process::ProcessIdentity::from_pid(pid).is_some()
}

/// Kills one process and nothing else, like the OOM killer.
pub(crate) fn kill_nine(pid: u32) {
    signal("-KILL", pid);
}

/// Sends a signal to one process.
pub(crate) fn signal(which: &str, pid: u32) {
    let sent = std::process::Command::new("kill")
        .args([which, &pid.to_string()])
        .status();
    assert!(sent.expect("it starts").success());
}
