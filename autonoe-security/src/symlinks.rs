//! Symlinks, which a text alone cannot see.

use std::sync::Arc;

/// Says where a path really leads.
///
/// The validator does no I/O; whoever may look at the file system implements
/// this. What it says can only turn an allowed command into a denied one.
///
/// ```
/// use autonoe_security::ResolveSymlinks;
///
/// /// Follows the links of this machine.
/// struct OnDisk;
///
/// impl ResolveSymlinks for OnDisk {
///     fn resolve(&self, path: &str) -> Option<String> {
///         let real = std::fs::canonicalize(path).ok()?;
///         real.into_os_string().into_string().ok()
///     }
/// }
/// ```
pub trait ResolveSymlinks: Send + Sync {
    /// Returns the real path of `path`, which is absolute; `None` if nothing is there.
    ///
    /// For a file that is yet to be made, the validator asks about its folder as well.
    fn resolve(&self, path: &str) -> Option<String>;
}

impl<R: ResolveSymlinks + ?Sized> ResolveSymlinks for Arc<R> {
    fn resolve(&self, path: &str) -> Option<String> {
        (**self).resolve(path)
    }
}
