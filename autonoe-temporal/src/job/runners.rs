//! Who carries out which runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use autonoe_core::JobRunner;

/// Who carries out runs of which kind.
#[derive(Clone, Default)]
pub(crate) struct Runners(BTreeMap<String, Arc<dyn JobRunner>>);

impl Runners {
    pub(crate) fn add(&mut self, kind: String, runner: Arc<dyn JobRunner>) {
        self.0.insert(kind, runner);
    }

    /// Returns who carries out runs of a kind; or says which kinds there are.
    pub(crate) fn of(&self, kind: &str) -> Result<Arc<dyn JobRunner>, String> {
        self.0.get(kind).cloned().ok_or_else(|| {
            let known: Vec<_> = self.0.keys().map(String::as_str).collect();
            let known = known.join(", ");
            format!("this worker carries out no jobs of the kind {kind:?}; it knows: {known}")
        })
    }
}
