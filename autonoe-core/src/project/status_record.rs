//! [`StatusRecord`], the content of `status.json`: the ledger and its metadata.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::file_revision::FileRevision;
use super::json_error_message;
use super::text_file::without_bom;
use crate::ledger::Snapshot;
use crate::ledger::{Deliverable, Ledger, LedgerState, VerificationTracker};
use crate::time::Epoch;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The content of `status.json`. Files of the original Autonoe contain the ledger alone.
// The fields of the ledger are repeated here: a flattened ledger would be read twice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord {
    /// The day on which the ledger was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    created_at: Option<Date>,
    /// The day of the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at: Option<Date>,
    /// All deliverables in the order of their creation. IDs are unique.
    deliverables: Vec<Deliverable>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
    /// The progress of a sync.
    #[serde(default, skip_serializing_if = "VerificationTracker::is_empty")]
    verification: VerificationTracker,
    /// The fencing epoch, raised by each run that takes over.
    #[serde(default)]
    epoch: Epoch,
    /// The number of writes.
    #[serde(default)]
    revision: u64,
}

impl StatusRecord {
    /// Parses `bytes`, the whole content of the file.
    pub(super) fn parse(bytes: &[u8]) -> Result<Snapshot, BoxError> {
        let record: Self = serde_json::from_slice(without_bom(bytes))
            .map_err(|error| json_error_message(&error))?;
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
