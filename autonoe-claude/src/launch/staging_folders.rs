//! [`StagingFolders`] and mount points that the program leaves in projects.

use std::fs;
use std::path::{Path, PathBuf};

use super::git_excludes::{is_mount_point, remove_mount_points};

/// The folder with the program's settings of a project.
const SETTINGS: &str = ".claude";

/// The folder in it that the program creates before it runs a command in its sandbox.
const STAGING: &str = ".cc-writes";

/// The staging folders of one session: in its directory and in the repository around it.
///
/// The program creates them and leaves them behind. Empty staging folders are removed. The settings
/// folder is removed only if the session started without it, or if it held nothing else.
/// Mount points of commands that were killed are removed in the directory of the session alone: in
/// the repository around it, another session may use them.
pub(crate) struct StagingFolders {
    directory: PathBuf,
    roots: Vec<Root>,
}

struct Root {
    settings: PathBuf,
    /// Whether the settings folder holds nothing of the user.
    is_disposable: bool,
}

impl StagingFolders {
    /// Records the settings folders that exist before a session in `directory` starts.
    pub(crate) fn record(directory: &Path) -> Self {
        let mut roots = vec![directory.to_owned()];
        roots.extend(repository_roots(directory));
        roots.dedup();
        let record = |root: PathBuf| {
            let settings = root.join(SETTINGS);
            let is_disposable = is_disposable(&settings);
            Root {
                settings,
                is_disposable,
            }
        };
        Self {
            directory: directory.to_owned(),
            roots: roots.into_iter().map(record).collect(),
        }
    }

    /// Removes the folders that the program left, after its exit.
    pub(crate) fn remove(self) {
        remove_mount_points(&self.directory);
        for Root {
            settings,
            is_disposable,
        } in self.roots
        {
            // A link may lead to a folder of another project. Folders that are not empty stay.
            if !fs::symlink_metadata(&settings).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            let _ = fs::remove_dir(settings.join(STAGING));
            if is_disposable {
                let _ = fs::remove_dir(&settings);
            }
        }
    }
}

/// Returns whether the settings folder does not exist, or contains only leftovers of the program.
fn is_disposable(settings: &Path) -> bool {
    if fs::symlink_metadata(settings).is_err() {
        return true;
    }
    let Ok(entries) = fs::read_dir(settings) else {
        return false;
    };
    let mut entries = entries.flatten().peekable();
    let is_left =
        |entry: fs::DirEntry| entry.file_name() == STAGING || is_mount_point(&entry.path());
    entries.peek().is_some() && entries.all(is_left)
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
    // In a linked worktree, `.git` is a file with the path of the worktree's data.
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
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("it is there");
        (folder, path)
    }

    fn create(path: &Path) {
        fs::create_dir_all(path).expect("writable");
    }

    #[test]
    fn only_folders_that_the_program_left_are_removed() {
        for (before, after) in [
            (&[][..], &[][..]),
            // Left by a killed session.
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
                create(&project.join(name));
            }

            let staging = StagingFolders::record(&project);
            create(&project.join(".claude/.cc-writes"));
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
    fn mount_points_of_killed_commands_are_removed() {
        let (_folder, project) = folder();
        let mount_points = [".bashrc", ".claude/agents"].map(|name| project.join(name));

        // The second session starts with the leftovers of a killed host.
        for _ in 0..2 {
            create(&project.join(".claude"));
            for path in &mount_points {
                fs::write(path, "").expect("writable");
                let mode = fs::Permissions::from_mode(0o444);
                fs::set_permissions(path, mode).expect("it is ours");
            }
            StagingFolders::record(&project).remove();

            assert_eq!(fs::read_dir(&project).expect("readable").count(), 0);
        }
    }

    #[test]
    fn files_are_never_removed() {
        let (_folder, project) = folder();

        let staging = StagingFolders::record(&project);
        create(&project.join(".claude/.cc-writes"));
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
        create(&main.join(".git/worktrees/other"));
        create(&worktree.join("deep/project"));
        fs::write(main.join(".git/worktrees/other/commondir"), "../..\n").expect("writable");
        let data = main.join(".git/worktrees/other");
        fs::write(
            worktree.join(".git"),
            format!("gitdir: {}\n", data.display()),
        )
        .expect("writable");

        let staging = StagingFolders::record(&worktree.join("deep/project"));
        let roots = [&main, &worktree, &worktree.join("deep/project")];
        for root in roots {
            create(&root.join(".claude/.cc-writes"));
        }
        staging.remove();

        assert!(!roots.iter().any(|root| root.join(".claude").exists()));
        assert!(main.join(".git").exists());
    }
}
