//! How a run takes hold of the ledger.

use std::sync::Arc;

use crate::domain::{Epoch, Failure, LedgerView, Mode};
use crate::port::{Clock, DeliverableRepository, Fence, RepositoryError, RepositoryErrorKind};
use crate::tools::LedgerBook;

/// Raises the epoch of the ledger, so that whoever wrote before cannot write any more.
///
/// Returns the ledger to write to and its numbers. A sync that follows a
/// finished one starts its verification afresh in the same write.
pub(super) async fn take_over(
    repository: &Arc<dyn DeliverableRepository>,
    clock: &Arc<dyn Clock>,
    mode: Mode,
) -> Result<(LedgerBook, LedgerView), Failure> {
    let fail = |error: &RepositoryError| Failure::from(error);
    loop {
        let Some(snapshot) = repository.load().await.map_err(|error| fail(&error))? else {
            let book = LedgerBook::new(repository.clone(), clock.clone(), Epoch::default().next());
            return Ok((book, LedgerView::default()));
        };
        let mut state = snapshot.state;
        if mode == Mode::Sync {
            state.verification.begin(&state.ledger);
        }
        let epoch = snapshot.epoch.next();
        let fence = Fence {
            base: Some(snapshot.revision),
            epoch,
        };
        match repository.save(&state, fence).await {
            Ok(_revision) => {
                let book = LedgerBook::new(repository.clone(), clock.clone(), epoch);
                return Ok((book, state.view()));
            }
            // Someone saved in between: look again. Each round somebody got
            // on, so this ends.
            Err(error) if error.kind() == RepositoryErrorKind::Conflict => {}
            Err(error) => return Err(fail(&error)),
        }
    }
}
