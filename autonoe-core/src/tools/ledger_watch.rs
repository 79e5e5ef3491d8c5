//! [`LedgerWatch`], through which a [`LedgerBook`](super::LedgerBook) reports to its run.

use crate::domain::{ForeignLedger, LedgerHash};
use crate::port::RepositoryError;

/// The run that owns a ledger, as its book sees it.
pub(crate) trait LedgerWatch: Send + Sync {
    /// Records that the ledger with hash `from` is about to be replaced by one with hash `to`.
    ///
    /// It is called before the save: after a crash in between, both hashes are known.
    ///
    /// # Errors
    ///
    /// It cannot be recorded. The ledger is then not saved.
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError>;

    /// Records and reports that the ledger was restored. Returns how often that has happened in the
    /// run.
    fn record_restore(&self, foreign: &ForeignLedger) -> u32;
}
