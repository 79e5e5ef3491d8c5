//! Staging folders that the program leaves in projects.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder that the program keeps its settings of a project in.
const SETTINGS: &str = ".claude";

/// The folder in it that the program makes before it runs a command in its sandbox.
const STAGING: &str = ".cc-writes";

/// The staging folders of one session: in its directory and in the repository around it.
///
/// The program makes them and leaves them behind empty. They are removed if they are empty. The
/// folder around them is removed only if the session started without it, or if it held nothing else.
pub(crate) struct StagingFolders(Vec<Root>);

struct Root {
    settings: PathBuf,
    /// Whether nothing in the folder of settings belongs to a person.
    is_disposable: bool,
}

impl StagingFolders {
    /// Looks what is there before a session in `directory` starts.
    pub(crate) fn record(directory: &Path) -> Self {
        let mut roots = vec![directory.to_owned()];
        roots.extend(repository_roots(directory));
        roots.dedup();
        let look = |root: PathBuf| {
            let settings = root.join(SETTINGS);
            let is_disposable = is_disposable(&settings);
            Root {
                settings,
                is_disposable,
            }
        };
        Self(roots.into_iter().map(look).collect())
    }

    /// Removes what the program left, once it has ended.
    pub(crate) fn remove(self) {
        for Root {
            settings,
            is_disposable,
        } in self.0
        {
            // Behind a link it is a folder of somebody else. A folder that is not empty stays.
            let is_folder = fs::symlink_metadata(&settings).is_ok_and(|found| found.is_dir());
            if is_folder && fs::remove_dir(settings.join(STAGING)).is_ok() && is_disposable {
                let _ = fs::remove_dir(&settings);
            }
        }
    }
}

/// Tells whether the folder of settings is not there, or holds a staging folder and nothing else.
fn is_disposable(settings: &Path) -> bool {
    if fs::symlink_metadata(settings).is_err() {
        return true;
    }
    let Ok(entries) = fs::read_dir(settings) else {
        return false;
    };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names == [STAGING]
}

/// Returns the roots of the repository around `directory`: of its worktree, and of the main one.
fn repository_roots(directory: &Path) -> Vec<PathBuf> {
    let around = directory
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let Some(worktree) = around else {
        return Vec::new();
    };
    let mut roots = vec![worktree.to_owned()];
    // In a linked worktree it is a file that says where the data of the worktree is.
    let file = fs::read_to_string(worktree.join(".git")).unwrap_or_default();
    if let Some(data) = file.trim().strip_prefix("gitdir: ") {
        let data = worktree.join(data);
        let common = fs::read_to_string(data.join("commondir")).ok();
        let common = common.and_then(|common| data.join(common.trim()).canonicalize().ok());
        roots.extend(common.as_deref().and_then(Path::parent).map(Path::to_owned));
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("it is there");
        (folder, path)
    }

    fn make(path: &Path) {
        fs::create_dir_all(path).expect("writable");
    }

    #[test]
    fn only_folders_that_the_program_left_are_removed() {
        for (before, after) in [
            (&[][..], &[][..]),
            // A session that was killed left it.
            (&[".claude/.cc-writes"], &[]),
            (&[".claude"], &[".claude"]),
            (&[".claude/skills"], &[".claude", ".claude/skills"]),
            (
                &[".claude/skills", ".claude/.cc-writes"],
                &[".claude", ".claude/skills"],
            ),
        ] {
            let (_folder, project) = folder();
            for name in before {
                make(&project.join(name));
            }

            let staging = StagingFolders::record(&project);
            make(&project.join(".claude/.cc-writes"));
            staging.remove();

            let names = [".claude", ".claude/skills", ".claude/.cc-writes"];
            let left: Vec<_> = names
                .into_iter()
                .filter(|name| project.join(name).exists())
                .collect();
            assert_eq!(left, after, "{before:?}");
        }
    }

    #[test]
    fn files_are_never_removed() {
        let (_folder, project) = folder();

        let staging = StagingFolders::record(&project);
        make(&project.join(".claude/.cc-writes"));
        let files = [".claude/.cc-writes/a", ".claude/notes.md"].map(|name| project.join(name));
        for file in &files {
            fs::write(file, "kept").expect("writable");
        }
        staging.remove();

        assert!(files.iter().all(|file| file.exists()));
    }

    #[test]
    fn staging_folders_of_the_repository_are_removed() {
        let (_folder, base) = folder();
        let (main, worktree) = (base.join("main"), base.join("other"));
        make(&main.join(".git/worktrees/other"));
        make(&worktree.join("deep/project"));
        fs::write(main.join(".git/worktrees/other/commondir"), "../..\n").expect("writable");
        let data = main.join(".git/worktrees/other");
        fs::write(
            worktree.join(".git"),
            format!("gitdir: {}\n", data.display()),
        )
        .expect("writable");

        let staging = StagingFolders::record(&worktree.join("deep/project"));
        let made = [&main, &worktree, &worktree.join("deep/project")];
        for root in made {
            make(&root.join(".claude/.cc-writes"));
        }
        staging.remove();

        assert!(!made.iter().any(|root| root.join(".claude").exists()));
        assert!(main.join(".git").exists());
    }
}
