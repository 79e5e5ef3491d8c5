//! [`LedgerWatch`], through which a [`LedgerStore`](crate::ledger::LedgerStore) reports to its run.

use crate::ledger::RepositoryError;
use crate::ledger::{ForeignLedger, LedgerHash};

/// Callbacks of a ledger to the run that owns it.
pub(crate) trait LedgerWatch: Send + Sync {
    /// Records that the ledger with hash `from` is about to be replaced by one with hash `to`.
    ///
    /// Called before the save, so that after a crash in between both hashes are known.
    ///
    /// # Errors
    ///
    /// The save cannot be recorded. The ledger is then not saved.
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError>;

    /// Records and reports that the ledger was restored. Returns the number of restores in the run.
    fn record_restore(&self, foreign: &ForeignLedger) -> u32;
}
