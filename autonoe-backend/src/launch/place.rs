//! The folder of a session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::{AgentError, AgentErrorKind, SessionSpec, TraceContext, write_new_file};
use autonoe_process::{InvalidMarker, Launch, Marker, SessionFolder, refuse_bare_repositories};

/// The variable by which everything that a session starts is found again.
const MARKER: &str = "AUTONOE_AGENT_SESSION";

/// The folder of a session, and the marker of all that is started for it.
///
/// The folder goes with the [`Launch`] that is made of it, or with this; nobody else has the marker,
/// because it is the name of the folder.
///
/// ```
/// use std::fs;
///
/// use autonoe_backend::SessionPlace;
///
/// # let temporary = tempfile::tempdir()?;
/// let place = SessionPlace::furnish(temporary.path(), "example-", |folder| {
///     fs::create_dir(folder.join("home"))
/// })?;
/// let prompt = place.write("prompt.md", "Be brief.")?;
///
/// assert!(prompt.starts_with(place.path()));
/// assert!(!place.temporary().starts_with(place.path()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SessionPlace {
    folder: SessionFolder,
    marker: Marker,
}

impl SessionPlace {
    /// Makes a folder for files of the session below the [`SessionParent`] of `temporary`, with a name
    /// that begins with `prefix`, and lets `furnish` put into it what the program looks for.
    ///
    /// Agents never write there. Their temporary files go to [`temporary`](Self::temporary).
    ///
    /// [`SessionParent`]: autonoe_process::SessionParent
    ///
    /// # Errors
    ///
    /// It cannot be made or furnished, or the parent belongs to another user.
    pub fn furnish(
        temporary: &Path,
        prefix: &str,
        furnish: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<Self, AgentError> {
        let made = || {
            let folder = SessionFolder::create_in(temporary, prefix)?;
            furnish(folder.path())?;
            Ok(folder)
        };
        let folder = made().map_err(|error| no_folder(temporary, error))?;
        let marker = marker_of(&folder).map_err(|error| {
            AgentError::new(AgentErrorKind::Other, "the session cannot be marked").because(error)
        })?;
        Ok(Self { folder, marker })
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder for temporary files of the agent, for `TMPDIR`. It is not in the other one.
    pub fn temporary(&self) -> &Path {
        self.folder.temporary()
    }

    /// Writes a new file in the folder, and returns its path.
    ///
    /// # Errors
    ///
    /// There is one already, or it cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, AgentError> {
        let file = self.path().join(name);
        let temporary = self.path().parent().unwrap_or(Path::new("/"));
        write_new_file(&file, text.as_bytes()).map_err(|error| no_folder(temporary, error))?;
        Ok(file)
    }

    /// Makes the launch of `program` in `directory`, with which the folder goes.
    pub fn launch(self, program: &Path, directory: &Path) -> Launch {
        Launch::new(program, directory, self.marker).folder(self.folder)
    }
}

/// Returns the marker of the session that a folder is for: its name.
pub(super) fn marker_of(folder: &SessionFolder) -> Result<Marker, InvalidMarker> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy())
}

fn no_folder(temporary: &Path, error: io::Error) -> AgentError {
    let message = format!("the folder of a session cannot be made in {temporary:?}");
    AgentError::new(AgentErrorKind::Configuration, message).because(error)
}

/// Adds the variables of a session to the environment of its program: the trace, the variables of
/// `spec`, which have priority, and a setting by which Git ignores planted bare repositories.
pub fn add_session_environment(environment: &mut BTreeMap<OsString, OsString>, spec: &SessionSpec) {
    let trace = spec.trace.iter().flat_map(TraceContext::environment);
    environment.extend(trace.map(|(name, value)| (name.into(), value.into())));
    let own = spec.environment.iter();
    environment.extend(own.map(|(name, value)| (name.into(), value.into())));
    refuse_bare_repositories(environment);
}

/// How long it may take at most to end what a killed host left running.
const LIMIT: Duration = Duration::from_secs(5);

/// Ends what hosts that were killed left running, and removes the folders of their sessions in
/// `temporary` whose names begin with `prefix`.
///
/// Failures are logged: they do not keep a session from starting.
pub async fn sweep(temporary: &Path, prefix: &'static str) {
    let temporary = temporary.to_owned();
    let _ = tokio::task::spawn_blocking(move || sweep_now(&temporary, prefix)).await;
}

fn sweep_now(temporary: &Path, prefix: &str) {
    let abandoned = match SessionFolder::abandoned_in(temporary, prefix) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "left folders cannot be looked for");
            return;
        }
    };
    for folder in abandoned {
        let path = folder.path().display();
        let Ok(marker) = marker_of(&folder) else {
            continue;
        };
        let swept = marker.kill_all(LIMIT);
        tracing::info!(%path, killed = swept.killed.len(), "the session of a killed host was removed");
        if !swept.left.is_empty() {
            tracing::error!(left = ?swept.left, "something of a killed host still runs");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use autonoe_process::SessionParent;

    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = SessionPlace::furnish(Path::new("/nowhere/at/all"), "x-", |_| Ok(()))
            .expect_err("there is no such place");

        assert_eq!(error.kind(), AgentErrorKind::Configuration);
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }

    #[test]
    fn a_folder_that_cannot_be_furnished_does_not_stay() {
        let temporary = tempfile::tempdir().expect("a folder");

        let made = SessionPlace::furnish(temporary.path(), "x-", |_| Err(io::Error::other("no")));

        assert!(made.is_err());
        let parent = SessionParent::in_directory(temporary.path());
        let entries = |path: &Path| fs::read_dir(path).expect("it is there").count();
        assert_eq!(entries(&parent.sessions()), 0);
        assert_eq!(entries(temporary.path()), 1, "only the parent stays");
    }
}
