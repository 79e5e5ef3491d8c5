//! Probe whether a sandbox can be created on this machine, and the diagnosis of an [`Obstacle`].

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use super::{OsSandbox, SandboxError, Wrapped};
use crate::before_exec;
use crate::shutdown_policy::Deadline;

/// Time limit for creating a sandbox, which usually takes 10 milliseconds.
const LIMIT: Duration = Duration::from_secs(20);

/// Poll interval for the exit of the child.
const PAUSE: Duration = Duration::from_millis(2);

impl OsSandbox {
    /// Checks the program and the paths of the sandbox, without creating it.
    ///
    /// # Errors
    ///
    /// The system is not Linux, bubblewrap is missing, or the paths are not valid.
    pub fn validate(&self) -> Result<(), SandboxError> {
        if !cfg!(target_os = "linux") {
            return Err(SandboxError::NotLinux);
        }
        self.find_program()?;
        self.options(Path::new("/"), &BTreeMap::new()).map(drop)
    }

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
        before_exec::prepare(
            &mut command,
            vec![options],
            before_exec::LifetimePolicy::DeathSignal,
        );
        run(command).map_err(|failure| match failure {
            Failure::System(source) => SandboxError::System { source },
            Failure::Hangs => SandboxError::Refused {
                obstacle: Obstacle::Hangs,
                output: format!("no answer in {} seconds", LIMIT.as_secs()),
            },
            Failure::Refused(output) => SandboxError::Refused {
                obstacle: Obstacle::find(&output, settings()),
                output,
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
    let mut output = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(4096).read_to_end(&mut output);
    }
    let output = String::from_utf8_lossy(&output).trim().to_owned();
    Err(Failure::Refused(if output.is_empty() {
        status.to_string()
    } else {
        output
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

/// The reason why a sandbox cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel does not allow this user to create namespaces.
    NamespacesForbidden,
    /// The limit of namespaces is reached.
    NamespacesUsedUp,
    /// AppArmor does not allow this program to use its namespace.
    AppArmor,
    /// A container around this program denies the permissions that a sandbox needs.
    Container,
    /// This bubblewrap is too old to forbid further sandboxes inside.
    TooOld,
    /// It did not answer in time.
    Hangs,
    /// Something else.
    Other,
}

/// Settings of the system for user namespaces, where it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `kernel.unprivileged_userns_clone`
    pub(super) clone: Option<u64>,
    /// `user.max_user_namespaces`
    pub(super) max_namespaces: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`
    pub(super) apparmor: Option<u64>,
}

impl Obstacle {
    /// Determines the obstacle from the output of bubblewrap and the settings of the system.
    ///
    /// The messages are those of bubblewrap 0.4 to 0.11.
    pub(super) fn find(output: &str, settings: Settings) -> Self {
        let mentions = |text: &str| output.contains(text);
        let about_namespaces = mentions("reating new namespace")
            || mentions("o create a new namespace")
            || mentions("o creating new namespace")
            || mentions("o create new namespace")
            || mentions("user namespaces")
            || mentions("uid map");
        if mentions("nknown option") {
            Self::TooOld
        } else if mentions("ENOSPC")
            || mentions("No space left")
            || settings.max_namespaces == Some(0)
        {
            Self::NamespacesUsedUp
        } else if about_namespaces && settings.clone == Some(0) {
            Self::NamespacesForbidden
        } else if settings.apparmor == Some(1) && (about_namespaces || mentions("RTM_NEWADDR")) {
            Self::AppArmor
        } else if about_namespaces {
            Self::NamespacesForbidden
        } else if mentions("mount proc")
            || mentions("RTM_NEWADDR")
            || mentions("/ slave")
            || mentions("max_user_namespaces")
            || mentions("pivot_root")
        {
            Self::Container
        } else {
            Self::Other
        }
    }

    /// Returns the remedy for the operator.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NamespacesForbidden => {
                "let users create namespaces (sysctl kernel.unprivileged_userns_clone=1); in a \
                 container, you can switch this sandbox off and rely on the container"
            }
            Self::NamespacesUsedUp => {
                "allow more namespaces (sysctl user.max_user_namespaces=10000); inside a \
                 sandbox that forbids them, this one cannot run"
            }
            Self::AppArmor => {
                "give bwrap a profile with `userns,` (Ubuntu: package apparmor-profiles, \
                 bwrap-userns-restrict), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            }
            Self::Container => {
                "start the container with the rights to mount (Docker: --security-opt \
                 seccomp=unconfined --security-opt systempaths=unconfined), or switch this \
                 sandbox off and rely on the container"
            }
            Self::TooOld => "install bubblewrap 0.8 or later",
            Self::Hangs | Self::Other => "read its message",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENT: Settings = Settings {
        clone: None,
        max_namespaces: None,
        apparmor: None,
    };

    #[test]
    fn messages_of_bubblewrap_are_diagnosed() {
        let no_permissions = "bwrap: No permissions to create a new namespace, likely because the \
                          kernel does not allow non-privileged user namespaces.";
        let apparmor = Settings {
            clone: Some(1),
            apparmor: Some(1),
            ..SILENT
        };
        let forbidden = Settings {
            clone: Some(0),
            ..apparmor
        };
        for (output, settings, obstacle) in [
            (no_permissions, SILENT, Obstacle::NamespacesForbidden),
            (no_permissions, forbidden, Obstacle::NamespacesForbidden),
            (no_permissions, apparmor, Obstacle::AppArmor),
            (
                "bwrap: No permissions to creating new namespace, likely because the kernel",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: Creating new namespace failed: Permission denied",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or \
             /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                SILENT,
                Obstacle::NamespacesUsedUp,
            ),
            (
                no_permissions,
                Settings {
                    max_namespaces: Some(0),
                    ..SILENT
                },
                Obstacle::NamespacesUsedUp,
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Failed to make / slave: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Unknown option --disable-userns",
                SILENT,
                Obstacle::TooOld,
            ),
            ("bwrap: Can't chdir to /x", SILENT, Obstacle::Other),
            ("", SILENT, Obstacle::Other),
        ] {
            assert_eq!(Obstacle::find(output, settings), obstacle, "{output}");
        }
    }

    #[test]
    fn every_obstacle_has_a_remedy() {
        for obstacle in [
            Obstacle::NamespacesForbidden,
            Obstacle::NamespacesUsedUp,
            Obstacle::AppArmor,
            Obstacle::Container,
            Obstacle::TooOld,
            Obstacle::Hangs,
            Obstacle::Other,
        ] {
            assert!(!obstacle.remedy().is_empty(), "{obstacle:?}");
        }
    }
}
