//! [`StatusFile`], the ledger file with its [`StatusRecord`] and [`FileRevision`].

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::no_follow::open_file_to_append;
use super::safe_read::{ReadError, read_file, without_bom};
use super::{durable, json_error_message, suggest};
use crate::ledger::{Deliverable, Ledger, LedgerState, Revision, Snapshot, VerificationTracker};
use crate::text::content_hash::content_hash;
use crate::time::Epoch;

/// A file that is only ever replaced completely, by one writer at a time.
///
/// Readers take no lock: they see the old or the new file, never a part. Writers take turns with a
/// lock file that is never removed or renamed; a lock on the file itself would be lost when the
/// next writer replaces it. Because they take turns, the temporary file can have a fixed name, so a
/// kill leaves at most one behind, which the next write replaces.
#[derive(Clone, Debug)]
pub(super) struct StatusFile {
    path: PathBuf,
    temporary: PathBuf,
    lock: PathBuf,
}

/// The maximum size of the file for reading and writing, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The right to write, until it is dropped.
pub(super) struct WriteLock<'a> {
    file: &'a StatusFile,
    _lock: File,
}

impl StatusFile {
    /// Uses the file at `path`; its lock and temporary file are beside it.
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self {
            temporary: path.with_extension("json.tmp"),
            lock: path.with_extension("lock"),
            path,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the content of the file, or `None` if there is none.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, ReadError> {
        read_file(&self.path, LARGEST)
    }

    /// Waits for the write lock.
    pub(super) fn lock(&self) -> io::Result<WriteLock<'_>> {
        let lock = open_file_to_append(&self.lock)?;
        lock.lock()?;
        Ok(WriteLock {
            file: self,
            _lock: lock,
        })
    }
}

impl WriteLock<'_> {
    /// Replaces the content of the file by `bytes`. Once this returns, a crash or a power cut does
    /// not undo it.
    pub(super) fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() as u64 > LARGEST {
            let message = "it would be larger than 64 MiB";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        durable::replace(&self.file.path, &self.file.temporary, bytes)
    }
}

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
            .map_err(|error| parse_error(without_bom(bytes), &error))?;
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

/// The fields of the file.
const FIELDS: [&str; 6] = [
    "createdAt",
    "updatedAt",
    "deliverables",
    "verification",
    "epoch",
    "revision",
];

/// The fields of a deliverable.
const DELIVERABLE_FIELDS: [&str; 6] = [
    "id",
    "description",
    "acceptanceCriteria",
    "passed",
    "blocked",
    "deprecatedAt",
];

impl StatusRecord {
    /// Returns a warning for each unknown field that is most likely a misspelling. Unknown fields
    /// are kept.
    #[doc(hidden)]
    pub fn field_warnings(state: &LedgerState) -> Vec<String> {
        let own = misspelled(state.ledger.unknown(), &FIELDS, "");
        let deliverables = state.ledger.deliverables().iter();
        let of_deliverables = deliverables.flat_map(|deliverable| {
            let place = format!("{}: ", deliverable.id());
            misspelled(deliverable.unknown(), &DELIVERABLE_FIELDS, &place)
        });
        own.into_iter().chain(of_deliverables).collect()
    }
}

fn misspelled(unknown: &Map<String, Value>, known: &[&str], place: &str) -> Vec<String> {
    let found = unknown
        .keys()
        .filter(|name| !known.contains(&name.as_str()));
    let warnings = found.filter_map(|name| {
        let suggestion = suggest(name, known.iter().copied())?;
        Some(format!(
            "{place}the unknown field `{name}` has no effect; did you mean `{suggestion}`?"
        ))
    });
    warnings.collect()
}

/// Returns the message of a parse error. The error of a date does not name its field, so the path
/// of the field is added.
fn parse_error(bytes: &[u8], error: &serde_json::Error) -> String {
    let message = json_error_message(error);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let path = match serde_path_to_error::deserialize::<_, StatusRecord>(&mut deserializer) {
        Err(error) => error.path().to_string(),
        Ok(_) => String::new(),
    };
    if path.ends_with("At") {
        format!("{path}: expected a date such as 2026-01-31; {message}")
    } else {
        message
    }
}

