//! Symlink resolution, which the command text alone cannot provide.

use std::sync::Arc;

/// Resolves symlinks in paths.
///
/// The validator does no I/O; a caller with access to the file system implements this trait. A
/// resolved path can only turn an allowed command into a denied one.
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
    /// Returns the real path of `path`, which is absolute; `None` if it does not exist.
    ///
    /// For a file that does not exist yet, the validator resolves its folder as well.
    fn resolve(&self, path: &str) -> Option<String>;
}

impl<R: ResolveSymlinks + ?Sized> ResolveSymlinks for Arc<R> {
    fn resolve(&self, path: &str) -> Option<String> {
        (**self).resolve(path)
    }
}
