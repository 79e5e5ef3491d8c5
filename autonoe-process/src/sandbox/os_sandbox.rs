//! What holds for a child in a sandbox.

use std::path::PathBuf;

/// What holds for a child in a sandbox of the operating system (bubblewrap, on Linux).
///
/// Inside, everything can be read and nothing can be written, except:
/// - what is [writable](Self::writable);
/// - `/tmp` and `/dev/shm`, which are empty at first, private, and gone afterwards;
/// - what is [hidden](Self::hidden), and `/run`, where the sockets of other programs are: both
///   are empty.
///
/// The more special path wins: a writable project in a hidden home is writable. There are no
/// other processes than those of the sandbox, no capabilities (also for root), no shared
/// memory or message queues of others, no new rights by programs that are set-uid, and no
/// network unless it is [shared](Network::Shared). The environment is that of the launch, and
/// `PWD`. When bubblewrap ends, or this program does, everything inside is killed.
///
/// Use it with [`Launch::inside`](crate::Launch::inside). It fails closed: where the sandbox
/// cannot be made, nothing is started. [`check`](Self::check) says so beforehand, and why.
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
///     .inside(sandbox)
///     .start()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// # What it does not hold
///
/// - Sockets that are files outside `/run` and `/tmp` can be connected to, although the file
///   system is read-only: hide them.
/// - With a shared network, so can servers on this machine and abstract sockets.
/// - What root owns, root reads, also without capabilities: better not run as root.
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

/// Whether what is in a sandbox has a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Network {
    /// It has none, not even that of this machine: `localhost` is its own.
    #[default]
    Off,
    /// It has the one of this machine.
    Shared,
}

/// Whether what is in a sandbox can make further ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NestedSandboxes {
    /// It cannot: user namespaces, which many holes of the kernel begin with, are not to be had.
    #[default]
    Forbidden,
    /// It can, for an agent that puts its own tools into a sandbox. Not for root.
    Allowed,
}

impl OsSandbox {
    /// How much `/tmp` and `/dev/shm` hold each if nothing else is said: 1 GiB. It is memory.
    pub const TEMPORARY_LIMIT: u64 = 1024 * 1024 * 1024;

    /// Makes a sandbox by `program`, the absolute path of bubblewrap, in which nothing is
    /// writable.
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

    /// Makes the file or directory at `path` writable. It must be there.
    #[must_use]
    pub fn writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// Keeps the file or directory at `path` read-only, in a writable one, or shows it, in a
    /// hidden one or in `/tmp`. It must be there.
    ///
    /// In a writable directory it must be one of its entries: of a deeper one, the
    /// directories above it could be moved away. A directory that is named as
    /// [writable](Self::writable) itself cannot be, nor can its entries.
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Hides the file or directory at `path`, if there is one when the child is started.
    ///
    /// In a writable directory it must be one of its entries, as for
    /// [`read_only`](Self::read_only).
    #[must_use]
    pub fn hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Sets whether there is a network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Sets whether further sandboxes can be made inside.
    #[must_use]
    pub fn nested_sandboxes(mut self, nested: NestedSandboxes) -> Self {
        self.nested = nested;
        self
    }

    /// Sets how many bytes `/tmp` and `/dev/shm` hold each.
    #[must_use]
    pub fn temporary_limit(mut self, bytes: u64) -> Self {
        self.temporary_limit = bytes;
        self
    }
}
