//! The ledger and what stands with it in `status.json`.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file_revision::FileRevision;
use super::json_complaint;
use super::text_file::without_mark;
use crate::domain::{Deliverable, Epoch, Ledger, LedgerState, VerificationTracker};
use crate::port::Snapshot;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What `status.json` holds. Files of the first Autonoe hold the ledger alone.
// The fields of the ledger stand here once more: a flattened ledger would be read twice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord {
    /// The day on which the ledger was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<Date>,
    /// The day of the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Date>,
    /// All deliverables in the order of their creation. Ids are unique.
    deliverables: Vec<Deliverable>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
    /// How far a sync has got.
    #[serde(default, skip_serializing_if = "VerificationTracker::is_empty")]
    verification: VerificationTracker,
    /// Who may write: raised by each run that takes over.
    #[serde(default)]
    epoch: Epoch,
    /// Counts the writes.
    #[serde(default)]
    revision: u64,
}

impl StatusRecord {
    /// Reads `bytes`, which are all that the file holds.
    pub(super) fn parse(bytes: &[u8]) -> Result<Snapshot, BoxError> {
        let record: Self =
            serde_json::from_slice(without_mark(bytes)).map_err(|error| json_complaint(&error))?;
        Ok(Snapshot {
            revision: FileRevision::new(record.epoch, record.revision, bytes).into(),
            epoch: record.epoch,
            state: LedgerState {
                ledger: Ledger::restore(
                    record.created_at,
                    record.updated_at,
                    record.deliverables,
                    record.unknown,
                )?,
                verification: record.verification,
            },
        })
    }
}
