//! The run that owns a ledger loads its own saves.

use autonoe_core::SavedLedger;

use super::access::{loaded, save};
use super::{Repository, sample};
use crate::conformance::checks::{Finding, Flaw};

/// Saves twice, and loads as a run that knows of both saves and as one that did not wait for the
/// second one.
pub(super) async fn own_saves_are_not_foreign(repository: Repository) -> Finding {
    let first = save(&*repository, &sample::with(&["A"])?, None, 1).await?;
    let before = loaded(&*repository).await?;
    let second = sample::with(&["A", "B"])?;
    save(&*repository, &second, Some(&first), 1).await?;
    let after = loaded(&*repository).await?;
    let unconfirmed = SavedLedger {
        last: before,
        unconfirmed: vec![second.clone()],
    };
    for saved in [unconfirmed, SavedLedger::new(after)] {
        let owned = repository.load_owned(&saved).await.map_err(|error| {
            let code = error.code();
            Flaw::Failed(format!("it could not be loaded ({code}): {error}"))
        })?;
        let foreign = owned.foreign;
        ensure!(foreign.is_none(), "its own save is foreign: {foreign:?}");
        let found = owned.snapshot.map(|snapshot| snapshot.state);
        ensure!(
            found.as_ref() == Some(&second),
            "saved last: {second:?}\nloaded: {found:?}"
        );
    }
    Ok(())
}
