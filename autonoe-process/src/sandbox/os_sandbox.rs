//! [`OsSandbox`], the rules for a child in a sandbox.

use std::path::PathBuf;

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
    pub(super) nested: NestedSandboxes,
    pub(super) temporary_limit: u64,
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

/// Whether processes in a sandbox can create further sandboxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NestedSandboxes {
    /// They cannot: user namespaces, a common start of kernel exploits, are not available.
    #[default]
    Forbidden,
    /// They can, for an agent that runs its own tools in a sandbox. Not for root.
    Allowed,
}

impl OsSandbox {
    /// Default size limit of each of `/tmp` and `/dev/shm`: 1 GiB. They are in memory.
    pub const TEMPORARY_LIMIT: u64 = 1024 * 1024 * 1024;

    /// Creates a sandbox that uses `program`, the absolute path of bubblewrap, and in which nothing
    /// is writable.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            writable: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            network: Network::default(),
            nested: NestedSandboxes::default(),
            temporary_limit: Self::TEMPORARY_LIMIT,
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

    /// Sets whether further sandboxes can be created inside.
    #[must_use]
    pub fn nested_sandboxes(mut self, nested: NestedSandboxes) -> Self {
        self.nested = nested;
        self
    }

    /// Sets the size limit of each of `/tmp` and `/dev/shm` in bytes.
    #[must_use]
    pub fn temporary_limit(mut self, bytes: u64) -> Self {
        self.temporary_limit = bytes;
        self
    }
}
