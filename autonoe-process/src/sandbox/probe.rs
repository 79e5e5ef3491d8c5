//! Trying whether a sandbox can be made here.

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
use crate::ladder::Deadline;

/// How long it may take to make a sandbox; usually it is a hundredth of a second.
const LIMIT: Duration = Duration::from_secs(20);

/// How long is waited before it is looked again.
const PAUSE: Duration = Duration::from_millis(2);

impl OsSandbox {
    /// Makes the sandbox once, with nothing of use in it, to see whether that works here.
    ///
    /// It takes some milliseconds and blocks the thread, twenty seconds at most. That it works
    /// now is no promise for later; a launch fails then.
    ///
    /// # Errors
    ///
    /// It does not work: bubblewrap is missing, or the system does not let it make
    /// namespaces, or the paths do not fit. [`SandboxError::remedy`] says what to do.
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
        // Bubblewrap itself is the one program that is certain to be there.
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
                said: format!("no answer in {} seconds", LIMIT.as_secs()),
            },
            Failure::Refused(said) => SandboxError::Refused {
                obstacle: Obstacle::find(&said, settings()),
                said,
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
        // It dies with this one at the latest.
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
    Err(Failure::Refused(match said.is_empty() {
        true => status.to_string(),
        false => said,
    }))
}

/// Waits for the end of `child`; `None` if it does not come. It says little: the pipe holds it.
fn wait(child: &mut Child) -> io::Result<Option<std::process::ExitStatus>> {
    let deadline = Deadline::after(LIMIT);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if deadline.has_come() {
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
        most: read("user/max_user_namespaces"),
        apparmor: read("kernel/apparmor_restrict_unprivileged_userns"),
    }
}
