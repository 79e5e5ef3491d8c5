//! Workspace snapshots of the files of a project.

use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use autonoe_core::run::{Workspace, WorkspaceSnapshot};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::head_commit::head_commit;

/// Files with ignore rules. Of two in one directory, the later one has precedence.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// Maximum number of bytes read from an ignore file.
const IGNORE_FILE_BYTES: u64 = 1024 * 1024;

/// Names that are not part of the work: directories of tools, and notes between sessions.
const SKIPPED: [&str; 4] = [".git", ".autonoe", ".autonoe-note.md", ".harness"];

/// Maximum number of files in a workspace snapshot.
const MAX_FILES: usize = 200_000;

/// The files of a project, for a run that stops when its sessions change nothing.
///
/// A file counts as changed when its size, its modification time or its permissions change; no
/// content is read. A new checked-out commit counts, too. Files that `.gitignore` names do not
/// count, nor do `.autonoe-note.md` and files in `.git`, `.autonoe` and `.harness`. Symlinks are
/// not followed.
///
/// ```
/// use autonoe_core::run::Workspace;
/// use autonoe_harness::progress::ProjectFiles;
///
/// let project = tempfile::tempdir()?;
/// let files = ProjectFiles::new(project.path());
/// let before = files.snapshot()?;
/// std::fs::write(project.path().join("main.rs"), "fn main() {}")?;
///
/// assert_ne!(files.snapshot()?, before);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProjectFiles {
    root: PathBuf,
    max_files: usize,
}

impl ProjectFiles {
    /// Covers the files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            max_files: MAX_FILES,
        }
    }
}

impl Workspace for ProjectFiles {
    /// Fails if the directory cannot be read, or if it has more than 200,000 files that count.
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut files = 0_u64;
        walk(&self.root, self.max_files, &mut |path, metadata| {
            let path = path.strip_prefix(&self.root).unwrap_or(path);
            let modified = (metadata.mtime(), metadata.mtime_nsec());
            let state = (path, metadata.len(), modified, metadata.mode());
            // The sum does not depend on the order in which a directory lists its files.
            files = files.wrapping_add(hasher.hash_one(state));
            Ok(())
        })?;
        Ok(WorkspaceSnapshot::new(&(files, head_commit(&self.root))))
    }
}

/// Calls `visit` for every entry below `root` that is not a directory and not ignored.
///
/// Entries that disappear meanwhile and unreadable directories are left out. Symlinks are
/// visited and not followed. Ignore files that are not regular files have no effect: opening a FIFO
/// would block forever.
///
/// # Errors
///
/// `root` cannot be read, there are more than `max` files or `max` directories, or `visit` fails.
pub(super) fn walk(
    root: &Path,
    max: usize,
    visit: &mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let mut rules = Vec::new();
    let excluded = root.join(".git/info/exclude");
    rules.extend(read_rules(root, &excluded));
    let mut walk = Walk {
        visit,
        rules,
        max,
        files: 0,
        directories: 0,
    };
    walk.directory(root, fs::read_dir(root)?)
}

/// A running walk.
struct Walk<'a> {
    visit: &'a mut dyn FnMut(&Path, &Metadata) -> io::Result<()>,
    /// The active rules, those of the deepest directory last.
    rules: Vec<Gitignore>,
    max: usize,
    files: usize,
    directories: usize,
}

impl Walk<'_> {
    fn directory(&mut self, path: &Path, entries: fs::ReadDir) -> io::Result<()> {
        self.directories += 1;
        self.check_limit(self.directories, "directories")?;
        let outer_rules = self.rules.len();
        for name in IGNORE_FILES {
            self.rules.extend(read_rules(path, &path.join(name)));
        }
        for entry in entries {
            let Some(entry) = ignore_missing(entry)? else {
                continue;
            };
            let path = entry.path();
            let Some(metadata) = ignore_missing(entry.metadata())? else {
                continue;
            };
            let is_skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
            if is_skipped || self.is_ignored(&path, metadata.is_dir()) {
                continue;
            }
            if !metadata.is_dir() {
                self.files += 1;
                self.check_limit(self.files, "files")?;
                ignore_missing((self.visit)(&path, &metadata))?;
            } else if let Some(entries) = ignore_missing(fs::read_dir(&path))? {
                self.directory(&path, entries)?;
            }
        }
        self.rules.truncate(outer_rules);
        Ok(())
    }

    /// Returns whether the deepest rule that names `path` ignores it.
    fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        let rules = self.rules.iter().rev();
        let mut matches = rules.map(|rules| rules.matched(path, is_directory));
        let decided = matches.find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }

    fn check_limit(&self, count: usize, items: &str) -> io::Result<()> {
        if count > self.max {
            Err(io::Error::other(format!(
                "there are more than {} {items}",
                self.max
            )))
        } else {
            Ok(())
        }
    }
}

