//! [`FileRevision`], the version of the ledger file.

use crate::ledger::Revision;
use crate::text::content_hash::content_hash;
use crate::time::Epoch;

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
    fn a_revision_can_be_parsed_again() {
        let revision = FileRevision::new(Epoch(3), 17, b"a ledger");

        let again = FileRevision::read(&revision.into());

        assert_eq!(again, Some(revision));
        assert!(revision.is_of(b"a ledger"));
        assert!(!revision.is_of(b"a ledgar"));
    }

    #[test]
    fn an_invented_text_is_not_a_revision() {
        for text in ["", "3", "3-17", "3-17-", "3-17-xyz", "3--1", "made up"] {
            let read = FileRevision::read(&Revision::new(text));

            assert_eq!(read, None, "{text:?}");
        }
    }
}
