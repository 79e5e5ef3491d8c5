//! Checks of write access and fencing.

use autonoe_core::ledger::RepositoryErrorKind::{Conflict, Fenced};
use autonoe_core::ledger::{Revision, SavedLedger};
use autonoe_core::time::Epoch;

use super::{Repository, load, loaded, refused, sample, save};
use crate::conformance::checks::{CheckOutcome, Flaw};

pub(super) async fn a_first_save_is_the_first(repository: Repository) -> CheckOutcome {
    save(&*repository, &sample::with(&["A"])?, None, 1).await?;
    refused(&*repository, &sample::with(&["B"])?, None, 1, Conflict).await
}

pub(super) async fn a_stale_base_is_refused(repository: Repository) -> CheckOutcome {
    let first = save(&*repository, &sample::with(&["A"])?, None, 1).await?;
    let second = save(&*repository, &sample::with(&["A", "B"])?, Some(&first), 1).await?;
    refused(
        &*repository,
        &sample::with(&["A", "C"])?,
        Some(&first),
        1,
        Conflict,
    )
    .await?;
    let unknown = Revision::new("made up by the conformance suite");
    refused(
        &*repository,
        &sample::with(&["D"])?,
        Some(&unknown),
        1,
        Conflict,
    )
    .await?;
    save(
        &*repository,
        &sample::with(&["A", "B", "C"])?,
        Some(&second),
        1,
    )
    .await?;
    Ok(())
}

pub(super) async fn a_base_needs_something(repository: Repository) -> CheckOutcome {
    let unknown = Revision::new("made up by the conformance suite");
    refused(
        &*repository,
        &sample::with(&["A"])?,
        Some(&unknown),
        1,
        Conflict,
    )
    .await?;
    let found = load(&*repository).await?;
    ensure!(
        found.is_none(),
        "after a refused save it loads as {found:?}"
    );
    Ok(())
}

pub(super) async fn a_lower_epoch_is_refused(repository: Repository) -> CheckOutcome {
    let first = save(&*repository, &sample::with(&["A"])?, None, 4).await?;
    let second = save(&*repository, &sample::with(&["B"])?, Some(&first), 5).await?;
    refused(
        &*repository,
        &sample::with(&["C"])?,
        Some(&second),
        4,
        Fenced,
    )
    .await?;
    refused(
        &*repository,
        &sample::with(&["C"])?,
        Some(&second),
        0,
        Fenced,
    )
    .await?;
    // Two things are wrong with these; the error must report the takeover.
    refused(
        &*repository,
        &sample::with(&["C"])?,
        Some(&first),
        4,
        Fenced,
    )
    .await?;
    refused(&*repository, &sample::with(&["C"])?, None, 4, Fenced).await
}

pub(super) async fn a_higher_epoch_takes_over(repository: Repository) -> CheckOutcome {
    let mut base = save(&*repository, &sample::with(&["A"])?, None, 1).await?;
    for epoch in [1, 2, 9, 9] {
        base = save(&*repository, &sample::with(&["A"])?, Some(&base), epoch).await?;
        let found = loaded(&*repository).await?.epoch;
        ensure!(
            found == Epoch(epoch),
            "saved by epoch {epoch}, loaded with {found:?}"
        );
    }
    Ok(())
}

pub(super) async fn a_refusal_leaves_the_epoch(repository: Repository) -> CheckOutcome {
    let nothing = Revision::new("made up by the conformance suite");
    refused(
        &*repository,
        &sample::with(&["A"])?,
        Some(&nothing),
        9,
        Conflict,
    )
    .await?;
    let first = save(&*repository, &sample::with(&["A"])?, None, 1).await?;
    refused(
        &*repository,
        &sample::with(&["B"])?,
        Some(&nothing),
        9,
        Conflict,
    )
    .await?;
    save(&*repository, &sample::with(&["B"])?, Some(&first), 1).await?;
    Ok(())
}

/// Saves twice, and loads as a run that knows of both saves and as one that did not wait for the
/// second.
pub(super) async fn own_saves_are_not_foreign(repository: Repository) -> CheckOutcome {
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
            Flaw::Failed(format!("cannot load it ({code}): {error}"))
        })?;
        let foreign = owned.foreign;
        ensure!(
            foreign.is_none(),
            "its own save is reported as foreign: {foreign:?}"
        );
        let found = owned.snapshot.map(|snapshot| snapshot.state);
        ensure!(
            found.as_ref() == Some(&second),
            "saved last: {second:?}\nloaded: {found:?}"
        );
    }
    Ok(())
}
