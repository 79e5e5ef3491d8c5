//! The ledger and what stands with it in `status.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{Epoch, Ledger, LedgerState, VerificationTracker};
use crate::port::{Revision, Snapshot};

/// What `status.json` holds. Files of the first Autonoe hold the ledger alone.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusRecord {
    /// The deliverables.
    #[serde(flatten)]
    ledger: Ledger,
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
    /// Makes the record that follows `previous`.
    pub(super) fn next(state: &LedgerState, epoch: Epoch, previous: Option<&Self>) -> Self {
        Self {
            ledger: state.ledger.clone(),
            verification: state.verification.clone(),
            epoch,
            revision: previous.map_or(0, |record| record.revision) + 1,
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// Writes the record as people like to read it.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Names this version of the file, which has `bytes`.
    ///
    /// The counter makes every write a new version; the hash catches who
    /// changed the file by hand and left the counter as it was.
    pub(super) fn revision(&self, bytes: &[u8]) -> Revision {
        Revision::new(format!("{}-{:016x}", self.revision, fnv1a(bytes)))
    }

    pub(super) fn into_snapshot(self, bytes: &[u8]) -> Snapshot {
        Snapshot {
            revision: self.revision(bytes),
            epoch: self.epoch,
            state: LedgerState {
                ledger: self.ledger,
                verification: self.verification,
            },
        }
    }
}

/// The 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
