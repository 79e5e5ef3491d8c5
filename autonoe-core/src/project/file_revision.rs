//! Names one version of the ledger's file.

use crate::domain::Epoch;
use crate::domain::content_hash::content_hash;
use crate::port::Revision;

/// Names one version of the ledger's file, and knows what a writer must know of it.
///
/// The counter makes every write a new version; the hash catches who changed
/// the file by hand and left the counter as it was. A writer that finds the
/// hash in the file knows its epoch and its counter, without reading further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRevision {
    pub(super) epoch: Epoch,
    pub(super) writes: u64,
    hash: u64,
}

impl FileRevision {
    /// Names the version with `bytes`, which say `epoch` and `writes`.
    pub(super) fn new(epoch: Epoch, writes: u64, bytes: &[u8]) -> Self {
        Self {
            epoch,
            writes,
            hash: content_hash(bytes),
        }
    }

    /// Reads a revision that this repository gave; `None` for any other.
    pub(super) fn read(revision: &Revision) -> Option<Self> {
        let mut parts = revision.as_str().splitn(3, '-');
        Some(Self {
            epoch: Epoch(parts.next()?.parse().ok()?),
            writes: parts.next()?.parse().ok()?,
            hash: u64::from_str_radix(parts.next()?, 16).ok()?,
        })
    }

    /// Tells whether this is the version with `bytes`.
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
    fn a_revision_says_again_what_it_was_made_of() {
        let revision = FileRevision::new(Epoch(3), 17, b"a ledger");

        let again = FileRevision::read(&revision.into());

        assert_eq!(again, Some(revision));
        assert!(revision.is_of(b"a ledger"));
        assert!(!revision.is_of(b"a ledgar"));
    }

    #[test]
    fn what_is_made_up_is_no_revision() {
        for text in ["", "3", "3-17", "3-17-", "3-17-xyz", "3--1", "made up"] {
            let read = FileRevision::read(&Revision::new(text));

            assert_eq!(read, None, "{text:?}");
        }
    }
}
