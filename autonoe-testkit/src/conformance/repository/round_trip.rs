//! Checks that a loaded ledger equals the saved one.

use std::collections::HashSet;

use autonoe_core::ledger::LedgerState;
use autonoe_core::time::Epoch;

use super::{Repository, load, loaded, sample, save};
use crate::conformance::checks::CheckOutcome;

pub(super) async fn loads_as_nothing(repository: Repository) -> CheckOutcome {
    let found = load(&*repository).await?;
    ensure!(found.is_none(), "it loads as {found:?}");
    Ok(())
}

/// Saves `state` and compares the loaded ledger with it, part by part.
pub(super) async fn round_trips(
    repository: Repository,
    state: CheckOutcome<LedgerState>,
) -> CheckOutcome {
    let state = state?;
    save(&*repository, &state, None, 1).await?;
    let found = loaded(&*repository).await?.state;
    ensure!(found == state, "saved: {state:?}\nloaded: {found:?}");
    Ok(())
}

pub(super) async fn verification_is_read_back(repository: Repository) -> CheckOutcome {
    let half = sample::half_verified()?;
    let first = save(&*repository, &half, None, 1).await?;
    let found = loaded(&*repository).await?.state.verification;
    ensure!(
        found == half.verification,
        "saved: {:?}\nloaded: {found:?}",
        half.verification
    );

    let all = sample::all_verified()?;
    save(&*repository, &all, Some(&first), 1).await?;
    let found = loaded(&*repository).await?.state.verification;
    ensure!(
        found == all.verification,
        "saved: {:?}\nloaded: {found:?}",
        all.verification
    );
    Ok(())
}

pub(super) async fn a_later_save_replaces(repository: Repository) -> CheckOutcome {
    let first = save(&*repository, &sample::with(&["A", "B"])?, None, 1).await?;
    let second = sample::with(&["B", "C"])?;
    save(&*repository, &second, Some(&first), 1).await?;
    let found = loaded(&*repository).await?.state;
    ensure!(found == second, "saved last: {second:?}\nloaded: {found:?}");
    Ok(())
}

pub(super) async fn revision_and_epoch_are_read_back(repository: Repository) -> CheckOutcome {
    let saved = save(&*repository, &sample::with(&["A"])?, None, 7).await?;
    for _ in 0..2 {
        let found = loaded(&*repository).await?;
        ensure!(
            found.revision == saved,
            "saved as {saved}, loaded as {}",
            found.revision
        );
        ensure!(
            found.epoch == Epoch(7),
            "saved by epoch 7, loaded with {:?}",
            found.epoch
        );
    }
    Ok(())
}

pub(super) async fn revisions_are_new(repository: Repository) -> CheckOutcome {
    // The same ledger twice, directly and after another one: a revision that depends only on the
    // content would accept a stale writer.
    let (a, b) = (sample::with(&["A"])?, sample::with(&["B"])?);
    let mut seen = HashSet::new();
    let mut base = None;
    for state in [&a, &b, &a, &a] {
        let revision = save(&*repository, state, base.as_ref(), 1).await?;
        ensure!(
            seen.insert(revision.clone()),
            "revision {revision} was returned twice"
        );
        base = Some(revision);
    }
    Ok(())
}
