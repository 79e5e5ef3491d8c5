//! What commands do not write of the repository that the workspace is.

use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use autonoe_process::OsSandbox;

/// The entry of the workspace that its repository is, or leads to.
pub(super) const NAME: &str = ".git";

/// Where git looks for programs that it runs by itself: those of this repository. They are made if
/// they are not there, empty as git takes them for then, so that nobody else makes them.
const HOOKS: &str = "hooks";
const CONFIG: &str = "config";

/// The same of submodules and of further working trees.
const OF_OTHERS: [&str; 2] = ["modules", "worktrees"];

/// It says that hooks and configuration are elsewhere.
const ELSEWHERE: &str = "commondir";

/// The repository of a workspace, of which commands must not change what makes git run programs:
/// outside of the sandbox, a person would run them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    directory: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There is none, or a link. A link cannot be guarded: it is an entry that can be replaced.
    Nothing,
    /// A file that names a directory elsewhere, as in further working trees and submodules.
    File,
    /// A directory as git makes it.
    Plain,
    /// A directory with links where they cannot be guarded, or that leads elsewhere.
    Unusual,
}

impl Repository {
    /// Looks what the workspace `root` has.
    pub(super) fn of(root: &Path) -> Self {
        let directory = root.join(NAME);
        let kind = kind_of(&directory);
        Self { directory, kind }
    }

    /// Keeps commands from what makes git run programs. What else is in the repository stays
    /// writable, so that they can commit.
    pub(super) fn guard(&self, sandbox: OsSandbox) -> OsSandbox {
        match self.kind {
            Kind::Nothing => sandbox,
            Kind::File | Kind::Unusual => sandbox.read_only(&self.directory),
            Kind::Plain => {
                let others = OF_OTHERS.iter().map(|name| self.directory.join(name));
                let others = others.filter(|path| path.is_dir());
                let own = [HOOKS, CONFIG].map(|name| self.directory.join(name));
                // It cannot be moved away then, with all that is in it.
                let sandbox = sandbox.writable(&self.directory);
                own.into_iter()
                    .chain(others)
                    .fold(sandbox, OsSandbox::read_only)
            }
        }
    }

    /// Takes away what a command has made that would lead git elsewhere, and tells whether there
    /// was something. It cannot be kept from being made: git must not find anything there.
    pub(super) fn clean_up(&self) -> io::Result<bool> {
        if self.kind != Kind::Plain {
            return Ok(false);
        }
        match fs::remove_file(self.directory.join(ELSEWHERE)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn kind_of(directory: &Path) -> Kind {
    match type_of(directory) {
        Some(kind) if kind.is_file() => Kind::File,
        Some(kind) if kind.is_dir() => match is_plain(directory) {
            true => Kind::Plain,
            false => Kind::Unusual,
        },
        _ => Kind::Nothing,
    }
}

/// Tells whether all that is to be guarded can be. What is missing is made.
fn is_plain(directory: &Path) -> bool {
    let hooks = directory.join(HOOKS);
    let config = directory.join(CONFIG);
    // Whoever has made them in between has made something that is looked at next.
    let _ = fs::create_dir(&hooks);
    let _ = File::create_new(&config);
    let is_directory = |path: &Path| type_of(path).is_some_and(|kind| kind.is_dir());
    let is_nothing_else = |path: &Path| type_of(path).is_none_or(|kind| kind.is_dir());
    is_directory(&hooks)
        && type_of(&config).is_some_and(|kind| kind.is_file())
        && OF_OTHERS
            .iter()
            .all(|name| is_nothing_else(&directory.join(name)))
        && type_of(&directory.join(ELSEWHERE)).is_none()
}

/// Returns what is at `path` itself, and not where a link there leads.
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
        Repository::of(root.path()).kind
    }

    #[test]
    fn what_cannot_be_guarded_entry_by_entry_is_known() {
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
