//! Folder and process marker of a session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::TraceContext;
use autonoe_core::project::write_new_file;
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::{InvalidMarker, Launch, Marker, SessionFolder, refuse_bare_repositories};

/// The environment variable that marks every process of a session.
const MARKER: &str = "AUTONOE_AGENT_SESSION";

/// The folder of a session, and the marker of all processes that are started for it.
///
/// The folder is removed with the [`Launch`] that is built from it, or when this is dropped. The
/// marker is unique because it is the name of the folder.
///
/// ```
/// use std::fs;
///
/// use autonoe_backend::SessionDirectory;
///
/// # let temporary = tempfile::tempdir()?;
/// let session_dir = SessionDirectory::create(temporary.path(), "example-", |folder| {
///     fs::create_dir(folder.join("home"))
/// })?;
/// let prompt = session_dir.write("prompt.md", "Be brief.")?;
///
/// assert!(prompt.starts_with(session_dir.path()));
/// assert!(!session_dir.temporary().starts_with(session_dir.path()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SessionDirectory {
    folder: SessionFolder,
    marker: Marker,
}

impl SessionDirectory {
    /// Creates a folder for files of the session below the [`SessionParent`] of `temporary`, with a
    /// name that begins with `prefix`. `furnish` then creates the files that the program reads from
    /// it.
    ///
    /// Agents never write there. Their temporary files go to [`temporary`](Self::temporary).
    ///
    /// [`SessionParent`]: autonoe_process::SessionParent
    ///
    /// # Errors
    ///
    /// The folder cannot be created or filled, or the parent belongs to another user.
    pub fn create(
        temporary: &Path,
        prefix: &str,
        furnish: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<Self, AgentError> {
        let create_folder = || {
            let folder = SessionFolder::create_in(temporary, prefix)?;
            furnish(folder.path())?;
            Ok(folder)
        };
        let folder = create_folder().map_err(|error| folder_error(temporary, error))?;
        let marker = marker_of(&folder).map_err(|error| {
            AgentError::new(
                AgentErrorKind::Other,
                "the processes of the session cannot be marked",
            )
            .with_source(error)
        })?;
        Ok(Self { folder, marker })
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder for temporary files of the agent, for `TMPDIR`. It is outside of
    /// [`path`](Self::path).
    pub fn temporary(&self) -> &Path {
        self.folder.temporary()
    }

    /// Writes a new file in the folder, and returns its path.
    ///
    /// # Errors
    ///
    /// The file exists already, or it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, AgentError> {
        let file = self.path().join(name);
        let temporary = self.path().parent().unwrap_or(Path::new("/"));
        write_new_file(&file, text.as_bytes()).map_err(|error| folder_error(temporary, error))?;
        Ok(file)
    }

    /// Builds the launch of `program` in `directory`. The launch owns the folder.
    pub fn launch(self, program: &Path, directory: &Path) -> Launch {
        Launch::new(program, directory, self.marker).folder(self.folder)
    }
}

/// Returns the marker of the session of a folder, which is the name of the folder.
pub(super) fn marker_of(folder: &SessionFolder) -> Result<Marker, InvalidMarker> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy())
}

fn folder_error(temporary: &Path, error: io::Error) -> AgentError {
    let message = format!("the folder of a session cannot be created in {temporary:?}");
    AgentError::new(AgentErrorKind::Configuration, message).with_source(error)
}

/// Adds the variables of a session to the environment of its program: the trace, the variables of
/// `spec`, which have priority, and a setting that makes Git ignore planted bare repositories.
pub fn add_session_environment(environment: &mut BTreeMap<OsString, OsString>, spec: &SessionSpec) {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    environment.extend(trace.map(|(name, value)| (name.into(), value.into())));
    let own = spec.environment.iter();
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    refuse_bare_repositories(environment);
}

/// Time limit for killing the processes that a killed host left running.
const LIMIT: Duration = Duration::from_secs(5);

/// Kills the processes that killed hosts left running, and removes the folders of their sessions in
/// `temporary` whose names begin with `prefix`.
///
/// Failures are logged. They do not prevent a session from starting.
pub(crate) async fn remove_abandoned_sessions(temporary: &Path, prefix: &'static str) {
    let temporary = temporary.to_owned();
    let _ = tokio::task::spawn_blocking(move || sweep_now(&temporary, prefix)).await;
}

fn sweep_now(temporary: &Path, prefix: &str) {
    let abandoned = match SessionFolder::abandoned_in(temporary, prefix) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "the search for leftover session folders failed");
            return;
        }
    };
    for folder in abandoned {
        let path = folder.path().display();
        let Ok(marker) = marker_of(&folder) else {
            continue;
        };
        let swept = marker.kill_all(LIMIT);
        tracing::info!(%path, killed = swept.killed.len(), "removed the session of a killed host");
        if !swept.left.is_empty() {
            tracing::error!(left = ?swept.left, "processes of a killed host are still running");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use autonoe_process::SessionParent;

    use super::*;

    #[test]
    fn an_error_names_a_folder_that_cannot_be_created() {
        let error = SessionDirectory::create(Path::new("/nowhere/at/all"), "x-", |_| Ok(()))
            .expect_err("there is no such place");

        assert_eq!(error.kind(), AgentErrorKind::Configuration);
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }

    #[test]
    fn removes_a_session_directory_that_cannot_be_set_up() {
        let temporary = tempfile::tempdir().expect("a folder");

        let created =
            SessionDirectory::create(temporary.path(), "x-", |_| Err(io::Error::other("no")));

        assert!(created.is_err());
        let parent = SessionParent::in_directory(temporary.path());
        let entries = |path: &Path| fs::read_dir(path).expect("it is there").count();
        assert_eq!(entries(&parent.sessions()), 0);
        assert_eq!(entries(temporary.path()), 1, "only the parent stays");
    }
}
