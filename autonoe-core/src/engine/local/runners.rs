//! Who carries out which runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::JobRunner;

/// Who carries out which runs.
pub(super) enum Runners {
    /// One carries out all of them.
    One(Arc<dyn JobRunner>),
    /// One for each kind.
    ByKind(BTreeMap<String, Arc<dyn JobRunner>>),
}

impl Runners {
    /// Returns who carries out runs of a kind; or says which kinds there are.
    pub(super) fn of(&self, job: &str) -> Result<Arc<dyn JobRunner>, String> {
        match self {
            Self::One(runner) => Ok(runner.clone()),
            Self::ByKind(runners) => runners.get(job).cloned().ok_or_else(|| {
                let known: Vec<_> = runners.keys().map(String::as_str).collect();
                let known = known.join(", ");
                format!("nobody carries out jobs of the kind {job:?} here; there are: {known}")
            }),
        }
    }
}
