//! [`OptionalServers`]: MCP servers that a run drops after their first failure instead of failing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names of the MCP servers without which sessions of a run can start, and those that failed.
///
/// All sessions of a run share the same value. The run omits a failed server from later sessions,
/// so that it waits for that server only once.
#[derive(Clone, Debug, Default)]
pub struct OptionalServers {
    names: BTreeSet<String>,
    failed: Arc<Mutex<BTreeSet<String>>>,
}

impl OptionalServers {
    pub(crate) fn insert(&mut self, name: String) {
        self.names.insert(name);
    }

    /// Makes the server `name` mandatory.
    ///
    /// A backend calls this for a server of its own options that replaces one of the run.
    pub fn remove(&mut self, name: &str) {
        self.names.remove(name);
    }

    /// Returns the same names for another run, without any failures.
    pub(crate) fn for_new_run(&self) -> Self {
        self.names.iter().cloned().collect()
    }

    /// Returns whether sessions can start without the server `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns whether the server `name` failed in an earlier session of the run.
    pub(crate) fn has_failed(&self, name: &str) -> bool {
        self.failed().contains(name)
    }

    /// Records that the server `name` failed, and returns whether this is its first failure.
    pub(crate) fn fail(&self, name: &str) -> bool {
        self.failed().insert(name.to_owned())
    }

    fn failed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Into<String>> FromIterator<S> for OptionalServers {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_of_a_run_share_failures() {
        let first = OptionalServers::from_iter(["playwright"]);
        let second = first.clone();

        assert!(first.fail("playwright"));

        assert!(second.has_failed("playwright") && !second.has_failed("docs"));
        assert!(!second.fail("playwright"), "it failed before");
    }

    #[test]
    fn a_new_run_retries_a_failed_server() {
        let first = OptionalServers::from_iter(["playwright"]);
        first.fail("playwright");

        let next = first.for_new_run();

        assert!(next.contains("playwright") && !next.has_failed("playwright"));
    }
}
