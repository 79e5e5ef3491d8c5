//! [`FleetWork`]: the work of a member of a fleet, and the branches that belong to it.

use autonoe_core::RunId;
use autonoe_core::engine::{ProjectName, ProjectNameError};
use autonoe_core::event::TraceContext;
use autonoe_harness::Task;
use serde::{Deserialize, Serialize};

/// The job of members that create the integration branch or merge a task into it.
pub(crate) const MERGE_JOB: &str = "merge";

/// The member that creates the integration branch. No task has a dot in its member name.
pub(crate) const START: &str = "fleet.start";

/// Ending of the member that merges a task, after the name of the task's member.
const MERGE_SUFFIX: &str = ".merge";

/// The work of a member, as the submitter describes it.
///
/// The branches follow from the ID of the run, so that a submitter cannot choose them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FleetWork {
    /// The address of the repository.
    pub(crate) repository: String,
    /// The task; `None` for the member that creates the integration branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<Task>,
    /// The trace of the submitter, for a merge. Sessions have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceContext>,
}

/// Returns the member that merges the work of a member.
pub(crate) fn merge_member(member: &str) -> String {
    format!("{member}{MERGE_SUFFIX}")
}

/// Returns the branch that collects the work of the fleet of a run.
pub(crate) fn integration_branch(run: &RunId) -> String {
    let fleet = run.as_str().split('.').next().unwrap_or_default();
    format!("autonoe/{fleet}")
}

/// Returns the branch of the task that a run works on or merges.
pub(crate) fn task_branch(run: &RunId) -> String {
    let run = run.as_str();
    format!("autonoe/{}", run.strip_suffix(MERGE_SUFFIX).unwrap_or(run))
}

/// Returns the name under which hosts keep the projects of a repository: the last part of its
/// address.
pub(crate) fn project_name(repository: &str) -> Result<ProjectName, ProjectNameError> {
    let name = repository.rsplit(['/', ':']).next().unwrap_or_default();
    ProjectName::new(name.strip_suffix(".git").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_follow_from_the_run() {
        let task = RunId::new("night.parser");
        let merge = RunId::new("night.parser.merge");

        for run in [&task, &merge] {
            assert_eq!(integration_branch(run), "autonoe/night");
            assert_eq!(task_branch(run), "autonoe/night.parser");
        }
    }

    #[test]
    fn project_name_is_the_last_part_of_the_address() {
        for (repository, name) in [
            ("git@git.example.org:team/shop.git", Some("shop")),
            ("git@git.example.org:shop.git", Some("shop")),
            ("/srv/git/shop", Some("shop")),
            ("/srv/git/..", None),
            ("/srv/git/", None),
        ] {
            let found = project_name(repository).ok();
            assert_eq!(found.as_ref().map(ProjectName::as_str), name);
        }
    }
}
