//! [`Ledger`], the record of all deliverables of a project, with its [`LedgerCounts`] and its [`LedgerHash`].

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use jiff::civil::Date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ledger::{Deliverable, DeliverableId, DeliverableStatus, LedgerError};
use crate::text::content_hash::content_hash;

/// Record of all deliverables of a project, stored in `status.json`.
///
/// Every command either succeeds completely or changes nothing. The ledger has no clock; commands
/// take the current date as an argument.
///
/// ```
/// use autonoe_core::ledger::{DeliverableId, Ledger};
/// use autonoe_core::{Deliverable, DeliverableStatus};
/// use jiff::civil::date;
///
/// let today = date(2026, 1, 31);
/// let id = DeliverableId::new("DL-001")?;
/// let mut ledger = Ledger::new(today);
/// ledger.create([Deliverable::new(id.clone(), "Login", ["a user can log in"])?], today)?;
///
/// let change = ledger.set_status(&id, DeliverableStatus::Passed, today)?;
///
/// assert_eq!(change.previous, Some(DeliverableStatus::Pending));
/// assert_eq!(ledger.counts().passed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "LedgerRecord", into = "LedgerRecord")]
#[schemars(with = "LedgerRecord")]
pub struct Ledger {
    created_at: Option<Date>,
    updated_at: Option<Date>,
    deliverables: Vec<Deliverable>,
    unknown: Map<String, Value>,
}

impl Ledger {
    /// Creates an empty ledger.
    pub fn new(today: Date) -> Self {
        Self {
            created_at: Some(today),
            updated_at: Some(today),
            deliverables: Vec::new(),
            unknown: Map::new(),
        }
    }

    /// Returns the creation date, if known.
    pub fn created_at(&self) -> Option<Date> {
        self.created_at
    }

    /// Returns the date of the last change, if known.
    pub fn updated_at(&self) -> Option<Date> {
        self.updated_at
    }

    /// Returns all deliverables in creation order, including deprecated ones.
    pub fn deliverables(&self) -> &[Deliverable] {
        &self.deliverables
    }

    /// Returns the deliverables that the specification still requires, in creation order.
    pub fn active(&self) -> impl Iterator<Item = &Deliverable> {
        self.deliverables
            .iter()
            .filter(|deliverable| deliverable.is_active())
    }

    /// Returns the deliverable with this id.
    pub fn get(&self, id: &DeliverableId) -> Option<&Deliverable> {
        self.deliverables
            .iter()
            .find(|deliverable| deliverable.id() == id)
    }

    /// Counts the deliverables by status. Deprecated ones only count as deprecated.
    pub fn counts(&self) -> LedgerCounts {
        LedgerCounts::count(&self.deliverables)
    }

    /// Adds all of `batch` as pending, or nothing.
    ///
    /// # Errors
    ///
    /// The batch is empty, or an id is already in use or appears twice in the batch.
    pub fn create(
        &mut self,
        batch: impl IntoIterator<Item = Deliverable>,
        today: Date,
    ) -> Result<Vec<StatusChange>, LedgerError> {
        let batch: Vec<Deliverable> = batch.into_iter().collect();
        if batch.is_empty() {
            return Err(LedgerError::EmptyBatch);
        }
        let mut used_ids: HashSet<&DeliverableId> =
            self.deliverables.iter().map(Deliverable::id).collect();
        if let Some(duplicate) = batch
            .iter()
            .find(|deliverable| !used_ids.insert(deliverable.id()))
        {
            return Err(LedgerError::DuplicateId {
                id: duplicate.id().clone(),
            });
        }
        let changes = batch
            .iter()
            .map(|deliverable| StatusChange::new(deliverable, None, DeliverableStatus::Pending))
            .collect();
        self.deliverables.extend(batch);
        self.updated_at = Some(today);
        Ok(changes)
    }

