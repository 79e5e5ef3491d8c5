//! The folder of the installed CLIs.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

use super::npm::Npm;
use super::pins::Pin;
use super::version;

/// Prefix of folders with an incomplete installation.
const INCOMING: &str = ".incoming-";

/// The folder of all CLIs, held by this process alone.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Another process that installs waits until this is closed.
    _lock: File,
}

/// Result of the installation of one CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    AlreadyInstalled,
    Installed,
}

impl Folder {
    /// Opens the folder. Waits until no other process installs into it.
    pub(super) fn open(path: PathBuf) -> Result<Self, Failure> {
        let lock = fs::create_dir_all(&path)
            .and_then(|()| File::create(path.join(".lock")))
            .and_then(|lock| lock.lock().map(|()| lock))
            .map_err(|source| failed("open", &path, &source))?;
        Ok(Self { path, _lock: lock })
    }

    /// Installs the CLI, unless the right one is there.
    pub(super) fn ensure(&self, pin: &Pin, npm: &Npm) -> Result<State, Failure> {
        let place = self.path.join(pin.folder());
        if version::check(pin, &place).is_ok() {
            return Ok(State::AlreadyInstalled);
        }

        // It has another name until it is complete and its version is checked. The name is new each
        // time: an npm whose xtask was killed may still be at work on an old one.
        self.remove_leftovers()?;
        let name = format!("{INCOMING}{}-{}", pin.folder(), std::process::id());
        let incoming = self.path.join(name);
        fs::create_dir(&incoming).map_err(|source| failed("make", &incoming, &source))?;
        let installed = npm.fetch(pin, &incoming).and_then(|package| {
            version::check(pin, &package)?;
            remove(&place)?;
            fs::rename(&package, &place).map_err(|source| failed("fill", &place, &source))
        });
        let tidied = remove(&incoming);
        installed.and(tidied).map(|()| State::Installed)
    }

    /// Removes what killed processes were about to install.
    fn remove_leftovers(&self) -> Result<(), Failure> {
        let entries =
            fs::read_dir(&self.path).map_err(|source| failed("list", &self.path, &source))?;
        let left = entries.flatten().map(|entry| entry.path());
        left.filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(INCOMING)
        })
        .try_for_each(|path| remove(&path))
    }
}

/// Removes a folder with all that is in it, if it is there.
fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(failed("remove", path, &source))
        }
        _ => Ok(()),
    }
}

