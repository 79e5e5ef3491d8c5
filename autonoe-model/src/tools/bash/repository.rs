//! [`Repository`]: protects the workspace's git hooks and configuration from commands.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use autonoe_process::OsSandbox;

/// Entry of the workspace that is its repository, or refers to it.
pub(super) const NAME: &str = ".git";

/// Directory of programs that git runs by itself. Missing entries are created empty, which is the
/// same to git, so that no command can create them.
const HOOKS: &str = "hooks";
const CONFIG: &str = "config";

/// Hooks and configuration of submodules and additional worktrees.
const NESTED: [&str; 2] = ["modules", "worktrees"];

/// File that redirects git to hooks and configuration elsewhere.
const REDIRECTION: &str = "commondir";

/// Repository of a workspace. Commands must not change anything that makes git run programs,
/// because a user would run these outside of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    directory: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Missing, or a link. A link cannot be protected, because the entry can be replaced.
    Nothing,
    /// A file that refers to a directory elsewhere, as in additional worktrees and submodules.
    File,
    /// A regular git directory.
    Plain,
    /// A directory with links that cannot be protected, or with a redirection.
    Unusual,
}

impl Repository {
    /// Inspects the repository of the workspace `root`.
    pub(super) fn inspect(root: &Path) -> Self {
        let directory = root.join(NAME);
        let kind = kind_of(&directory);
        Self { directory, kind }
    }

    /// Makes everything that lets git run programs read-only. The rest of the repository stays
    /// writable, so that commands can commit.
    pub(super) fn guard(&self, sandbox: OsSandbox) -> OsSandbox {
        match self.kind {
            Kind::Nothing => sandbox,
            Kind::File | Kind::Unusual => sandbox.read_only(&self.directory),
            Kind::Plain => {
                let others = NESTED
                    .iter()
                    .map(|name| self.directory.join(name))
                    .filter(|path| path.is_dir());
                let own = [HOOKS, CONFIG].map(|name| self.directory.join(name));
                // As a mount point, the directory cannot be moved away with its content.
                let sandbox = sandbox.writable(&self.directory);
                own.into_iter()
                    .chain(others)
                    .fold(sandbox, OsSandbox::read_only)
            }
        }
    }

    /// Removes a redirection that a command has created. Returns whether there was one. Its
    /// creation cannot be prevented, because git must not find any file there.
    pub(super) fn clean_up(&self) -> io::Result<bool> {
        if self.kind != Kind::Plain {
            return Ok(false);
        }
        match fs::remove_file(self.directory.join(REDIRECTION)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn kind_of(directory: &Path) -> Kind {
    match type_of(directory) {
        Some(kind) if kind.is_file() => Kind::File,
        Some(kind) if kind.is_dir() => {
            if is_plain(directory) {
                Kind::Plain
            } else {
                Kind::Unusual
            }
        }
        _ => Kind::Nothing,
    }
}

/// Returns whether all entries to protect are regular. Creates missing ones.
fn is_plain(directory: &Path) -> bool {
    let hooks = directory.join(HOOKS);
    let config = directory.join(CONFIG);
    // An entry that was created concurrently is checked below.
    let _ = fs::create_dir(&hooks);
    let _ = File::create_new(&config);
    let is_directory = |path: &Path| type_of(path).is_some_and(|kind| kind.is_dir());
    let is_nothing_else = |path: &Path| type_of(path).is_none_or(|kind| kind.is_dir());
    is_directory(&hooks)
        && type_of(&config).is_some_and(|kind| kind.is_file())
        && NESTED
            .iter()
            .all(|name| is_nothing_else(&directory.join(name)))
        && type_of(&directory.join(REDIRECTION)).is_none()
}

/// Returns the type of `path` itself, without following a link.
fn type_of(path: &Path) -> Option<FileType> {
    let found = path.symlink_metadata().ok()?;
    Some(found.file_type())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn kind(make: impl FnOnce(&Path) -> io::Result<()>) -> Kind {
        let root = tempfile::tempdir().expect("a folder");
        make(root.path()).expect("writable");
        Repository::inspect(root.path()).kind
    }

    #[test]
    fn repositories_are_classified_by_their_entries() {
        let with_link = |name: &'static str| {
            move |root: &Path| {
                fs::create_dir(root.join(".git"))?;
                symlink("..", root.join(".git").join(name))
            }
        };
        assert_eq!(kind(|_| Ok(())), Kind::Nothing);
        assert_eq!(kind(|root| symlink("x", root.join(".git"))), Kind::Nothing);
        assert_eq!(
            kind(|root| fs::write(root.join(".git"), "gitdir: ../x")),
            Kind::File
        );
        assert_eq!(kind(|root| fs::create_dir(root.join(".git"))), Kind::Plain);
        for name in ["hooks", "config", "modules", "worktrees", "commondir"] {
            assert_eq!(kind(with_link(name)), Kind::Unusual, "{name}");
        }
    }
}
