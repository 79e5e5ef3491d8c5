//! Checks of concurrent access.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_core::ledger::{DeliverableId, Fence, LedgerState, RepositoryErrorKind, Revision};
use autonoe_core::time::Epoch;
use autonoe_core::{Deliverable, DeliverableRepository};
use jiff::civil::date;
use tokio::task::{JoinSet, yield_now};

use super::{Repository, loaded, sample, save};
use crate::conformance::checks::{CheckOutcome, Flaw};

const WRITERS: usize = 16;
const CHANGES: usize = 4;

/// Each refusal means that another writer's change was saved, so no writer can be refused more
/// often.
const TRIES: usize = WRITERS * CHANGES;

/// Has writers read, change and write concurrently, each through one of `handles`.
pub(super) async fn no_update_is_lost(handles: Vec<Repository>) -> CheckOutcome {
    let mut writers = JoinSet::new();
    for (writer, handle) in (0..WRITERS).zip(handles.iter().cycle()) {
        let handle = handle.clone();
        writers.spawn(async move {
            for change in 0..CHANGES {
                add(&*handle, &format!("DL-{writer}-{change}")).await?;
            }
            Ok(())
        });
    }
    joined(writers).await?;
    for handle in &handles {
        let ledger = loaded(&**handle).await?.state.ledger;
        let mut lost = Vec::new();
        for (writer, change) in (0..WRITERS).flat_map(|w| (0..CHANGES).map(move |c| (w, c))) {
            let id = id(&format!("DL-{writer}-{change}"))?;
            if ledger.get(&id).is_none() {
                lost.push(id.to_string());
            }
        }
        ensure!(
            lost.is_empty(),
            "{} of {TRIES} changes are lost: {lost:?}",
            lost.len()
        );
    }
    Ok(())
}

async fn add(repository: &dyn DeliverableRepository, name: &str) -> CheckOutcome {
    let today = date(2026, 1, 31);
    for _ in 0..=TRIES {
        let snapshot = repository.load().await.map_err(|error| error.to_string())?;
        let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
        let mut state = snapshot.map_or_else(|| LedgerState::new(today), |found| found.state);
        let deliverable =
            Deliverable::new(id(name)?, "x", ["y"]).map_err(|error| error.to_string())?;
        state
            .ledger
            .create([deliverable], today)
            .map_err(|error| format!("a change was seen before it was saved: {error}"))?;
        // Gives the others time to save in between.
        yield_now().await;
        match repository
            .save(
                &state,
                Fence {
                    base,
                    epoch: Epoch(1),
                },
            )
            .await
        {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == RepositoryErrorKind::Conflict => {}
            Err(error) => return Err(Flaw::Failed(format!("a save failed: {error}"))),
        }
    }
    Err(Flaw::Failed(format!(
        "{name} was refused {} times in a row, more often than others have saved",
        TRIES + 1
    )))
}

fn id(text: &str) -> CheckOutcome<DeliverableId> {
    DeliverableId::new(text).map_err(|error| Flaw::Untestable(error.to_string()))
}

/// Has readers load while a writer saves: each sees complete versions, and never an older one
/// again.
pub(super) async fn readers_see_old_or_new(repository: Repository) -> CheckOutcome {
    const VERSIONS: usize = 40;
    let first = save(&*repository, &sample::version(0)?, None, 1).await?;
    let done = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for _ in 0..4 {
        readers.spawn(read_until(done.clone(), repository.clone()));
    }

    let mut saved = HashMap::from([(first.clone(), 0)]);
    let mut base = first;
    for version in 1..VERSIONS {
        yield_now().await;
        base = save(&*repository, &sample::version(version)?, Some(&base), 1).await?;
        saved.insert(base.clone(), version);
    }
    done.store(true, Ordering::Release);

    for (revision, version) in joined(readers).await?.into_iter().flatten() {
        let expected = saved.get(&revision);
        ensure!(
            expected == Some(&version),
            "revision {revision} was loaded as version {version}, but saved as {expected:?}"
        );
    }
    Ok(())
}

async fn read_until(
    done: Arc<AtomicBool>,
    repository: Repository,
) -> CheckOutcome<HashMap<Revision, usize>> {
    let mut seen = HashMap::new();
    let mut latest = 0;
    while !done.load(Ordering::Acquire) {
        let found = loaded(&*repository).await?;
        let version = found
            .state
            .ledger
            .deliverables()
            .first()
            .map_or("", Deliverable::description);
        let version: usize = version
            .parse()
            .map_err(|_| format!("a load gave none of the versions: {found:?}"))?;
        let whole = sample::version(version)?;
        ensure!(
            found.state == whole,
            "a load gave a part of version {version}: {found:?}"
        );
        ensure!(
            version >= latest,
            "version {version} was loaded after version {latest}"
        );
        latest = version;
        seen.insert(found.revision, version);
        yield_now().await;
    }
    Ok(seen)
}

async fn joined<T: Send + 'static>(mut tasks: JoinSet<CheckOutcome<T>>) -> CheckOutcome<Vec<T>> {
    let mut all = Vec::new();
    while let Some(task) = tasks.join_next().await {
        all.push(task.map_err(|error| format!("a task panicked: {error}"))??);
    }
    Ok(all)
}
