//! [`OsSandbox`], the rules for a child in a sandbox, their bubblewrap command, and the [`SandboxError`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Access, access};

use super::Obstacle;
use crate::inherited;

/// The rules for a child in a sandbox of the operating system (bubblewrap, on Linux).
///
/// Inside, everything is readable and nothing is writable, except:
/// - [writable](Self::writable) paths;
/// - `/tmp` and `/dev/shm`, which start empty, are private, and disappear with the sandbox;
/// - [hidden](Self::hidden) paths, and `/run` with the sockets of other programs: they are empty.
///
/// The more specific path wins: a writable project in a hidden home is writable. The child sees no
/// processes outside of the sandbox. It has no capabilities (also as root), no shared memory or
/// message queues of other processes, gains no rights from set-uid programs, and has no network
/// unless it is [shared](Network::Shared). The environment is that of the launch, plus `PWD`. When
/// bubblewrap or this program ends, everything inside is killed.
///
/// Use it with `Launch::inside`. It fails closed: if the sandbox cannot be
/// created, nothing is started. [`check`](Self::check) reports that beforehand, with the reason.
///
/// ```no_run
/// use autonoe_process::{Launch, Marker, Network, OsSandbox};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = OsSandbox::new("/usr/bin/bwrap")
///     .writable("/srv/project")
///     .hidden("/home/ada/.ssh")
///     .network(Network::Off);
/// sandbox.check()?;
///
/// let marker = Marker::new("AUTONOE_SESSION", "6f1c9a02-1")?;
/// let started = Launch::new("/bin/bash", "/srv/project", marker)
///     .args(["-c", "make test"])
///     .sandbox(sandbox)
///     .start()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # Limits
///
/// - Sockets that are files outside of `/run` and `/tmp` accept connections, although the file
///   system is read-only: hide them.
/// - With a shared network, servers on this machine and abstract sockets accept connections, too.
/// - Root can read files of root, even without capabilities: avoid running as root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsSandbox {
    pub(super) program: PathBuf,
    pub(super) writable: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
    pub(super) network: Network,
}

/// Network access of a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Network {
    /// No network, not even that of this machine: `localhost` is the sandbox's own.
    #[default]
    Off,
    /// The network of this machine.
    Shared,
}

impl OsSandbox {
    /// Creates a sandbox that uses `program`, the absolute path of bubblewrap, and in which nothing
    /// is writable.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            writable: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            network: Network::default(),
        }
    }

    /// Makes the file or directory at `path` writable. It must exist.
    #[must_use]
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// Keeps the file or directory at `path` read-only inside a writable directory, or makes it
    /// visible inside a hidden one or in `/tmp`. It must exist.
    ///
    /// In a writable directory it must be a direct entry: the directories above a deeper one could
    /// be moved away. A directory that is itself [writable](Self::writable) cannot be moved, nor
    /// can its entries.
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Hides the file or directory at `path`, if it exists when the child is started.
    ///
    /// In a writable directory it must be a direct entry, as for [`read_only`](Self::read_only).
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Sets the network access.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }
}

/// A command that starts bubblewrap, and the descriptor with its options, which it must inherit.
#[derive(Debug)]
pub(crate) struct Wrapped {
    pub(crate) command: Command,
    pub(crate) options: OwnedFd,
}

impl OsSandbox {
    /// Builds the command that executes `program` in the sandbox and in `directory`, with `env`.
    ///
    /// Options and environment are passed through a file in memory. They do not show in the process
    /// list, and no variable affects bubblewrap itself.
    pub(crate) fn wrap(
        &self,
        program: &Path,
        args: &[OsString],
        directory: &Path,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<Wrapped, SandboxError> {
        self.find_program()?;
        let options = self.options(directory, env)?;
        let options = inherited::copy(&in_memory(&options)?)?;
        let mut command = Command::new(&self.program);
        command
            .arg("--args")
            .arg(options.as_raw_fd().to_string())
            .arg("--")
            .arg(program)
            .args(args)
            .current_dir("/")
            .env_clear();
        Ok(Wrapped { command, options })
    }

    pub(super) fn find_program(&self) -> Result<(), SandboxError> {
        let program = self.program.clone();
        if !program.is_absolute() {
            return Err(SandboxError::NotAbsolute { path: program });
        }
        if !program.is_file() || access(&program, Access::EXEC_OK).is_err() {
            return Err(SandboxError::Missing { program });
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn in_memory(content: &[u8]) -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    let mut file = File::from(memfd_create("sandbox", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn in_memory(content: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

/// Error of a sandbox that cannot be created. Nothing was started without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system is not Linux.
    #[error("bubblewrap works on Linux only")]
    NotLinux,
    /// Bubblewrap does not exist, or is not executable.
    #[error("there is no bubblewrap at {program:?}")]
    Missing {
        /// The expected path of bubblewrap.
        program: PathBuf,
    },
    /// Bubblewrap exists and does not work here.
    #[error("bubblewrap cannot create a sandbox on this system: {output}")]
    Refused {
        /// The obstacle.
        obstacle: Obstacle,
        /// The output of bubblewrap.
        output: String,
    },
    /// A path is relative.
    #[error("{path:?} is not an absolute path")]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// A writable, read-only or hidden path cannot be accessed.
    #[error("{path:?} does not exist")]
    PathMissing {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The path is the root, or is reserved for the sandbox.
    #[error("{path:?} is set up by the sandbox itself")]
    Reserved {
        /// The path.
        path: PathBuf,
    },
    /// A path was requested with two kinds of access.
    #[error("{path:?} is listed in more than one of writable, read-only and hidden")]
    Contradiction {
        /// The path.
        path: PathBuf,
    },
    /// A path is too deep in a writable directory to be protected from being moved.
    #[error("{path:?} cannot be protected: it is not a direct entry of {writable:?}")]
    Movable {
        /// The read-only or hidden path.
        path: PathBuf,
        /// The writable directory around it.
        writable: PathBuf,
    },
    /// The system refused something else.
    #[error("the sandbox cannot be created")]
    System {
        /// The error of the system.
        #[from]
        source: io::Error,
    },
}

impl SandboxError {
    /// Returns a stable, machine-readable code of the kind.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotLinux => "sandbox_not_linux",
            Self::Missing { .. } => "sandbox_missing",
            Self::Refused { .. } => "sandbox_refused",
            Self::NotAbsolute { .. } => "sandbox_path_not_absolute",
            Self::PathMissing { .. } => "sandbox_path_not_there",
            Self::Reserved { .. } => "sandbox_path_reserved",
            Self::Contradiction { .. } => "sandbox_path_contradiction",
            Self::Movable { .. } => "sandbox_path_movable",
            Self::System { .. } => "sandbox_not_made",
        }
    }

    /// Returns the remedy for the operator.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotLinux => {
                "switch the sandbox off, and run in a container or a virtual machine instead"
            }
            Self::Missing { .. } => {
                "install it (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)"
            }
            Self::Refused { obstacle, .. } => obstacle.remedy(),
            Self::NotAbsolute { .. } => "give an absolute path",
            Self::PathMissing { .. } => "create it, or leave it out",
            Self::Reserved { .. } => "name entries below it",
            Self::Contradiction { .. } => "name it once",
            Self::Movable { .. } => {
                "name the direct entry of the writable directory that contains it"
            }
            Self::System { .. } => "read the error of the system",
        }
    }
}
