//! Calls of Git.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;

/// Returns the files below `root` that Git tracks and that match `pattern`, relative to `root`.
///
/// Deleted files that are still in the index are left out.
pub(crate) fn tracked_files(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--", pattern])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::new(format!("cannot start git: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new("`git ls-files` failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .split_terminator('\0')
        .map(PathBuf::from)
        .filter(|file| root.join(file).exists())
        .collect())
}

/// Returns the hash of a file below `root`.
pub(crate) fn hash(root: &Path, path: &str) -> Result<String, Failure> {
    let output = Command::new("git")
        .args(["hash-object", "--no-filters", "--", path])
        .current_dir(root)
        .output()
        .map_err(|error| Failure::new(format!("cannot start git: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`git hash-object {path}` failed")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the most recent tag of the current commit's history that matches `pattern`; `None` if
/// there is none.
pub(crate) fn last_tag(root: &Path, pattern: &str) -> Result<Option<String>, Failure> {
    let output = Command::new("git")
        .args(["tag", "--list", pattern, "--merged", "HEAD"])
        .arg("--sort=-version:refname")
        .current_dir(root)
        .output()
        .map_err(|error| Failure::new(format!("cannot start git: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new("`git tag` failed"));
    }
    let tags = String::from_utf8_lossy(&output.stdout);
    Ok(tags.lines().next().map(str::to_owned))
}
