//! [`Deliverable`], its [`DeliverableStatus`] and the [`LedgerError`] of a rejected change.

use std::fmt;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ledger::DeliverableId;

/// Status of a deliverable.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DeliverableStatus {
    /// Work remains: the initial status, or a bug was found in passed work.
    Pending,
    /// All acceptance criteria were verified.
    Passed,
    /// External constraints prevent completion: a missing key, service,
    /// hardware or network.
    Blocked,
}

impl DeliverableStatus {
    /// Returns whether a deliverable may change from this status to `next`.
    ///
    /// Every change is legal but one. Passed work is complete, so no external constraint can block
    /// it; it must return to pending before it can be blocked.
    pub fn may_become(self, next: Self) -> bool {
        !matches!((self, next), (Self::Passed, Self::Blocked))
    }
}

impl fmt::Display for DeliverableStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Passed => "passed",
            Self::Blocked => "blocked",
        })
    }
}

/// A unit of work with acceptance criteria.
///
/// On disk, its status is the two flags `passed` and `blocked`; a record with both set is rejected.
/// Unknown fields are preserved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "DeliverableRecord", into = "DeliverableRecord")]
#[schemars(with = "DeliverableRecord")]
pub struct Deliverable {
    pub(super) id: DeliverableId,
    pub(super) description: String,
    pub(super) acceptance_criteria: Vec<String>,
    pub(super) status: DeliverableStatus,
    pub(super) deprecated_at: Option<Date>,
    unknown: Map<String, Value>,
}

impl Deliverable {
    /// Creates a pending deliverable.
    ///
    /// # Errors
    ///
    /// The description is blank, there is no criterion, or a criterion is blank.
    pub fn new(
        id: DeliverableId,
        description: impl Into<String>,
        acceptance_criteria: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, LedgerError> {
        let description = description.into();
        let acceptance_criteria: Vec<String> =
            acceptance_criteria.into_iter().map(Into::into).collect();
        if description.trim().is_empty() {
            return Err(LedgerError::BlankDescription { id });
        }
        if acceptance_criteria.is_empty()
            || acceptance_criteria
                .iter()
                .any(|criterion| criterion.trim().is_empty())
        {
            return Err(LedgerError::NoCriteria { id });
        }
        Ok(Self {
            id,
            description,
            acceptance_criteria,
            status: DeliverableStatus::Pending,
            deprecated_at: None,
            unknown: Map::new(),
        })
    }

    /// Returns the id.
    pub fn id(&self) -> &DeliverableId {
        &self.id
    }

    /// Returns the description of the work.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the acceptance criteria.
    pub fn acceptance_criteria(&self) -> &[String] {
        &self.acceptance_criteria
    }

    /// Returns the status.
    pub fn status(&self) -> DeliverableStatus {
        self.status
    }

    /// Returns the day on which the deliverable was dropped from the specification, if it was.
    pub fn deprecated_at(&self) -> Option<Date> {
        self.deprecated_at
    }

    /// Returns whether the specification still requires the deliverable.
    pub fn is_active(&self) -> bool {
        self.deprecated_at.is_none()
    }

    /// Returns the fields unknown to this version.
    #[cfg(feature = "project")]
    pub(crate) fn unknown(&self) -> &Map<String, Value> {
        &self.unknown
    }
}

/// Format of a deliverable in `status.json`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", expecting = "a deliverable")]
#[schemars(rename = "Deliverable")]
struct DeliverableRecord {
    /// Unique id within the ledger.
    id: DeliverableId,
    /// Description of the work.
    description: String,
    /// Acceptance criteria.
    #[serde(default)]
    acceptance_criteria: Vec<String>,
    /// All criteria were verified. Never together with `blocked`.
    #[serde(default)]
    passed: bool,
    /// External constraints prevent completion. Never together with `passed`.
    #[serde(default)]
    blocked: bool,
    /// The day on which the deliverable was dropped from the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deprecated_at: Option<Date>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl TryFrom<DeliverableRecord> for Deliverable {
    type Error = LedgerError;

