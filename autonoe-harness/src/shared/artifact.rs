//! A file that was published.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use super::ArtifactName;
use crate::HarnessId;

/// A file that a harness published for others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Artifact {
    /// Its name.
    pub name: ArtifactName,
    /// The number of the publication: higher than that of every one before, whatever its name.
    pub version: u64,
    /// Who published it.
    pub source_harness: HarnessId,
    /// Where it is. It does not change, also when another one is published under its name.
    pub path: PathBuf,
    /// The SHA-256 of what is in it, in hexadecimal digits.
    pub sha256: String,
    /// How many bytes that is.
    pub size: u64,
    /// What who published it says of it.
    pub metadata: Value,
    /// When it was published.
    pub created_at: Timestamp,
}