/// Returns the rules of the ignore file at `path` for the files below `directory`, if there is one.
fn read_rules(directory: &Path, path: &Path) -> Option<Gitignore> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(IGNORE_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let mut builder = GitignoreBuilder::new(directory);
    for line in String::from_utf8_lossy(&bytes).lines() {
        // Git skips lines that it does not understand, too.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

/// Returns `None` for an entry that has disappeared, was replaced by another kind, or is
/// unreadable.
fn ignore_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    struct Project(tempfile::TempDir);

    impl Project {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder"))
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.path(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("folders");
            fs::write(path, text).expect("a file");
        }

        fn run(&self, program: &str, arguments: &[&str]) {
            let done = Command::new(program)
                .args(arguments)
                .current_dir(self.0.path())
                .output()
                .expect("the program starts");
            assert!(done.status.success(), "{done:?}");
        }

        fn git(&self, arguments: &[&str]) {
            let author = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
            self.run("git", &[&author, arguments].concat());
        }

        fn snapshot(&self) -> WorkspaceSnapshot {
            let snapshot = ProjectFiles::new(self.0.path()).snapshot();
            snapshot.expect("a snapshot")
        }
    }

    /// A repository with one commit and ignored build output.
    fn repository() -> Project {
        let project = Project::new();
        project.git(&["init", "-q"]);
        project.write("src/main.rs", "fn main() {}\n");
        project.write(".gitignore", "target/\n*.log\n!kept.log\n");
        project.git(&["add", "."]);
        project.git(&["commit", "-qm", "start"]);
        project.write("target/out", "1");
        project.write(".autonoe/journal.jsonl", "1");
        project
    }

    /// A change of a project, with its name.
    type Change = (&'static str, fn(&Project));

    #[test]
    fn changes_of_the_project_are_detected() {
        let changes: [Change; 9] = [
            ("a new file", |it| it.write("src/new.rs", "")),
            ("a changed file", |it| it.write("src/main.rs", "changed")),
            ("a removed file", |it| {
                fs::remove_file(it.path("src/main.rs")).expect("removed");
            }),
            ("a renamed file", |it| {
                fs::rename(it.path("src/main.rs"), it.path("src/lib.rs")).expect("renamed");
            }),
            ("a hidden file", |it| it.write(".config/settings", "1")),
            ("a file that is not ignored after all", |it| {
                it.write("kept.log", "1");
            }),
            ("a script made executable", |it| {
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(it.path("src/main.rs"), mode).expect("allowed");
            }),
            ("a symlink", |it| {
                symlink("src", it.path("link")).expect("linked");
            }),
            ("a commit without a changed file", |it| {
                it.git(&["commit", "-q", "--allow-empty", "-m", "empty"]);
            }),
        ];
        for (description, change) in changes {
            let project = repository();
            let before = project.snapshot();

            change(&project);

            assert_ne!(project.snapshot(), before, "{description}");
        }
    }

    #[test]
    fn other_changes_do_not_count() {
        let changes: [Change; 9] = [
            ("nothing", |_| {}),
            ("notes", |it| it.write(".autonoe-note.md", "Nothing works.")),
            ("ignored files", |it| {
                it.write("target/deep/out", "1");
                it.write("a.log", "1");
            }),
            ("the project's state", |it| {
                it.write(".autonoe/journal.jsonl", "longer than before");
            }),
            ("git's own files", |it| {
                it.git(&["gc", "-q"]);
                it.git(&["config", "core.editor", "true"]);
            }),
            ("another name for the same commit", |it| {
                it.git(&["checkout", "-qb", "other"]);
            }),
            ("an empty directory", |it| {
                fs::create_dir(it.path("empty")).expect("created");
            }),
            ("a file that git does not track in this clone", |it| {
                it.write("notes/today", "1");
            }),
            ("files behind a symlink", |it| {
                it.write("target/behind", "longer than before");
            }),
        ];
        for (description, change) in changes {
            let project = repository();
            project.write(".git/info/exclude", "notes/\n");
            symlink("target", project.path("link")).expect("linked");
            let before = project.snapshot();

            change(&project);

            assert_eq!(project.snapshot(), before, "{description}");
        }
    }

    #[test]
    fn a_project_without_a_repository_and_one_inside_a_repository_work() {
        let project = Project::new();
        project.write("a", "1");
        let before = project.snapshot();
        project.write("b", "1");
        assert_ne!(project.snapshot(), before);

        let outer = repository();
        outer.write("inner/a", "1");
        let inner = ProjectFiles::new(outer.path("inner"));
        let before = inner.snapshot().expect("a snapshot");
        outer.git(&["add", "."]);
        outer.git(&["commit", "-qm", "inner"]);
        assert_ne!(inner.snapshot().expect("a snapshot"), before);
    }

    #[test]
    fn special_files_and_unreadable_directories_do_not_fail_a_snapshot() {
        let project = repository();
        project.run("mkfifo", &["pipe"]);
        fs::remove_file(project.path(".gitignore")).expect("removed");
        project.run("mkfifo", &[".gitignore"]);
        symlink("/dev/zero", project.path("src/.gitignore")).expect("linked");
        symlink(".", project.path("loop")).expect("linked");
        fs::create_dir(project.path("closed")).expect("created");
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(project.path("closed"), closed).expect("allowed");

        assert_eq!(project.snapshot(), project.snapshot());
    }

    #[test]
    fn a_missing_directory_and_too_many_files_are_errors() {
        let project = Project::new();
        project.write("a/one", "1");
        project.write("b/two", "1");
        let missing = ProjectFiles::new(project.path("gone")).snapshot();
        assert!(missing.is_err(), "{missing:?}");

        for (max_files, fits) in [(2, false), (3, true)] {
            let files = ProjectFiles {
                root: project.0.path().to_owned(),
                max_files,
            };
            // Three directories, the root among them.
            assert_eq!(files.snapshot().is_ok(), fits, "{max_files}");
        }
    }

    #[test]
    fn files_that_disappear_during_a_walk_do_not_fail_it() {
        let project = Project::new();
        let mut visit = |path: &Path, _: &Metadata| {
            // All other entries disappear when the walk visits its first file.
            for entry in fs::read_dir(project.0.path()).expect("readable") {
                let other = entry.expect("an entry").path();
                if !path.starts_with(&other) {
                    fs::remove_dir_all(&other).expect("removed");
                }
            }
            Err(io::ErrorKind::NotFound.into())
        };
        for name in ["a", "b", "c", "d"] {
            project.write(&format!("{name}/file"), "1");
        }

        let walked = walk(project.0.path(), 100, &mut visit);

        assert!(walked.is_ok(), "{walked:?}");
    }
}
