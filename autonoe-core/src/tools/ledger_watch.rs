//! [`LedgerWatch`], the run behind a [`LedgerBook`](super::LedgerBook).

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
    fn saving(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError>;

    /// Reports that the ledger was restored. Returns how often that has happened in the run.
    fn restored(&self, foreign: &ForeignLedger) -> u32;
}
