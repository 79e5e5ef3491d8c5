//! [`SymlinksOnDisk`], which resolves symlinks on the local file system.

use autonoe_security::ResolveSymlinks;

/// Resolves symlinks on the local file system, for a
/// [`BashValidator`](autonoe_security::BashValidator).
///
/// A result only reflects the state of the file system at the time of the call.
///
/// ```
/// use autonoe_core::gate::SymlinksOnDisk;
/// use autonoe_core::gate::policy::ResolveSymlinks;
///
/// assert_eq!(SymlinksOnDisk.resolve("/"), Some("/".to_owned()));
/// assert_eq!(SymlinksOnDisk.resolve("/there/is/no/such/file"), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SymlinksOnDisk;

impl ResolveSymlinks for SymlinksOnDisk {
    fn resolve(&self, path: &str) -> Option<String> {
        // A dangling link is resolved as far as possible.
        let real = std::fs::canonicalize(path)
            .or_else(|_missing| std::fs::read_link(path).map(|target| absolute(path, &target)))
            .ok()?;
        real.into_os_string().into_string().ok()
    }
}

/// Returns the target of a link at `path` with the content `target`.
fn absolute(path: &str, target: &std::path::Path) -> std::path::PathBuf {
    match std::path::Path::new(path).parent() {
        Some(folder) => folder.join(target),
        None => target.to_owned(),
    }
}
