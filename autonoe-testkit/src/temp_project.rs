//! [`TempProject`]: a project directory that is removed after the test.

use std::fmt::Display;
use std::fs;
use std::path::{Component, Path};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::LedgerState;
use autonoe_core::project::{FileDeliverableRepository, Journal};
use autonoe_core::{DeliverableRepository, Project};

/// A temporary project directory with a `SPEC.md`; it is removed when this is dropped.
///
/// All methods panic on I/O errors, because a test cannot continue then.
///
/// ```
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::project::OpenProject;
/// use autonoe_core::{ProjectRun, RunControl};
/// use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let project = TempProject::new()
///     .spec("# A shop\n\nA user can log in.\n")
///     .config(json!({"permissions": {"allow": ["WebFetch(domain:docs.rs)"]}}))
///     .instruction(&InstructionName::Initializer, "Plan what SPEC.md asks for.");
/// let script = SessionScript::new("plans")
///     .expects_in_prompt("Plan what SPEC.md asks for.")
///     .uses_tool("WebFetch", json!({"url": "https://docs.rs/tokio"}))
///     .uses_tool("mcp__autonoe__create", json!({"deliverables": [
///         {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
///     ]}))
///     .ends();
///
/// let options = OpenProject::options(project.project()).clock(VirtualClock::new());
/// ProjectRun::new(options, ScriptedBackend::new([script]))
///     .configure(|runner| runner.max_iterations(1))
///     .run(&RunControl::new())
///     .await?;
///
/// let state = project.ledger().expect("it was saved");
/// assert_eq!(state.ledger.deliverables()[0].id().as_str(), "DL-001");
/// assert_eq!(project.journal().run_histories()[0].sessions, 1);
/// # Ok::<(), autonoe_core::project::ProjectRunError>(())
/// # }).expect("it starts");
/// ```
#[derive(Debug)]
pub struct TempProject {
    project: Project,
    /// Removes the directory when it is dropped.
    _directory: tempfile::TempDir,
}

impl TempProject {
    /// Creates a project with an unspecific spec.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let project = Project::find(directory.path(), None).expect("it was just made");
        Self {
            project,
            _directory: directory,
        }
        .spec("# A project\n")
    }

    /// Writes `SPEC.md`.
    #[must_use]
    pub fn spec(self, text: impl Display) -> Self {
        self.file("SPEC.md", text)
    }

    /// Writes the settings, `.autonoe/agent.json`: as JSON or, to test a bad file, as any text.
    #[must_use]
    pub fn config(self, config: impl Display) -> Self {
        self.file(".autonoe/agent.json", config)
    }

    /// Writes the ledger, `.autonoe/status.json`: as JSON or, to test a bad file, as any text.
    #[must_use]
    pub fn status(self, status: impl Display) -> Self {
        self.file(".autonoe/status.json", status)
    }

    /// Writes a text that replaces a built-in instruction, for example `.autonoe/coding.md`.
    #[must_use]
    pub fn instruction(self, name: &InstructionName, text: impl Display) -> Self {
        self.file(format!(".autonoe/{name}.md"), text)
    }

    /// Writes any file and creates its parent folders.
    ///
    /// # Panics
    ///
    /// If `path` leads out of the project, or the file cannot be written.
    #[must_use]
    pub fn file(self, path: impl AsRef<Path>, text: impl Display) -> Self {
        let path = self.inside(path.as_ref());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        }
        fs::write(&path, text.to_string()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        self
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Returns the directory, absolute and without symlinks.
    pub fn path(&self) -> &Path {
        self.project.root()
    }

    /// Returns the content of a file of the project.
    ///
    /// # Panics
    ///
    /// If `path` leads out of the project, or there is no such text file.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.inside(path.as_ref());
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    }

    /// Returns the ledger and the verification progress, or `None` if nothing was saved.
    ///
    /// # Panics
    ///
    /// If the file is not a ledger.
    pub fn ledger(&self) -> Option<LedgerState> {
        let repository = FileDeliverableRepository::from_path(self.project.status_path());
        // On a separate thread, because a test may already be inside a runtime.
        let loaded = std::thread::scope(|scope| {
            let load = || {
                tokio::runtime::Builder::new_current_thread()
                    .build()
                    .expect("a runtime can be made")
                    .block_on(repository.load())
            };
            scope.spawn(load).join()
        });
        let loaded = loaded.expect("loading does not panic");
        loaded
            .unwrap_or_else(|error| panic!("{error}"))
            .map(|saved| saved.state)
    }

    /// Returns the journal; it is empty if nothing was recorded.
    ///
    /// # Panics
    ///
    /// If the file is not a journal.
    pub fn journal(&self) -> Journal {
        Journal::read(&self.project.journal_path()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the text of the journal file, to compare it byte for byte.
    ///
    /// # Panics
    ///
    /// If there is no journal, or it is not text.
    pub fn journal_text(&self) -> String {
        self.read(".autonoe/journal.jsonl")
    }

    fn inside(&self, path: &Path) -> std::path::PathBuf {
        let stays = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        assert!(stays, "{path:?} is outside the project");
        self.path().join(path)
    }
}

impl Default for TempProject {
    fn default() -> Self {
        Self::new()
    }
}
