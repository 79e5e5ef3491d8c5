//! [`Runners`]: the job runners of a worker, by kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use autonoe_core::engine::JobRunner;

/// Job runners by kind.
#[derive(Clone, Default)]
pub(crate) struct Runners(BTreeMap<String, Arc<dyn JobRunner>>);

impl Runners {
    pub(crate) fn add(&mut self, kind: String, runner: Arc<dyn JobRunner>) {
        self.0.insert(kind, runner);
    }

    /// Returns the runner of a kind, or an error that lists the known kinds.
    pub(crate) fn get(&self, kind: &str) -> Result<Arc<dyn JobRunner>, String> {
        self.0.get(kind).cloned().ok_or_else(|| {
            let known: Vec<_> = self.0.keys().map(String::as_str).collect();
            let known = known.join(", ");
            format!("this worker does not execute jobs of the kind {kind:?}; known kinds: {known}")
        })
    }
}