    /// Sets the status of a deliverable and returns the change.
    ///
    /// Setting the current status again is not an error.
    ///
    /// # Errors
    ///
    /// The deliverable does not exist or is deprecated, or the change is not legal
    /// ([`DeliverableStatus::may_become`]).
    pub fn set_status(
        &mut self,
        id: &DeliverableId,
        status: DeliverableStatus,
        today: Date,
    ) -> Result<StatusChange, LedgerError> {
        let deliverable = self.get_mut(id)?;
        let previous = deliverable.status;
        if !deliverable.is_active() {
            return Err(LedgerError::Deprecated { id: id.clone() });
        }
        if !previous.may_become(status) {
            return Err(LedgerError::IllegalTransition {
                id: id.clone(),
                from: previous,
                to: status,
            });
        }
        deliverable.status = status;
        let change = StatusChange::new(deliverable, Some(previous), status);
        if change.is_change() {
            self.updated_at = Some(today);
        }
        Ok(change)
    }

    /// Marks a deliverable as dropped from the specification; its record stays.
    ///
    /// Deprecating it again keeps the first date.
    ///
    /// # Errors
    ///
    /// The deliverable does not exist.
    pub fn deprecate(&mut self, id: &DeliverableId, today: Date) -> Result<(), LedgerError> {
        let deliverable = self.get_mut(id)?;
        if deliverable.is_active() {
            deliverable.deprecated_at = Some(today);
            self.updated_at = Some(today);
        }
        Ok(())
    }

    /// Recreates a stored ledger.
    ///
    /// # Errors
    ///
    /// An id appears twice.
    pub(crate) fn restore(
        created_at: Option<Date>,
        updated_at: Option<Date>,
        deliverables: Vec<Deliverable>,
        unknown: Map<String, Value>,
    ) -> Result<Self, LedgerError> {
        let mut seen = HashSet::new();
        if let Some(duplicate) = deliverables
            .iter()
            .find(|deliverable| !seen.insert(deliverable.id()))
        {
            return Err(LedgerError::DuplicateId {
                id: duplicate.id().clone(),
            });
        }
        Ok(Self {
            created_at,
            updated_at,
            deliverables,
            unknown,
        })
    }

    /// Returns the fields unknown to this version.
    #[cfg(feature = "project")]
    pub(crate) fn unknown(&self) -> &Map<String, Value> {
        &self.unknown
    }

    fn get_mut(&mut self, id: &DeliverableId) -> Result<&mut Deliverable, LedgerError> {
        self.deliverables
            .iter_mut()
            .find(|deliverable| &deliverable.id == id)
            .ok_or_else(|| LedgerError::NotFound { id: id.clone() })
    }
}

/// Creation or status change of a deliverable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// Id of the deliverable.
    #[serde(rename = "deliverableId")]
    pub id: DeliverableId,
    /// Description of the deliverable.
    #[serde(rename = "deliverableDescription")]
    pub description: String,
    /// Previous status; `None` for a new deliverable.
    #[serde(rename = "previousStatus", skip_serializing_if = "Option::is_none")]
    pub previous: Option<DeliverableStatus>,
    /// New status.
    #[serde(rename = "newStatus")]
    pub status: DeliverableStatus,
}

impl StatusChange {
    fn new(
        deliverable: &Deliverable,
        previous: Option<DeliverableStatus>,
        status: DeliverableStatus,
    ) -> Self {
        Self {
            id: deliverable.id.clone(),
            description: deliverable.description.clone(),
            previous,
            status,
        }
    }

    /// Returns whether the status differs from the previous one.
    pub fn is_change(&self) -> bool {
        self.previous != Some(self.status)
    }
}

