//! What the tests share: programs that answer, rightly or wrongly, and waiting with a deadline.

use std::path::Path;
use std::time::{Duration, Instant};

use autonoe_harness::PipedProgram;
use autonoe_process::Marker;

/// Far longer than anything takes here.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// The variable by which is found what a test has left.
const TRACE: &str = "AUTONOE_TEST_TRACE";

/// A folder, and a mark that all processes of a test have.
pub(crate) struct Stage {
    dir: tempfile::TempDir,
    trace: Marker,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let name = dir.path().to_string_lossy().replace('/', "-");
        Self {
            dir,
            trace: Marker::new(TRACE, name).expect("a marker"),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A shell that answers.
    pub(crate) fn shell(&self, script: &str) -> PipedProgram {
        self.program("/bin/sh", self.path()).args(["-c", script])
    }

    /// This program in the role of the test `role`.
    pub(crate) fn role(&self, role: &str, directory: &Path) -> PipedProgram {
        // What runs tests says so on its standard output, which is not for the other side.
        let elsewhere = r#"exec "$0" "$@" 3>&1 1>/dev/null"#;
        let own = std::env::current_exe().expect("this program");
        self.program("/bin/sh", directory)
            .args(["-c", elsewhere])
            .args([own.into_os_string()])
            .args([role, "--exact", "--nocapture"])
            .env(crate::bridge::roles::ROLE, role)
    }

    fn program(&self, program: &str, directory: &Path) -> PipedProgram {
        PipedProgram::new(program, directory)
            .env("PATH", std::env::var_os("PATH").expect("set"))
            .env(self.trace.name(), self.trace.value())
    }

    /// Returns how many processes of the test live.
    pub(crate) fn living(&self) -> usize {
        self.trace.processes().len()
    }

    pub(crate) async fn nothing_is_left(&self) {
        eventually("the end of all processes", || self.living() == 0).await;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A test that has failed leaves nothing behind either.
        self.trace.kill_all(DEADLINE);
    }
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
