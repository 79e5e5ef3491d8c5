//! What a fleet is to do.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Allowance, FleetRecord, HarnessId, IntoStrategy, Isolation, MemberSpec, StateError, Strategy,
    WorkOrder, written,
};

/// What a fleet is to do: its members, how they work together, and what they may use.
///
/// It is what is kept of a fleet under its name, so it never changes: the same order again goes on
/// with the fleet, another one needs another name. [`of_tasks`](Self::of_tasks) and
/// [`of_contenders`](Self::of_contenders) make one of a [`Roadmap`](crate::Roadmap).
///
/// ```
/// use autonoe_harness::{Arrangement, FleetOrder, Roadmap};
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
/// let order = FleetOrder::of_tasks("calculator", &roadmap, Arrangement::AsTheyDepend)?;
///
/// assert_eq!(order.members.len(), 2);
/// assert_eq!(order.strategy.typetag_name(), "graph");
/// assert!(order.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct FleetOrder {
    /// The name of the fleet: letters, digits, `-` and `_`.
    pub name: String,
    /// What all of it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub objective: String,
    /// The file that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roadmap: Option<PathBuf>,
    /// How members work together.
    #[serde(with = "written::strategy")]
    pub strategy: Arc<dyn Strategy>,
    /// Its members in their order.
    pub members: Vec<FleetMember>,
    /// How many members work at once at most; 10 by default.
    #[serde(default = "ten")]
    pub max_concurrent: NonZeroUsize,
    /// How long the fleet may take while somebody leads it; an hour by default.
    #[serde(rename = "timeSeconds", with = "seconds", default = "an_hour")]
    pub time: Duration,
    /// What all members may spend together.
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
    /// Who it is.
    pub id: HarnessId,
    /// What it is to do.
    pub work: WorkOrder,
    /// What it may spend. It is reserved before it starts.
    #[serde(default)]
    pub allowance: Allowance,
    /// How long it may take from its start; as long as the fleet by default.
    #[serde(
        rename = "timeoutSeconds",
        with = "seconds::option",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
}

impl FleetMember {
    /// Makes a member of what it is to do.
    pub fn new(id: HarnessId, work: WorkOrder) -> Self {
        Self {
            id,
            work,
            allowance: Allowance::default(),
            timeout: None,
        }
    }
}

fn ten() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(9)
}

fn an_hour() -> Duration {
    Duration::from_secs(60 * 60)
}

impl FleetOrder {
    /// Makes the order of a fleet.
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
            max_concurrent: ten(),
            time: an_hour(),
            budget: Allowance::default(),
            pause_on_critical: false,
        }
    }

    /// Reads the order of a fleet that is kept, to go on with it.
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`]: what is kept is no order of this kind.
    pub fn of_record(record: &FleetRecord) -> Result<Self, StateError> {
        let members = record.plan.members.iter().map(|(_, spec)| spec.clone());
        let members = serde_json::Value::Array(members.collect());
        let mut spec = record.plan.spec.clone();
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("members".to_owned(), members);
        }
        serde_json::from_value(spec).map_err(|error| {
            let name = &record.plan.id;
            StateError::Invalid(format!("the plan of the fleet {name} is none: {error}"))
        })
    }

    /// Says which file it comes from.
    #[must_use]
    pub fn from_roadmap(mut self, file: impl Into<PathBuf>) -> Self {
        self.roadmap = Some(file.into());
        self
    }

    /// Sets how many members work at once at most.
    #[must_use]
    pub fn max_concurrent(mut self, members: NonZeroUsize) -> Self {
        self.max_concurrent = members;
        self
    }

    /// Sets how long the fleet may take while somebody leads it.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets what all members may spend together. Those that have no allowance of their own have an
    /// equal part of it each.
    #[must_use]
    pub fn budget(mut self, budget: Allowance) -> Self {
        self.budget = budget;
        let all = u64::try_from(self.members.len()).unwrap_or(u64::MAX).max(1);
        let part = budget.amounts().map(|amount| amount.map(|it| it / all));
        for member in &mut self.members {
            if member.allowance == Allowance::default() {
                member.allowance = Allowance::of_amounts(part);
            }
        }
        self
    }

    /// Has a member paused when it raises a critical alert.
    #[must_use]
    pub fn pausing_on_critical(mut self) -> Self {
        self.pause_on_critical = true;
        self
    }

    /// Has all members work in the folder of the project as it is, beside each other.
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

    /// Returns the members as a coordinator starts them.
    pub(super) fn specs(&self) -> Result<Vec<MemberSpec>, serde_json::Error> {
        let specs = self.members.iter().map(|member| {
            let work = MemberOrder {
                work: member.work.clone(),
                roadmap: self.roadmap.clone(),
                pause_on_critical: self.pause_on_critical,
            };
            let work = serde_json::to_value(work)?;
            let mut spec = MemberSpec::new(member.id.clone(), JOB, work);
            spec.allowance = member.allowance;
            spec.timeout = member.timeout;
            Ok(spec)
        });
        specs.collect()
    }
}

/// What kind of work members do.
pub(super) const JOB: &str = "work";

/// What a member is to do, as its process is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct MemberOrder {
    /// What it is to do.
    pub(super) work: WorkOrder,
    /// The file that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) roadmap: Option<PathBuf>,
    /// Whether it is paused when it raises a critical alert.
    #[serde(default)]
    pub(super) pause_on_critical: bool,
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(time.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_secs)
    }

    pub(super) mod option {
        use super::*;

        pub(crate) fn serialize<S: Serializer>(
            time: &Option<Duration>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, to),
                None => to.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Duration>, D::Error> {
            Ok(Option::<u64>::deserialize(from)?.map(Duration::from_secs))
        }
    }
}