/// Format of a ledger in `status.json`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Ledger")]
struct LedgerRecord {
    /// Creation date of the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<Date>,
    /// Date of the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Date>,
    /// All deliverables in creation order. Ids are unique.
    deliverables: Vec<Deliverable>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl TryFrom<LedgerRecord> for Ledger {
    type Error = LedgerError;

    fn try_from(record: LedgerRecord) -> Result<Self, Self::Error> {
        Self::restore(
            record.created_at,
            record.updated_at,
            record.deliverables,
            record.unknown,
        )
    }
}

impl From<Ledger> for LedgerRecord {
    fn from(ledger: Ledger) -> Self {
        Self {
            created_at: ledger.created_at,
            updated_at: ledger.updated_at,
            deliverables: ledger.deliverables,
            unknown: ledger.unknown,
        }
    }
}

/// Hash of a ledger's deliverables, by which the next run detects an edit between runs.
///
/// Verification progress and the epoch are not included, because a takeover changes them before
/// anything is recorded. The hash is not keyed, so it does not detect deliberate forgery.
/// Serialised as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LedgerHash(u64);

impl Ledger {
    /// Returns the hash of the deliverables, the dates and all unknown fields of the ledger.
    pub fn content_hash(&self) -> LedgerHash {
        // A ledger only has string keys, so serialisation cannot fail.
        let text = serde_json::to_vec(self).unwrap_or_default();
        LedgerHash(content_hash(&text))
    }
}

impl fmt::Display for LedgerHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<LedgerHash> for String {
    fn from(hash: LedgerHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for LedgerHash {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u64::from_str_radix(&text, 16).map(Self)
    }
}

impl JsonSchema for LedgerHash {
    fn schema_name() -> Cow<'static, str> {
        "LedgerHash".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hash of the deliverables of a ledger.",
            "type": "string",
            "pattern": "^[0-9a-f]{16}$",
        })
    }
}

/// Number of deliverables in each status. Deprecated ones only count as deprecated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerCounts {
    /// Deliverables that the specification requires: pending, passed and blocked.
    pub total: usize,
    /// Passed deliverables.
    pub passed: usize,
    /// Deliverables blocked by external constraints.
    pub blocked: usize,
    /// Deliverables dropped from the specification; not included in `total`.
    pub deprecated: usize,
}

impl LedgerCounts {
    fn count(deliverables: &[Deliverable]) -> Self {
        let mut counts = Self::default();
        for deliverable in deliverables {
            if !deliverable.is_active() {
                counts.deprecated += 1;
                continue;
            }
            counts.total += 1;
            match deliverable.status() {
                DeliverableStatus::Passed => counts.passed += 1,
                DeliverableStatus::Blocked => counts.blocked += 1,
                DeliverableStatus::Pending => {}
            }
        }
        counts
    }

    /// Returns the number of pending deliverables.
    pub fn pending(&self) -> usize {
        self.total
            .saturating_sub(self.passed)
            .saturating_sub(self.blocked)
    }

    /// Returns whether the ledger has no deliverables at all, not even deprecated ones.
    pub fn is_empty(&self) -> bool {
        self.total == 0 && self.deprecated == 0
    }

    /// Returns whether every achievable deliverable has passed, and not all are blocked.
    ///
    /// A ledger with only deprecated deliverables is done; an empty one is not.
    pub fn all_achievable_passed(&self) -> bool {
        !self.is_empty() && self.pending() == 0 && !self.all_blocked()
    }

    /// Returns whether there are deliverables and every one of them is blocked.
    pub fn all_blocked(&self) -> bool {
        self.total > 0 && self.blocked == self.total
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use serde_json::json;

    use super::*;
    use crate::ledger::{Deliverable, DeliverableId, DeliverableStatus};

    #[test]
    fn the_hash_follows_the_status() {
        let today = date(2026, 1, 31);
        let id = DeliverableId::new("A").expect("valid");
        let login = Deliverable::new(id.clone(), "Login", ["it works"]).expect("valid");
        let mut ledger = Ledger::new(today);
        ledger.create([login], today).expect("new");
        let pending = ledger.content_hash();

        let mut set = |status| {
            ledger
                .set_status(&id, status, today)
                .map(|_| ledger.content_hash())
        };

        let passed = set(DeliverableStatus::Passed).expect("there");
        assert_ne!(passed, pending);
        assert_eq!(set(DeliverableStatus::Pending).expect("there"), pending);
    }

    #[test]
    fn a_hash_round_trips_as_16_digits() {
        let hash = LedgerHash(0x2a);

        let written = serde_json::to_value(hash).expect("a string");

        assert_eq!(written, json!("000000000000002a"));
        assert_eq!(
            serde_json::from_value::<LedgerHash>(written).ok(),
            Some(hash)
        );
        assert!(serde_json::from_value::<LedgerHash>(json!("other")).is_err());
    }
}
