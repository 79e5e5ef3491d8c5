//! Environment variable that identifies a process and everything that it starts.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::family::Family;
use crate::ladder::{ProcessInfo, Sweep};

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
    /// Makes the marker `name` with `value`.
    ///
    /// # Errors
    ///
    /// The name is not one that every shell hands on (letters, digits and `_`, not
    /// a digit first), or the value is empty or holds a zero byte.
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

    /// Finds the processes that live and have the marker, except this one.
    ///
    /// It finds what this user may look at. Only on Linux; elsewhere it finds nothing.
    pub fn processes(&self) -> Vec<ProcessInfo> {
        Family::marked(self.clone()).marked_now()
    }

    /// Kills the processes that have the marker, and what they have started, until
    /// none is left or the limit is over.
    ///
    /// This is for a program that comes after one that was killed. It blocks the
    /// thread. Only on Linux; elsewhere it finds nothing.
    pub fn kill_all(&self, limit: Duration) -> Sweep {
        Family::marked(self.clone()).kill_all(limit)
    }

    /// Has all that this program launches from now on carry the marker too, beside its own, if this
    /// process itself was started with it. Tells whether it was.
    ///
    /// A [`Launch`](crate::Launch) begins with an empty environment, so without this a marker ends
    /// with the first process of ours that has it. It is asked for by name and not done by itself:
    /// of the environment of this process nothing is read but whether it has this one variable, and
    /// a program that does the work of several in tasks has the marker of none. Only on Linux;
    /// elsewhere nothing is handed on.
    ///
    /// ```
    /// use autonoe_process::Marker;
    ///
    /// let marker = Marker::new("AUTONOE_SESSION", "6f1c9a02-1")?;
    ///
    /// assert!(!marker.hand_on(), "this program was not started with it");
    /// # Ok::<(), autonoe_process::InvalidMarker>(())
    /// ```
    pub fn hand_on(&self) -> bool {
        let is_ours = crate::table::is_on_this(self);
        if is_ours {
            hand_on(self.clone());
        }
        is_ours
    }

    /// Tells whether `environ`, with a zero byte after each variable, holds the marker.
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

/// A name or a value that no marker can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} with this value cannot be a marker")]
pub struct InvalidMarker {
    name: String,
}

static HANDED_ON: Mutex<Vec<Marker>> = Mutex::new(Vec::new());

fn handed_on() -> MutexGuard<'static, Vec<Marker>> {
    HANDED_ON.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the markers that every child gets beside its own.
pub(crate) fn handed_on_markers() -> Vec<Marker> {
    handed_on().clone()
}

/// Has every child get `marker` from now on, in place of another of that name.
fn hand_on(marker: Marker) {
    let mut markers = handed_on();
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
