//! A host that is killed.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A test in a process of its own, which plays the host of a session; killed at the latest when it
/// is dropped.
///
/// The test finds its role by the variables that it was started with.
#[derive(Debug)]
pub struct Host(Child);

impl Host {
    /// Starts the test `name` of this program, with `variables`. What it says is in `log`.
    ///
    /// # Panics
    ///
    /// It cannot be started.
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

    /// Tells whether it has ended.
    ///
    /// # Panics
    ///
    /// The system does not say.
    pub fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("ours").is_some()
    }

    /// Kills it.
    ///
    /// # Panics
    ///
    /// It cannot be killed.
    pub fn kill(&mut self) {
        self.0.kill().expect("ours");
        self.0.wait().expect("ours");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may be gone already, which is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
