//! What happened.

use std::sync::Arc;
use std::time::Duration;

use autonoe_testkit::conformance::{Checks, Finding};
use serde_json::json;
use tokio::task::JoinSet;

use super::asked::{at, begin, failed, good, id, same};
use crate::{
    Cursor, ExecutionRecord, HarnessId, NewHarnessEvent, ProgressSample, ProgressSignal,
    StateError, StateStore,
};

pub(super) async fn check(checks: &mut Checks, empty: &impl AsyncFn() -> Arc<dyn StateStore>) {
    checks
        .run("executions are logged in their order", async {
            let store = empty().await;
            begin(&*store, &[("a", &[]), ("b", &[])]).await?;
            let record = |attempt, error: Option<&str>| -> Finding<_> {
                Ok(ExecutionRecord {
                    task: id("a")?,
                    attempt,
                    success: error.is_none(),
                    output: "said\n\u{1f44b}".to_owned(),
                    error: error.map(str::to_owned),
                    duration: Duration::new(61, 7),
                    started_at: at(i64::from(attempt)),
                })
            };
            let records = vec![record(1, Some("no"))?, record(1, None)?, record(2, None)?];
            for record in &records {
                good(store.log_execution(record).await)?;
            }
            same(
                "the log",
                &good(store.executions(&id("a")?).await)?,
                &records,
            )?;
            same(
                "of another",
                &good(store.executions(&id("b")?).await)?,
                &Vec::new(),
            )?;
            let unknown = ExecutionRecord {
                task: id("x")?,
                ..record(1, None)?
            };
            match store.log_execution(&unknown).await {
                Err(StateError::Unknown(_)) => Ok(()),
                told => failed(format!("of no task: {told:?}")),
            }
        })
        .await;
    checks
        .run("progress is kept in its order", async {
            let store = empty().await;
            begin(&*store, &[("a", &[])]).await?;
            let signal = ProgressSignal {
                explicit_markers: vec!["half".to_owned()],
                ..ProgressSignal::default()
            };
            let sample = |iteration, score| -> Finding<_> {
                let signal = signal.clone();
                let at = at(i64::from(iteration));
                Ok(ProgressSample::new(id("a")?, iteration, score, signal, at))
            };
            let samples = vec![sample(2, 0.25)?, sample(1, 1.0)?, sample(2, 0.0)?];
            for sample in &samples {
                good(store.save_progress(sample).await)?;
            }
            same(
                "the samples",
                &good(store.progress_of(&id("a")?).await)?,
                &samples,
            )?;
            match store.save_progress(&sample(3, f64::NAN)?).await {
                Err(StateError::Invalid(_)) => Ok(()),
                told => failed(format!("a score that is no number: {told:?}")),
            }
        })
        .await;
    checks
        .run("an event with a key is kept once", async {
            let store = empty().await;
            let event = |kind: &str| NewHarnessEvent::new(kind, at(0));
            let mut cursors = Vec::new();
            for event in [
                event("spawn").with_key("a"),
                event("progress"),
                event("progress"),
                event("complete").with_key("a"),
                event("complete").with_key("b"),
            ] {
                cursors.push(good(store.append_event(&event).await)?);
            }
            same("the cursor of the first", &cursors[3], &cursors[0])?;
            let kept = good(store.events_since(Cursor::START, 9).await)?;
            let kinds: Vec<_> = kept.iter().map(|kept| kept.event.kind.as_str()).collect();
            same(
                "what is kept",
                &kinds,
                &vec!["spawn", "progress", "progress", "complete"],
            )?;
            let keys: Vec<_> = kept.iter().map(|kept| kept.event.key.as_deref()).collect();
            same("the keys", &keys, &vec![Some("a"), None, None, Some("b")])
        })
        .await;
    checks
        .run(
            "who goes on from a cursor misses no event and sees none twice",
            async {
                let store = empty().await;
                same(
                    "at first",
                    &good(store.events_since(Cursor::START, 9).await)?,
                    &Vec::new(),
                )?;
                let mut writers = JoinSet::new();
                for writer in 0..4 {
                    let store = Arc::clone(&store);
                    writers.spawn(async move {
                        for number in 0..10 {
                            let event = NewHarnessEvent::new("progress", at(number))
                                .about(HarnessId::new(format!("h{writer}")))
                                .with_details(json!({"number": number, "deep": [null, "\u{e9}"]}));
                            store.append_event(&event).await?;
                        }
                        Ok::<_, StateError>(())
                    });
                }
                let (mut read, mut after) = (Vec::new(), Cursor::START);
                while read.len() < 40 {
                    if writers.is_empty() && good(store.events_since(after, 1).await)?.is_empty() {
                        return failed(format!("{} events of 40", read.len()));
                    }
                    if let Some(done) = writers.join_next().await {
                        good(done.unwrap_or(Ok(())))?;
                    }
                    for event in good(store.events_since(after, 7).await)? {
                        if event.cursor <= after {
                            return failed(format!("{} comes after {after}", event.cursor));
                        }
                        after = event.cursor;
                        read.push(event);
                    }
                }
                same(
                    "behind the last",
                    &good(store.events_since(after, 9).await)?,
                    &Vec::new(),
                )?;
                for writer in 0..4 {
                    let own = HarnessId::new(format!("h{writer}"));
                    let own = read
                        .iter()
                        .filter(|read| read.event.harness.as_ref() == Some(&own));
                    let numbers = own.map(|read| read.event.details["number"].as_i64());
                    let expected = (0..10).map(Some).collect::<Vec<_>>();
                    same(
                        "in the order of who wrote",
                        &numbers.collect::<Vec<_>>(),
                        &expected,
                    )?;
                }
                same("the time", &read[0].event.at, &at(0))
            },
        )
        .await;
}
