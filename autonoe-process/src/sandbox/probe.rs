//! Checks whether a sandbox can be created on this machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::diagnosis::{Obstacle, Settings};
use super::{OsSandbox, SandboxError, Wrapped};
use crate::before_exec;
use crate::shutdown_policy::Deadline;

/// Time limit for creating a sandbox, which usually takes 10 milliseconds.
const LIMIT: Duration = Duration::from_secs(20);

/// Poll interval for the exit of the child.
const PAUSE: Duration = Duration::from_millis(2);

impl OsSandbox {
    /// Creates the sandbox once with a trivial program in it, to check whether that works here.
    ///
    /// It takes some milliseconds and blocks the thread, for twenty seconds at most. A launch can
    /// still fail later.
    ///
    /// # Errors
    ///
    /// The sandbox does not work: bubblewrap is missing, the system does not allow it to create
    /// namespaces, or the paths are not valid. [`SandboxError::remedy`] returns the remedy.
    ///
    /// ```
    /// use autonoe_process::OsSandbox;
    ///
    /// let error = OsSandbox::new("/opt/nowhere/bwrap").check().expect_err("it is not there");
    ///
    /// assert_eq!(error.code(), "sandbox_missing");
    /// assert!(error.remedy().contains("apt install bubblewrap"));
    /// ```
    pub fn check(&self) -> Result<(), SandboxError> {
        if !cfg!(target_os = "linux") {
            return Err(SandboxError::NotLinux);
        }
        // Bubblewrap itself is the one program that certainly exists.
        let version = ["--version".into()];
        let wrapped = self.wrap(&self.program, &version, Path::new("/"), &BTreeMap::new())?;
        let Wrapped {
            mut command,
            options,
        } = wrapped;
        before_exec::prepare(&mut command, vec![options], before_exec::Tie::Dies);
        run(command).map_err(|failure| match failure {
            Failure::System(source) => SandboxError::System { source },
            Failure::Hangs => SandboxError::Refused {
                obstacle: Obstacle::Hangs,
                output: format!("no answer in {} seconds", LIMIT.as_secs()),
            },
            Failure::Refused(said) => SandboxError::Refused {
                obstacle: Obstacle::find(&said, settings()),
                output: said,
            },
        })
    }
}

enum Failure {
    System(io::Error),
    Hangs,
    Refused(String),
}

fn run(mut command: Command) -> Result<(), Failure> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Failure::System)?;
    let ended = wait(&mut child);
    if !matches!(ended, Ok(Some(_))) {
        // If this fails, the child dies with this process.
        let _ = child.kill();
        let _ = child.wait();
    }
    let Some(status) = ended.map_err(Failure::System)? else {
        return Err(Failure::Hangs);
    };
    if status.success() {
        return Ok(());
    }
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(4096).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    Err(Failure::Refused(if said.is_empty() {
        status.to_string()
    } else {
        said
    }))
}

/// Waits for the exit of `child`; `None` after the time limit. Its output is short enough for the
/// pipe.
fn wait(child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
    let deadline = Deadline::after(LIMIT);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if deadline.has_passed() {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

fn settings() -> Settings {
    let read = |name: &str| {
        let text = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
        text.trim().parse().ok()
    };
    Settings {
        clone: read("kernel/unprivileged_userns_clone"),
        max_namespaces: read("user/max_user_namespaces"),
        apparmor: read("kernel/apparmor_restrict_unprivileged_userns"),
    }
}
