//! Children in a sandbox. The tests need bubblewrap, and fail without it.

mod creation_errors;
mod escape;
mod shutdown;
mod visibility;

use std::path::PathBuf;

use autonoe_process::{Exit, Launch, OsSandbox, StartedProcess, find_program};
use tokio::io::AsyncReadExt;

use crate::fixture::{Fixture, kill_at_once, within};

pub(crate) fn bubblewrap() -> PathBuf {
    let path = std::env::var_os("PATH").expect("set");
    find_program("bwrap", &path).expect("these tests need bubblewrap: apt install bubblewrap")
}

impl Fixture {
    /// Returns a sandbox in which the folder of the test is writable.
    pub(crate) fn sandbox(&self) -> OsSandbox {
        OsSandbox::new(bubblewrap()).writable(self.folder())
    }
}

/// Returns a folder that is neither in `/tmp` nor in the folder of a test.
pub(crate) fn outside() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a folder")
}

/// Waits for the exit of the launch, and returns its output and its exit.
pub(crate) async fn run_to_end(launch: Launch) -> (String, Exit) {
    let StartedProcess {
        process,
        stdin: _stdin,
        mut stdout,
    } = within(launch.start()).await.expect("it starts");
    let mut text = String::new();
    within(stdout.read_to_string(&mut text))
        .await
        .expect("readable");
    let exit = within(process.exited()).await;
    let end = within(process.shutdown(kill_at_once())).await;
    assert!(end.is_complete(), "{end:?}");
    assert!(!end.stderr_tail.contains("bwrap"), "{}", end.stderr_tail);
    (text, exit)
}
