//! Git, as somebody runs it who has nothing to do with what is tested.

use std::path::Path;
use std::process::Command;

/// Runs git in `folder`, as Ada and without the settings of this machine, and returns what it said.
///
/// # Panics
///
/// It cannot be run, or it fails.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
