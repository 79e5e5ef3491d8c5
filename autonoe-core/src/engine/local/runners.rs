//! [`Runners`], the job runners of an engine by kind.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::JobRunner;

/// The job runners of an engine.
pub(super) enum Runners {
    /// One runner for all kinds.
    One(Arc<dyn JobRunner>),
    /// One runner for each kind.
    ByKind(BTreeMap<String, Arc<dyn JobRunner>>),
}

impl Runners {
    /// Returns the runner for a kind of job. The error lists the known kinds.
    pub(super) fn get(&self, job: &str) -> Result<Arc<dyn JobRunner>, String> {
        match self {
            Self::One(runner) => Ok(runner.clone()),
            Self::ByKind(runners) => runners.get(job).cloned().ok_or_else(|| {
                let known: Vec<_> = runners.keys().map(String::as_str).collect();
                let known = known.join(", ");
                format!(
                    "this engine has no runner for jobs of the kind {job:?}; known kinds are \
                     {known}"
                )
            }),
        }
    }
}
