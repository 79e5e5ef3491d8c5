//! Host process that a test starts and kills.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A test in a child process that acts as the host of a session; it is killed on drop at the
/// latest.
///
/// The test finds its role in its environment variables.
#[derive(Debug)]
pub struct Host(Child);

impl Host {
    /// Starts the test `name` of this program, with `variables`. Its output is written to `log`.
    ///
    /// # Panics
    ///
    /// If the process cannot be started.
    pub fn start<'v>(
        name: &str,
        variables: impl IntoIterator<Item = (&'v str, &'v OsStr)>,
        log: &Path,
    ) -> Self {
        let log = File::create(log).expect("writable");
        let child = Command::new(std::env::current_exe().expect("this program"))
            .arg(name)
            .args(["--exact", "--nocapture"])
            .envs(variables)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("open"))
            .stderr(log)
            .spawn();
        Self(child.expect("it starts"))
    }

    /// Returns whether the process has ended.
    ///
    /// # Panics
    ///
    /// If the system does not report its status.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("ours").is_some()
    }

    /// Kills the process.
    ///
    /// # Panics
    ///
    /// If the process cannot be killed.
    pub fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
