//! The backend under test, and the processes that its sessions leave.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::harness::AgentHarness;
use super::survivors::SessionProcesses;
use crate::conformance::checks::{Finding, Flaw};

/// The limit for later sessions once a process was left: the check has failed already.
const LIMIT_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The backend under test. It records the processes of every session.
pub(super) struct Subject<'h> {
    pub(super) harness: &'h dyn AgentHarness,
    processes: Mutex<Processes>,
}

#[derive(Default)]
struct Processes {
    /// Those of sessions that nobody has looked at yet.
    unexamined: Vec<SessionProcesses>,
    /// One finding for each session that was looked at.
    findings: Vec<Finding>,
}

impl<'h> Subject<'h> {
    pub(super) fn new(harness: &'h dyn AgentHarness) -> Self {
        Self {
            harness,
            processes: Mutex::default(),
        }
    }

    /// Adds a session, before it is created.
    pub(super) fn add(&self, processes: SessionProcesses) {
        self.lock().unexamined.push(processes);
    }

    /// Waits until no process of the sessions since the last call is left, and records the finding
    /// under `label`.
    pub(super) async fn look_for_survivors(&self, label: &str) -> Finding {
        let sessions = std::mem::take(&mut self.lock().unexamined);
        let mut first = Ok(());
        for session in sessions {
            let has_failed = self.lock().findings.iter().any(is_failure);
            let limit = match has_failed {
                true => self.harness.time_limit().min(LIMIT_AFTER_FAILURE),
                false => self.harness.time_limit(),
            };
            let found = session.are_gone(limit).await.map_err(|flaw| match flaw {
                Flaw::Failed(what) => Flaw::Failed(format!("{label}: {what}")),
                untestable => untestable,
            });
            self.lock().findings.push(found.clone());
            first = first.and(found);
        }
        first
    }

    /// Returns one finding for each session so far.
    pub(super) fn process_findings(&self) -> Vec<Finding> {
        self.lock().findings.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Processes> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_failure(finding: &Finding) -> bool {
    matches!(finding, Err(Flaw::Failed(_)))
}