    fn try_from(record: DeliverableRecord) -> Result<Self, Self::Error> {
        let status = match (record.passed, record.blocked) {
            (false, false) => DeliverableStatus::Pending,
            (true, false) => DeliverableStatus::Passed,
            (false, true) => DeliverableStatus::Blocked,
            (true, true) => return Err(LedgerError::PassedAndBlocked { id: record.id }),
        };
        Ok(Self {
            id: record.id,
            description: record.description,
            acceptance_criteria: record.acceptance_criteria,
            status,
            deprecated_at: record.deprecated_at,
            unknown: record.unknown,
        })
    }
}

impl From<Deliverable> for DeliverableRecord {
    fn from(deliverable: Deliverable) -> Self {
        Self {
            id: deliverable.id,
            description: deliverable.description,
            acceptance_criteria: deliverable.acceptance_criteria,
            passed: deliverable.status == DeliverableStatus::Passed,
            blocked: deliverable.status == DeliverableStatus::Blocked,
            deprecated_at: deliverable.deprecated_at,
            unknown: deliverable.unknown,
        }
    }
}

/// Error: the ledger rejected a command or a record.
///
/// The ledger is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The id is already in use, or appears twice in one batch.
    #[error("the id {id} is already in use or was given twice; give each deliverable its own id")]
    DuplicateId {
        /// The duplicate id.
        id: DeliverableId,
    },
    /// No deliverable has this id.
    #[error("there is no deliverable {id}")]
    NotFound {
        /// The requested id.
        id: DeliverableId,
    },
    /// The status change is not legal.
    #[error("deliverable {id} is {from} and cannot become {to}; set it to pending first")]
    IllegalTransition {
        /// The deliverable.
        id: DeliverableId,
        /// Current status.
        from: DeliverableStatus,
        /// Requested status.
        to: DeliverableStatus,
    },
    /// The deliverable was dropped from the specification, so its status is final.
    #[error("deliverable {id} is deprecated and cannot change any more")]
    Deprecated {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The deliverable has no description.
    #[error("deliverable {id} needs a description")]
    BlankDescription {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The deliverable has no criteria, or a blank one.
    #[error("deliverable {id} needs at least one acceptance criterion, and none may be blank")]
    NoCriteria {
        /// The deliverable.
        id: DeliverableId,
    },
    /// The batch contains no deliverables.
    #[error("the list of deliverables is empty; give at least one")]
    EmptyBatch,
    /// The record has both status flags set.
    #[error("deliverable {id} is both passed and blocked")]
    PassedAndBlocked {
        /// The deliverable.
        id: DeliverableId,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Shows: spec/2.3/deliverable-state-machine
    #[test]
    fn only_passed_to_blocked_is_illegal() {
        use DeliverableStatus::{Blocked, Passed, Pending};
        for from in [Pending, Passed, Blocked] {
            for to in [Pending, Passed, Blocked] {
                assert_eq!(
                    from.may_become(to),
                    (from, to) != (Passed, Blocked),
                    "{from} to {to}"
                );
            }
        }
    }

    // Shows: interfaces/tools/status-pending-passed-blocked-two
    #[test]
    fn each_status_is_two_flags_on_disk() {
        for (status, passed, blocked) in [
            (DeliverableStatus::Pending, false, false),
            (DeliverableStatus::Passed, true, false),
            (DeliverableStatus::Blocked, false, true),
        ] {
            let on_disk = json!({
                "id": "DL-001",
                "description": "Login",
                "acceptanceCriteria": ["works"],
                "passed": passed,
                "blocked": blocked,
            });

            let deliverable: Deliverable =
                serde_json::from_value(on_disk.clone()).expect("it is valid");

            assert_eq!(deliverable.status(), status);
            let written = serde_json::to_value(&deliverable).expect("it serialises");
            assert_eq!(written, on_disk);
        }
    }

    #[test]
    fn the_status_is_two_flags_on_disk_and_unknown_fields_stay() {
        let on_disk = json!({
            "id": "DL-002",
            "description": "Legacy Feature",
            "acceptanceCriteria": ["works"],
            "passed": true,
            "blocked": false,
            "deprecatedAt": "2025-01-10",
            "owner": {"team": "web"},
        });

        let deliverable: Deliverable =
            serde_json::from_value(on_disk.clone()).expect("it is valid");

        assert_eq!(deliverable.status(), DeliverableStatus::Passed);
        assert!(!deliverable.is_active());
        assert_eq!(
            serde_json::to_value(&deliverable).expect("it serialises"),
            on_disk
        );
    }

    // Shows: spec/5.2/both-flags
    #[test]
    fn both_flags_are_refused_with_the_id() {
        let error = serde_json::from_value::<Deliverable>(json!({
            "id": "DL-7", "description": "x", "passed": true, "blocked": true,
        }))
        .expect_err("both flags are set");

        assert_eq!(
            error.to_string(),
            "deliverable DL-7 is both passed and blocked"
        );
    }
}
