//! What is wrong with an order, before anything starts.

use std::collections::BTreeSet;

use super::FleetOrder;
use crate::{BudgetedKind, HarnessFolder, HarnessId, HarnessPlan, Isolation, TaskPlan, WhenDone};

/// An order that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the fleet {fleet:?} cannot be run: {}", problems.join("; "))]
#[non_exhaustive]
pub struct FleetOrderError {
    /// The fleet.
    pub fleet: String,
    /// All that is wrong with it.
    pub problems: Vec<String>,
}

impl FleetOrderError {
    pub(super) fn new(fleet: &str, problems: Vec<String>) -> Self {
        let fleet = fleet.to_owned();
        Self { fleet, problems }
    }
}

/// The longest name of a fleet: folders have it with that of a member.
const LONGEST: usize = 60;

impl FleetOrder {
    /// Tells whether it can be carried out.
    ///
    /// # Errors
    ///
    /// It cannot; all that is wrong with it is listed.
    pub fn check(&self) -> Result<(), FleetOrderError> {
        let mut problems = self.wrong_with_name();
        if self.members.is_empty() {
            problems.push("it has no members".to_owned());
        }
        if self.time.is_zero() {
            problems.push("it has no time".to_owned());
        }
        let (mut ids, mut trees) = (BTreeSet::new(), BTreeSet::new());
        for member in &self.members {
            let id = &member.id;
            let mut wrong = |what: String| problems.push(format!("the member {id}: {what}"));
            if !ids.insert(id) {
                wrong("there are two of that name".to_owned());
            }
            let folder = HarnessId::new(format!("{}.{id}", self.name));
            if let Err(error) = HarnessFolder::of(std::path::Path::new(""), &folder) {
                wrong(error.to_string());
            }
            if id.as_str().contains('.') {
                wrong("its name has a dot, which stands between fleet and member".to_owned());
            }
            if member.work.tasks.is_empty() {
                wrong("it has no tasks".to_owned());
            }
            let found = member.work.problems();
            let tasks = member.work.tasks.iter().cloned().map(TaskPlan::from);
            let circles = HarnessPlan::new(id.clone(), tasks).check().err();
            match found.is_empty() {
                true => circles
                    .into_iter()
                    .for_each(|error| wrong(error.to_string())),
                false => found.into_iter().for_each(&mut wrong),
            }
            if member.timeout.is_some_and(|time| time.is_zero()) {
                wrong("it has no time".to_owned());
            }
            match &member.work.isolation {
                Isolation::Worktree { name, .. } => {
                    if !trees.insert(name) {
                        wrong(format!("another one has the worktree {name}, too"));
                    }
                    if let Err(error) = crate::isolation::check_name(name) {
                        wrong(error.to_string());
                    }
                }
                Isolation::Shared => {}
            }
            if self.is_contest() && !leaves_its_work(&member.work.isolation) {
                let what =
                    "one of several is chosen, so it needs a worktree, and has to keep its work";
                wrong(what.to_owned());
            }
        }
        problems.extend(self.wrong_with_budget());
        match problems.is_empty() {
            true => Ok(()),
            false => Err(FleetOrderError::new(&self.name, problems)),
        }
    }

    /// Tells whether the strategy is one that is known to choose one of the members.
    fn is_contest(&self) -> bool {
        ["race", "voting"].contains(&self.strategy.typetag_name())
    }

    fn wrong_with_name(&self) -> Vec<String> {
        let name = &self.name;
        let may_be_in = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let mut problems = Vec::new();
        if name.is_empty() || !name.chars().all(may_be_in) || name.starts_with('-') {
            problems.push(
                "its name may have letters, digits, `-` and `_` only, and does not begin with `-`"
                    .to_owned(),
            );
        }
        if name.len() > LONGEST {
            problems.push(format!("its name is longer than {LONGEST}"));
        }
        if let Err(error) = HarnessFolder::of(std::path::Path::new(""), &HarnessId::new(name)) {
            problems.push(error.to_string());
        }
        problems
    }

    /// Finds members that can never be paid.
    fn wrong_with_budget(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let all = self.budget.amounts();
        for member in &self.members {
            let (id, asked) = (&member.id, member.allowance.amounts());
            for (kind, (asked, all)) in BudgetedKind::ALL
                .into_iter()
                .zip(asked.into_iter().zip(all))
            {
                problems.extend(match (asked, all) {
                    (Some(0), _) => Some(format!("the member {id} would have no {kind}")),
                    (None, Some(_)) => Some(format!(
                        "the fleet has a limit of {kind}, and the member {id} has none"
                    )),
                    (Some(asked), Some(all)) if asked > all => Some(format!(
                        "the member {id} may take more {kind} than the fleet has"
                    )),
                    _ => None,
                });
            }
        }
        problems
    }
}

/// Tells whether work that is done is left on its branch, for whoever decides about it.
pub(super) fn leaves_its_work(isolation: &Isolation) -> bool {
    let when_done = match isolation {
        Isolation::Worktree { when_done, .. } => Some(*when_done),
        Isolation::Shared => None,
    };
    when_done == Some(WhenDone::Keep)
}
