//! [`Workspace`], the files of a run, and their snapshots.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::io;
use std::sync::Arc;

/// The files that a run works on.
///
/// A run takes a snapshot before and after each session. Equal snapshots mean that the session
/// changed no file and created no commit.
///
/// `snapshot` must return in bounded time, whatever an agent does to the files meanwhile. It may
/// block: the run calls it on a thread for blocking work, which needs a tokio runtime. A file that
/// disappears is a change, not an error.
///
/// Closures `Fn() -> io::Result<WorkspaceSnapshot>` implement it:
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::run::{Workspace, WorkspaceSnapshot};
///
/// let one_file: Arc<dyn Workspace> = Arc::new(|| {
///     let text = std::fs::read("/srv/project/main.rs")?;
///     Ok(WorkspaceSnapshot::new(&text))
/// });
/// ```
pub trait Workspace: Send + Sync {
    /// Takes a snapshot of the files.
    ///
    /// # Errors
    ///
    /// The files cannot be read, or there are too many of them. The progress of the session is
    /// unknown then, and the run continues.
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot>;
}

#[deny(clippy::missing_trait_methods)]
impl<W: Workspace + ?Sized> Workspace for Arc<W> {
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        (**self).snapshot()
    }
}

impl<F> Workspace for F
where
    F: Fn() -> io::Result<WorkspaceSnapshot> + Send + Sync,
{
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        self()
    }
}

/// The state of the files that a run works on, as a digest to compare with another one.
///
/// Digests of different versions of this crate or of the Rust standard library cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceSnapshot(u64);

impl WorkspaceSnapshot {
    /// Computes the digest of `state`.
    pub fn new(state: &(impl Hash + ?Sized)) -> Self {
        Self(BuildHasherDefault::<DefaultHasher>::default().hash_one(state))
    }
}
