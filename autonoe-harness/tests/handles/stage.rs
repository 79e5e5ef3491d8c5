//! What the tests share: a folder of sub-harnesses, and waiting with a deadline.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::{RunId, RunSpec};
use autonoe_harness::{HarnessFolder, HarnessId, HarnessManager, SubHarnessProgram, Survival};
use serde_json::Value;
use tempfile::TempDir;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// How often sub-harnesses of tests look.
pub(crate) const OFTEN: Duration = Duration::from_millis(10);

/// A folder of sub-harnesses; nothing of them lives when it is gone.
pub(crate) struct Stage {
    dir: TempDir,
}

impl Stage {
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

    pub(crate) fn folder(&self, id: &str) -> HarnessFolder {
        HarnessFolder::of(&self.root(), &HarnessId::new(id)).expect("an id")
    }

    pub(crate) fn manager(&self) -> HarnessManager {
        manager(&self.root(), Survival::DiesWithManager)
    }

    pub(crate) fn nothing_is_left_of(&self, id: &str) -> bool {
        let marker = self.folder(id).marker().expect("it is there");
        marker.processes().is_empty()
    }

    /// Waits for somebody to write the file `name`, and returns its text.
    pub(crate) async fn told_in(&self, name: &str) -> String {
        let path = self.dir.path().join(name);
        let read = || {
            let text = fs::read_to_string(&path).ok();
            text.filter(|text| text.ends_with('\n'))
        };
        eventually(&format!("the file {name}"), || read().is_some()).await;
        read().expect("it was there").trim().to_owned()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A test that has failed leaves nothing behind either.
        for folder in HarnessFolder::all_in(&self.root()).unwrap_or_default() {
            if let Ok(marker) = folder.marker() {
                marker.kill_all(DEADLINE);
            }
        }
    }
}

/// A manager whose sub-harnesses are this program in another role.
pub(crate) fn manager(root: &Path, survival: Survival) -> HarnessManager {
    HarnessManager::new(root, program().survival(survival)).every(OFTEN)
}

pub(crate) fn program() -> SubHarnessProgram {
    SubHarnessProgram::new(std::env::current_exe().expect("this program"))
        .args(["handles::roles::sub_harness", "--exact", "--nocapture"])
        .env(crate::handles::roles::SUB_HARNESS, "yes")
        .env("PATH", std::env::var_os("PATH").expect("set"))
}

pub(crate) fn order(id: &str, job: &str, input: Value) -> RunSpec {
    RunSpec::new(RunId::new(id), job, input)
}

/// Waits until `is_so`, and fails when that takes too long.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for `future`, and fails when that takes too long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, future).await;
    answer.expect("it does not take as long as that")
}

/// Tells whether the process `pid` lives.
pub(crate) fn lives(pid: u32) -> bool {
    autonoe_process::ProcessIdentity::of(pid).is_some()
}

/// Kills one process and nothing else, as a machine that is out of memory does.
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
