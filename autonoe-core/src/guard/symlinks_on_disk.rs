//! Follows the symlinks of this machine.

use autonoe_security::ResolveSymlinks;

/// Follows the symlinks of this machine, for a [`BashValidator`](autonoe_security::BashValidator).
///
/// What it finds holds for the moment in which it looks.
///
/// ```
/// use autonoe_core::{ResolveSymlinks, SymlinksOnDisk};
///
/// assert_eq!(SymlinksOnDisk.resolve("/"), Some("/".to_owned()));
/// assert_eq!(SymlinksOnDisk.resolve("/there/is/no/such/file"), None);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SymlinksOnDisk;

impl ResolveSymlinks for SymlinksOnDisk {
    fn resolve(&self, path: &str) -> Option<String> {
        // A link that leads to nothing yet is followed as far as it can be read.
        let real = std::fs::canonicalize(path)
            .or_else(|_missing| std::fs::read_link(path).map(|target| absolute(path, &target)))
            .ok()?;
        real.into_os_string().into_string().ok()
    }
}

/// Returns where a link at `path` leads that says `target`.
fn absolute(path: &str, target: &std::path::Path) -> std::path::PathBuf {
    match std::path::Path::new(path).parent() {
        Some(folder) => folder.join(target),
        None => target.to_owned(),
    }
}
