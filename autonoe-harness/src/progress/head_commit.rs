//! Reads the checked-out commit of a git repository.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum number of bytes read from a file of git. Only `packed-refs` grows large.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Returns the checked-out commit of the repository around `folder`.
///
/// Reads git's files and starts no program, because an agent may have written the configuration of
/// the repository. `None` without a repository or a commit, and for references in the reftable
/// format.
pub(super) fn head_commit(folder: &Path) -> Option<String> {
    let mut candidates = folder.ancestors().map(|folder| folder.join(".git"));
    let dot_git = candidates.find(|path| path.symlink_metadata().is_ok())?;
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else {
        target(&dot_git, read(&dot_git)?.strip_prefix("gitdir:")?)
    };
    let head = read(&git_dir.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return Some(head);
    };
    let common_file = git_dir.join("commondir");
    let common = read(&common_file).map(|path| target(&common_file, &path));
    let common = common.as_deref().unwrap_or(&git_dir);
    read(&common.join(name)).or_else(|| packed(common, name))
}

/// Returns the path that a file of git names, which may be relative to that file.
fn target(file: &Path, named: &str) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.join(named.trim())
}

/// Returns the commit of a packed reference.
fn packed(common: &Path, name: &str) -> Option<String> {
    let packed = read(&common.join("packed-refs"))?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    let (commit, _) = lines.find(|(_, packed)| *packed == name)?;
    Some(commit.to_owned())
}

/// Returns the trimmed text of a regular file, if there is one.
fn read(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("git");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    #[test]
    fn the_commit_is_the_one_that_git_names() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("repository");
        fs::create_dir(&root).expect("created");
        git(&root, &["init", "-q"]);
        assert_eq!(head_commit(&root), None, "no commit");
        let check = |folder: &Path, description: &str| {
            let expected = git(folder, &["rev-parse", "HEAD"]);
            assert_eq!(head_commit(folder), Some(expected), "{description}");
        };

        git(&root, &["commit", "-q", "--allow-empty", "-m", "one"]);
        check(&root, "a branch");
        git(&root, &["pack-refs", "--all"]);
        check(&root, "a packed branch");
        git(&root, &["checkout", "-q", "--detach"]);
        check(&root, "no branch");
        git(&root, &["worktree", "add", "-q", "-b", "side", "../side"]);
        let side = dir.path().join("side");
        git(&side, &["commit", "-q", "--allow-empty", "-m", "two"]);
        check(&side, "a worktree");
        assert_ne!(head_commit(&side), head_commit(&root));
    }

    #[test]
    fn broken_repositories_have_no_commit() {
        let dir = tempfile::tempdir().expect("a folder");
        let dot_git = dir.path().join(".git");
        for text in ["", "gitdir: /nowhere", "gitdir: .git", "nonsense"] {
            fs::write(&dot_git, text).expect("written");
            assert_eq!(head_commit(dir.path()), None, "{text:?}");
        }
        fs::remove_file(&dot_git).expect("removed");
        fs::create_dir(&dot_git).expect("created");
        fs::write(dot_git.join("HEAD"), "ref: refs/heads/gone").expect("written");
        assert_eq!(head_commit(dir.path()), None);
    }
}