/// The version of the ledger file, with the epoch and the counter that a writer needs.
///
/// The counter makes every write a new version. The hash detects manual changes that left the
/// counter unchanged. A writer whose hash matches the file knows the file's epoch and counter
/// without parsing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRevision {
    pub(super) epoch: Epoch,
    pub(super) writes: u64,
    hash: u64,
}

impl FileRevision {
    /// Creates the version of `bytes`, which contain `epoch` and `writes`.
    pub(super) fn new(epoch: Epoch, writes: u64, bytes: &[u8]) -> Self {
        Self {
            epoch,
            writes,
            hash: content_hash(bytes),
        }
    }

    /// Parses a revision of this repository; `None` for any other.
    pub(super) fn read(revision: &Revision) -> Option<Self> {
        let mut parts = revision.as_str().splitn(3, '-');
        Some(Self {
            epoch: Epoch(parts.next()?.parse().ok()?),
            writes: parts.next()?.parse().ok()?,
            hash: u64::from_str_radix(parts.next()?, 16).ok()?,
        })
    }

    /// Returns whether this is the version of `bytes`.
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.hash == content_hash(bytes)
    }
}

impl From<FileRevision> for Revision {
    fn from(revision: FileRevision) -> Self {
        let FileRevision {
            epoch: Epoch(epoch),
            writes,
            hash,
        } = revision;
        Revision::new(format!("{epoch}-{writes}-{hash:016x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_round_trips() {
        let revision = FileRevision::new(Epoch(3), 17, b"a ledger");

        let parsed = FileRevision::read(&revision.into());

        assert_eq!(parsed, Some(revision));
        assert!(revision.is_of(b"a ledger"));
        assert!(!revision.is_of(b"a ledgar"));
    }

    #[test]
    fn the_error_of_a_date_names_its_field() {
        let deliverable = r#"{"id": "A", "description": "x", "deprecatedAt": "never"}"#;
        for (text, field) in [
            (
                r#"{"createdAt": "yesterday", "deliverables": []}"#.to_owned(),
                "createdAt: ",
            ),
            (
                format!(r#"{{"deliverables": [{deliverable}]}}"#),
                "deliverables[0].deprecatedAt: ",
            ),
        ] {
            let error = StatusRecord::parse(text.as_bytes()).expect_err("it is no date");
            assert!(error.to_string().starts_with(field), "{error}");
        }
    }

    #[test]
    fn misspelled_fields_are_reported_and_other_unknown_fields_are_not() {
        let text = r#"{"createdat": "2026-01-31", "owner": "Ada", "deliverables": [
            {"id": "A", "description": "x", "pased": true, "note": "y"}]}"#;
        let snapshot = StatusRecord::parse(text.as_bytes()).expect("a ledger");

        let warnings = StatusRecord::field_warnings(&snapshot.state);

        let expected = [
            "the unknown field `createdat` has no effect; did you mean `createdAt`?",
            "A: the unknown field `pased` has no effect; did you mean `passed`?",
        ];
        assert_eq!(warnings, expected);
    }

    #[test]
    fn an_invented_text_is_not_a_revision() {
        for text in ["", "3", "3-17", "3-17-", "3-17-xyz", "3--1", "made up"] {
            let read = FileRevision::read(&Revision::new(text));

            assert_eq!(read, None, "{text:?}");
        }
    }
}

#[cfg(all(test, unix))]
mod lock_tests {
    use super::*;

    #[test]
    fn a_symlink_in_place_of_the_lock_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let target = dir.path().join("target");
        std::os::unix::fs::symlink(&target, dir.path().join("status.lock")).expect("writable");

        let turn = StatusFile::new(dir.path().join("status.json")).lock().err();

        let error = turn.expect("a symlink").to_string();
        assert_eq!(error, "it is a symlink and not a file");
        assert!(!target.exists());
    }
}
