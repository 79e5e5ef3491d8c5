//! Environment variable that identifies a process and everything that it starts.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::process_tree::ProcessTree;
use crate::shutdown_policy::{KillReport, ProcessInfo};

/// An environment variable of a child, which the programs that it starts inherit.
///
/// Tools of an agent create sessions of their own and outlive it. On Linux, they stay descendants
/// of the supervisor process of the agent, and a shutdown ends this process tree. If the supervisor
/// has no child but the ended agent, the shutdown is complete and does not search for the marker.
/// The marker is the fallback of a shutdown, used when there is no supervisor or when a process is
/// left. It also finds processes without a handle, for example from another program.
///
/// The value must be unique on the machine, for example the ID of a run and the number of a
/// session.
///
/// The marker does not find a program that is started with another environment, or that overwrites
/// its own (as some daemons do to show a title).
///
/// ```
/// use autonoe_process::Marker;
///
/// let marker = Marker::new("AUTONOE_SESSION", "6f1c9a02-1")?;
///
/// assert_eq!(marker.processes(), []);
/// # Ok::<(), autonoe_process::InvalidMarker>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    name: String,
    value: String,
}

impl Marker {
    /// Creates the marker `name` with `value`.
    ///
    /// # Errors
    ///
    /// The name is not one that every shell passes on (letters, digits and `_`, not a digit first),
    /// or the value is empty or contains a zero byte.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Result<Self, InvalidMarker> {
        let (name, value) = (name.into(), value.into());
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = name.chars().all(plain) && !name.starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || !named || value.is_empty() || value.contains('\0') {
            return Err(InvalidMarker { name });
        }
        Ok(Self { name, value })
    }

    /// Returns the name of the variable.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the value of the variable.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns the living processes that have the marker, except this one.
    ///
    /// It finds the processes that this user may inspect. Only on Linux; on other systems it finds
    /// nothing.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        ProcessTree::from_marker(self.clone()).marked_processes()
    }

    /// Kills the processes that have the marker, and the processes that they have started, until
    /// none is left or the limit has passed.
    ///
    /// This is for a program that cleans up after a killed one. It blocks the thread. Only on
    /// Linux; on other systems it finds nothing.
    pub fn kill_all(&self, limit: Duration) -> KillReport {
        ProcessTree::from_marker(self.clone()).kill_all(limit)
    }

    /// Adds the marker to everything that this program launches from now on, beside the launch's
    /// own marker, if this process itself was started with it. Returns whether it was.
    ///
    /// A [`Launch`](crate::Launch) starts with an empty environment, so without this call a marker
    /// ends with the first process of ours that has it. The call is explicit for two reasons:
    /// nothing but this one variable is read from the environment of this process, and a program
    /// that runs the work of several markers in tasks has the marker of none. Only on Linux; on
    /// other systems the marker is not passed on.
    ///
    /// ```
    /// use autonoe_process::Marker;
    ///
    /// let marker = Marker::new("AUTONOE_SESSION", "6f1c9a02-1")?;
    ///
    /// assert!(!marker.propagate(), "this program was not started with it");
    /// # Ok::<(), autonoe_process::InvalidMarker>(())
    /// ```
    pub fn propagate(&self) -> bool {
        let is_inherited = crate::table::is_on_current_process(self);
        if is_inherited {
            export(self.clone());
        }
        is_inherited
    }

    /// Returns whether `environ`, with a zero byte after each variable, contains the marker.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn is_in(&self, environ: &[u8]) -> bool {
        environ.split(|byte| *byte == 0).any(|entry| {
            entry
                .strip_prefix(self.name.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                == Some(self.value.as_bytes())
        })
    }
}

/// Error of a name or a value that a marker cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {name:?} cannot mark processes with this value")]
pub struct InvalidMarker {
    name: String,
}

static INHERITED: Mutex<Vec<Marker>> = Mutex::new(Vec::new());

fn lock_inherited() -> MutexGuard<'static, Vec<Marker>> {
    INHERITED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the markers that every child gets beside its own.
pub(crate) fn inherited_markers() -> Vec<Marker> {
    lock_inherited().clone()
}

/// Adds `marker` to every child from now on, and replaces another marker of that name.
fn export(marker: Marker) {
    let mut markers = lock_inherited();
    markers.retain(|other| other.name() != marker.name());
    markers.push(marker);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_as_a_whole_variable_only() {
        let marker = Marker::new("MARK", "one").expect("valid");

        for (environ, found) in [
            (&b"MARK=one\0"[..], true),
            (b"A=b\0MARK=one\0C=d\0", true),
            (b"A=b\0MARK=one", true),
            (b"MARK=one-more\0", false),
            (b"XMARK=one\0", false),
            (b"A=MARK=one\0", false),
            (b"MARK=\0one\0", false),
            (b"", false),
        ] {
            assert_eq!(marker.is_in(environ), found, "{environ:?}");
        }
    }

    #[test]
    fn a_marker_that_a_shell_would_drop_is_refused() {
        for (name, value) in [
            ("", "x"),
            ("A-B", "x"),
            ("1A", "x"),
            ("A=B", "x"),
            ("A\0", "x"),
            ("A", ""),
            ("A", "x\0y"),
        ] {
            assert!(Marker::new(name, value).is_err(), "{name:?}={value:?}");
        }
    }
}