fn failed(action: &str, path: &Path, source: &io::Error) -> Failure {
    Failure::new(format!("cannot {action} {}: {source}", path.display()))
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AlreadyInstalled => "already installed",
            Self::Installed => "installed",
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::super::pins;
    use super::*;

    /// A folder, and beside it programs that play npm and count how often they are asked.
    struct Fixture {
        dir: tempfile::TempDir,
        pin: Pin,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory can be made");
            let pin = pins::for_platform("linux", "x86_64").expect("it is known")[0];
            Self { dir, pin }
        }

        fn folder(&self) -> Folder {
            Folder::open(self.dir.path().join("clis")).expect("it can be made")
        }

        /// An npm that does this in the folder of the package.
        fn npm(&self, does: &str) -> Npm {
            let package = format!("node_modules/{}", self.pin.package);
            let count = self.dir.path().join("fetched");
            let count = count.display();
            let text = format!(
                "#!/bin/sh\n[ \"$1\" = ci ] || exit 0\necho >> '{count}'\n\
                 mkdir -p '{package}' && cd '{package}' || exit 9\n{does}\n"
            );
            let program = self.dir.path().join("npm");
            write_program(&program, &text);
            Npm::at(program)
        }

        fn fetched(&self) -> usize {
            let count = fs::read_to_string(self.dir.path().join("fetched"));
            count.unwrap_or_default().lines().count()
        }

        /// Returns what lies in the folder, but for the lock.
        fn left(&self) -> Vec<String> {
            let entries = fs::read_dir(self.dir.path().join("clis")).expect("it is there");
            let names = entries.map(|entry| entry.expect("it can be read").file_name());
            let names = names.map(|name| name.to_string_lossy().into_owned());
            names.filter(|name| name != ".lock").collect()
        }
    }

    /// Lets a shell write the program: a file that this process has open for writing, be it
    /// in a child that another test is about to start, cannot be run.
    fn write_program(path: &Path, text: &str) {
        let script = r#"printf %s "$2" > "$1" && chmod +x "$1""#;
        let mut shell = Command::new("sh");
        let written = shell
            .args(["-c", script, "sh"])
            .arg(path)
            .arg(text)
            .status();
        assert!(written.expect("there is a shell").success());
    }

    /// Writes a `claude` of this version, in shell.
    fn brings(version: &str) -> String {
        format!(
            "printf '#!/bin/sh\\necho \"{version} (Claude Code)\"\\n' > claude && chmod +x claude"
        )
    }

    #[test]
    fn correct_installation_is_not_fetched_again() {
        let fixture = Fixture::new();
        let (folder, npm) = (fixture.folder(), fixture.npm(&brings("2.1.197")));

        assert_eq!(folder.ensure(&fixture.pin, &npm), Ok(State::Installed));
        assert_eq!(
            folder.ensure(&fixture.pin, &npm),
            Ok(State::AlreadyInstalled)
        );

        assert_eq!(fixture.fetched(), 1);
        assert_eq!(fixture.left(), ["claude-code-2.1.197"]);
    }

    #[test]
    fn a_broken_download_leaves_nothing() {
        let fixture = Fixture::new();
        let npm = fixture.npm(&format!(
            "{}\necho 'npm error code ENOTFOUND' >&2; exit 1",
            brings("2.1.197")
        ));

        let message = fixture
            .folder()
            .ensure(&fixture.pin, &npm)
            .unwrap_err()
            .to_string();

        assert!(
            message.contains("the registry cannot be reached"),
            "{message}"
        );
        assert_eq!(fixture.left(), Vec::<String>::new());
    }

    #[test]
    fn another_version_than_the_pinned_is_not_installed() {
        let fixture = Fixture::new();
        let npm = fixture.npm(&brings("2.1.198"));

        let message = fixture
            .folder()
            .ensure(&fixture.pin, &npm)
            .unwrap_err()
            .to_string();

        let prints = r#"claude --version prints "2.1.198 (Claude Code)""#;
        assert!(message.contains(prints), "{message}");
        assert!(
            message.ends_with("claude-code-linux-x64 2.1.197 is pinned"),
            "{message}"
        );
        assert_eq!(fixture.left(), Vec::<String>::new());
    }

    #[test]
    fn wrong_installation_is_replaced_after_a_successful_fetch() {
        let fixture = Fixture::new();
        let folder = fixture.folder();
        let place = fixture.dir.path().join("clis/claude-code-2.1.197");
        fs::create_dir(&place).expect("it can be made");
        write_program(&place.join("claude"), "#!/bin/sh\nexit 1\n");

        assert!(folder.ensure(&fixture.pin, &fixture.npm("exit 1")).is_err());
        assert!(place.exists(), "nothing better has come");

        let state = folder.ensure(&fixture.pin, &fixture.npm(&brings("2.1.197")));
        assert_eq!(state, Ok(State::Installed));
        assert!(version::check(&fixture.pin, &place).is_ok());
    }

    #[test]
    fn leftovers_of_a_killed_run_are_removed() {
        let fixture = Fixture::new();
        let folder = fixture.folder();
        let half = fixture
            .dir
            .path()
            .join("clis/.incoming-claude-code-2.1.197-1");
        fs::create_dir_all(half.join("node_modules")).expect("it can be made");
        fs::write(half.join("node_modules/half"), "").expect("it can be written");

        let state = folder.ensure(&fixture.pin, &fixture.npm(&brings("2.1.197")));

        assert_eq!(state, Ok(State::Installed));
        assert_eq!(fixture.left(), ["claude-code-2.1.197"]);
    }

    #[test]
    fn only_one_process_installs_at_a_time() {
        let fixture = Fixture::new();
        let _held = fixture.folder();

        let other = File::open(fixture.dir.path().join("clis/.lock")).expect("it is there");

        assert!(other.try_lock().is_err());
    }
}
