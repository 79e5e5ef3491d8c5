//! Order of a fleet, and its validation.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FleetOrderError;
use crate::budget::{Allowance, BudgetedKind};
use crate::coordinate::{MemberSpec, is_fleet_name};
use crate::executor::TaskId;
use crate::folder::MemberFolder;
use crate::roadmap::PlannedTask;
use crate::serde_formats;
use crate::strategy::{IntoStrategy, MemberId, Strategy};
use crate::work::{Isolation, WhenDone, WorkOrder};

/// Order of a fleet: its members, its strategy and its limits.
///
/// The order is recorded under the name of the fleet and never changes. Running the same order
/// again resumes the fleet; another order needs another name. [`from_tasks`](Self::from_tasks) and
/// [`from_candidates`](Self::from_candidates) create one from a [`Roadmap`](crate::roadmap::Roadmap).
///
/// ```
/// use autonoe_harness::{FleetOrder, Graph, Roadmap};
///
/// let text = [
///     "## Objective",
///     "A calculator.",
///     "## Tasks",
///     "- [ ] **parser**: Read sums.",
///     "- [ ] **shell**: Ask for a line.",
///     "  - depends: parser",
/// ];
/// let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), &text.join("\n"))?;
///
/// let order = FleetOrder::from_tasks("calculator", &roadmap, Graph::default())?;
///
/// assert_eq!(order.members.len(), 2);
/// assert_eq!(order.strategy.typetag_name(), "graph");
/// assert!(order.validate().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FleetOrder {
    /// The name of the fleet: letters, digits, `-` and `_`.
    pub name: String,
    /// The objective of the whole fleet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub objective: String,
    /// The roadmap file that the order was created from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<PathBuf>,
    /// The strategy.
    #[serde(with = "serde_formats::strategy")]
    pub strategy: Arc<dyn Strategy>,
    /// The members, in order.
    pub members: Vec<FleetMember>,
    /// The maximum number of members that run at once; 10 by default.
    #[serde(default = "default_max_concurrent")]
    pub max_concurrent: NonZeroUsize,
    /// The time limit of the fleet while a coordinator leads it; an hour by default.
    #[serde(
        rename = "timeSeconds",
        with = "serde_formats::seconds",
        default = "default_time"
    )]
    pub time: Duration,
    /// The budget of all members together.
    #[serde(default)]
    pub budget: Allowance,
    /// Whether a member is paused when it raises a critical alert.
    #[serde(default)]
    pub pause_on_critical: bool,
}

/// A member of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FleetMember {
    /// The ID of the member.
    pub id: MemberId,
    /// The work of the member.
    pub work: WorkOrder,
    /// The allowance. It is reserved before the member starts.
    #[serde(default)]
    pub allowance: Allowance,
    /// The time limit from its start; that of the fleet by default.
    #[serde(
        rename = "timeoutSeconds",
        with = "serde_formats::seconds::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
}

impl FleetMember {
    /// Creates a member from its work.
    pub fn new(id: MemberId, work: WorkOrder) -> Self {
        Self {
            id,
            work,
            allowance: Allowance::default(),
            timeout: None,
        }
    }
}

fn default_max_concurrent() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(9)
}

fn default_time() -> Duration {
    Duration::from_secs(60 * 60)
}

impl FleetOrder {
    /// Creates the order of a fleet.
    pub fn new(
        name: impl Into<String>,
        strategy: impl IntoStrategy,
        members: impl IntoIterator<Item = FleetMember>,
    ) -> Self {
        Self {
            name: name.into(),
            objective: String::new(),
            roadmap: None,
            strategy: strategy.into_strategy(),
            members: members.into_iter().collect(),
            max_concurrent: default_max_concurrent(),
            time: default_time(),
            budget: Allowance::default(),
            pause_on_critical: false,
        }
    }

    /// Sets the budget of all members together. Members without an allowance get an equal part of
    /// it.
    #[must_use]
    pub fn budget(mut self, budget: Allowance) -> Self {
        self.budget = budget;
        let all = u64::try_from(self.members.len()).unwrap_or(u64::MAX).max(1);
        let part = budget.amounts().map(|amount| amount.map(|it| it / all));
        for member in &mut self.members {
            if member.allowance == Allowance::default() {
                member.allowance = Allowance::from_amounts(part);
            }
        }
        self
    }

    /// Lets all members work directly in the folder of the project, side by side.
    #[must_use]
    pub fn without_worktrees(self) -> Self {
        self.each(|work| work.isolation = Isolation::Shared)
    }

    /// Changes the work of each member.
    #[must_use]
    pub fn each(mut self, change: impl Fn(&mut WorkOrder)) -> Self {
        for member in &mut self.members {
            change(&mut member.work);
        }
        self
    }

    /// Returns the member specifications for the coordinator.
    pub(super) fn specs(&self) -> Result<Vec<MemberSpec>, serde_json::Error> {
        let specs = self.members.iter().map(|member| {
            let mut work = member.work.clone();
            work.roadmap = self.roadmap.clone();
            work.pause_on_critical = self.pause_on_critical;
            let work = serde_json::to_value(work)?;
            let mut spec = MemberSpec::new(member.id.clone(), JOB, work);
            spec.allowance = member.allowance;
            spec.timeout = member.timeout;
            Ok(spec)
        });
        specs.collect()
    }
}

