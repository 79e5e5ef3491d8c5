//! How a run takes hold of the ledger.

use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::domain::{Epoch, Failure, LedgerState, LedgerView, Mode};
use crate::port::{
    Clock, DeliverableRepository, Fence, RepositoryError, RepositoryErrorKind, Snapshot,
};
use crate::tools::LedgerBook;

/// Someone else may save between our load and our save; so often in a row that
/// all of these tries fail, nobody does.
const TRIES: usize = 32;

/// Raises the epoch of the ledger, so that whoever wrote before cannot write any more.
///
/// Returns the ledger to write to and its numbers. A project without a ledger
/// gets an empty one, because an epoch that is nowhere written fences nobody.
/// In the same write, verification progress is forgotten that means nothing any
/// more: before a run, which changes the code, and after a finished sync. A run
/// that is resumed calls [`take_over_again`].
///
/// [`SessionRunner`](crate::SessionRunner) does it by itself; this is for who
/// drives a [`RunMachine`](crate::RunMachine) in another way.
///
/// # Errors
///
/// The ledger cannot be read or written, or its epoch cannot be raised any more.
pub async fn take_over(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
    mode: Mode,
) -> Result<(LedgerBook, LedgerView), Failure> {
    let forget = |state: &mut LedgerState| forget_verification(state, mode);
    raise_epoch(repository, clock, None, MissingLedger::Create, forget).await
}

/// What a takeover does if there is no ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingLedger {
    /// Creates an empty one.
    Create,
    /// Fails: the caller has seen a ledger.
    Fail,
}

/// Takes over the ledger as [`take_over`] does, under an epoch that somebody else has chosen.
///
/// Who has it already under that epoch keeps it.
pub(crate) async fn take_over_at(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
    epoch: Epoch,
    missing: MissingLedger,
    forget: impl Fn(&mut LedgerState),
) -> Result<(LedgerBook, LedgerView), Failure> {
    raise_epoch(repository, clock, Some(epoch), missing, forget).await
}

/// Raises the epoch of the ledger as [`take_over`] does, for a run that goes on.
///
/// Its verification progress is its own and is kept, also when it is complete:
/// a sync that was killed in its last session has nothing left to verify.
///
/// # Errors
///
/// The ledger cannot be read or written, or its epoch cannot be raised any more.
pub async fn take_over_again(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
) -> Result<(LedgerBook, LedgerView), Failure> {
    raise_epoch(repository, clock, None, MissingLedger::Create, |_| {}).await
}

/// Forgets the verification progress that means nothing any more when a run of `mode` begins.
pub(super) fn forget_verification(state: &mut LedgerState, mode: Mode) {
    match mode {
        Mode::Run => state.verification.clear(),
        Mode::Sync => {
            state.verification.begin(&state.ledger);
        }
    }
}

async fn raise_epoch(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
    chosen: Option<Epoch>,
    missing: MissingLedger,
    forget: impl Fn(&mut LedgerState),
) -> Result<(LedgerBook, LedgerView), Failure> {
    let fail = |error: &RepositoryError| Failure::from(error);
    let mut tries = 1;
    loop {
        let snapshot = repository.load().await.map_err(|error| fail(&error))?;
        if snapshot.is_none() && missing == MissingLedger::Fail {
            let message = "the ledger was removed during the takeover; put it back and try again";
            let error = RepositoryError::new(RepositoryErrorKind::Gone, message);
            return Err(fail(&error));
        }
        let epoch = match (&snapshot, chosen) {
            (Some(Snapshot { epoch, .. }), Some(chosen)) if *epoch > chosen => {
                let message = "another run has taken over the ledger";
                let error = RepositoryError::new(RepositoryErrorKind::Fenced, message);
                return Err(fail(&error));
            }
            (_, Some(chosen)) => chosen,
            (Some(snapshot), None) => snapshot.next_epoch().map_err(|error| fail(&error))?,
            (None, None) => Epoch(1),
        };
        let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
        let mut state = match snapshot {
            Some(snapshot) => snapshot.state,
            None => LedgerState::new(clock.now().to_zoned(TimeZone::UTC).date()),
        };
        forget(&mut state);
        match repository.save(&state, Fence { base, epoch }).await {
            Ok(revision) => {
                let view = state.view();
                let last = Snapshot {
                    state,
                    revision,
                    epoch,
                };
                let book = LedgerBook::owned(Arc::new(repository), Arc::new(clock), last);
                return Ok((book, view));
            }
            Err(error) if error.kind() == RepositoryErrorKind::Conflict && tries < TRIES => {
                tries += 1;
                tokio::task::yield_now().await;
            }
            Err(error) => return Err(fail(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{MemoryRepository, SystemClock};

    #[test]
    fn a_ledger_that_the_caller_has_seen_is_not_created_again() {
        let repository = Arc::new(MemoryRepository::new());
        let take_over = |missing| {
            let taking = take_over_at(repository.clone(), SystemClock, Epoch(1), missing, |_| {});
            futures::executor::block_on(taking).map(|(book, _)| book.epoch())
        };

        let refused = take_over(MissingLedger::Fail).expect_err("there is none");
        let found = futures::executor::block_on(repository.load());
        let created = take_over(MissingLedger::Create);

        assert_eq!(refused.code, "ledger_gone");
        assert_eq!(found.expect("readable"), None);
        assert_eq!(created, Ok(Epoch(1)));
    }
}