/// Job name of members.
pub(super) const JOB: &str = "work";

/// Maximum length of a fleet name, because folder names combine it with that of a member.
const LONGEST: usize = 60;

impl FleetOrder {
    /// Validates the order.
    ///
    /// # Errors
    ///
    /// Lists all problems of the order.
    pub fn validate(&self) -> Result<(), FleetOrderError> {
        let mut problems = self.name_problems();
        if self.members.is_empty() {
            problems.push("it has no members".to_owned());
        }
        if self.time.is_zero() {
            problems.push("its time limit is 0".to_owned());
        }
        let (mut ids, mut trees) = (BTreeSet::new(), BTreeSet::new());
        for member in &self.members {
            let id = &member.id;
            let mut wrong = |problem: String| problems.push(format!("the member {id}: {problem}"));
            if !ids.insert(id) {
                wrong("another member has the same name".to_owned());
            }
            let folder = MemberId::new(format!("{}.{id}", self.name));
            if let Err(error) = MemberFolder::new(std::path::Path::new(""), &folder) {
                wrong(error.to_string());
            }
            if id.as_str().contains('.') {
                wrong(
                    "its name contains a dot, which separates the names of fleet and member"
                        .to_owned(),
                );
            }
            if member.work.tasks.is_empty() {
                wrong("it has no tasks".to_owned());
            }
            let found = member.work.problems();
            if found.is_empty() {
                find_cycle(&member.work.tasks)
                    .into_iter()
                    .for_each(&mut wrong);
            }
            found.into_iter().for_each(&mut wrong);
            if member.timeout.is_some_and(|time| time.is_zero()) {
                wrong("its time limit is 0".to_owned());
            }
            match &member.work.isolation {
                Isolation::Worktree { name, .. } => {
                    if !trees.insert(name) {
                        wrong(format!("another member has the same worktree {name}"));
                    }
                    if let Err(error) = crate::isolation::check_name(name) {
                        wrong(error.to_string());
                    }
                }
                Isolation::Shared => {}
            }
            if self.strategy.needs_worktrees() && !keeps_work(&member.work.isolation) {
                let problem = "the strategy chooses one of several members, so each needs a worktree \
                            that keeps its work";
                wrong(problem.to_owned());
            }
        }
        problems.extend(self.budget_problems());
        if problems.is_empty() {
            Ok(())
        } else {
            Err(FleetOrderError::new(&self.name, problems))
        }
    }

    fn name_problems(&self) -> Vec<String> {
        let name = &self.name;
        let mut problems = Vec::new();
        if !is_fleet_name(name) || name.starts_with('-') {
            problems.push(
                "its name may only contain letters, digits, `-` and `_`, and must not start with \
                 `-`"
                .to_owned(),
            );
        }
        if name.len() > LONGEST {
            problems.push(format!("its name is longer than {LONGEST} characters"));
        }
        if let Err(error) = MemberFolder::new(std::path::Path::new(""), &MemberId::new(name)) {
            problems.push(error.to_string());
        }
        problems
    }

    /// Returns problems of members that can never be paid.
    fn budget_problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let all = self.budget.amounts();
        for member in &self.members {
            let (id, requested) = (&member.id, member.allowance.amounts());
            for (kind, (requested, all)) in BudgetedKind::ALL
                .into_iter()
                .zip(requested.into_iter().zip(all))
            {
                problems.extend(match (requested, all) {
                    (Some(0), _) => Some(format!("the member {id} has a {kind} budget of 0")),
                    (None, Some(_)) => Some(format!(
                        "the fleet limits {kind}, but the member {id} has no limit"
                    )),
                    (Some(requested), Some(all)) if requested > all => Some(format!(
                        "the {kind} budget of the member {id} is larger than that of the fleet"
                    )),
                    _ => None,
                });
            }
        }
        problems
    }
}

/// Returns whether finished work stays on its branch, for a later decision.
pub(super) fn keeps_work(isolation: &Isolation) -> bool {
    let when_done = match isolation {
        Isolation::Worktree { when_done, .. } => Some(*when_done),
        Isolation::Shared => None,
    };
    when_done == Some(WhenDone::Keep)
}

/// Finds a cycle of tasks that depend on each other.
fn find_cycle(tasks: &[PlannedTask]) -> Option<String> {
    let mut waiting: BTreeMap<&TaskId, &[TaskId]> = tasks
        .iter()
        .map(|planned| (&planned.task.id, planned.depends.as_slice()))
        .collect();
    // Removes tasks without open dependencies until none is left, or only a cycle.
    loop {
        let left: BTreeSet<_> = waiting.keys().copied().collect();
        waiting.retain(|_, depends| depends.iter().any(|other| left.contains(other)));
        if waiting.is_empty() {
            return None;
        }
        if waiting.len() == left.len() {
            let names: Vec<_> = left.into_iter().map(TaskId::as_str).collect();
            let names = names.join(", ");
            return Some(format!(
                "some of the tasks {names} depend on each other in a cycle"
            ));
        }
    }
}
