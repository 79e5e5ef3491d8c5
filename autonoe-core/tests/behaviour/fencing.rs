//! Runs whose ledger is changed by other writers, and agents that outlive their session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::ledger::{
    Fence, LedgerState, MemoryRepository, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
};
use autonoe_core::time::Epoch;
use autonoe_core::{DeliverableRepository, ExitReason, Mode, OnQuota, StreamEvent, ToolContext};
use autonoe_testkit::SessionScript;
use futures::{StreamExt, stream};
use serde_json::json;

use crate::behaviour::own_backend::{MINUTE, OwnBackend, done, planner, run_with, text_after};
use crate::behaviour::support::{Fixture, create, passes, plans, status};

#[tokio::test(start_paused = true)]
async fn a_session_that_is_over_can_do_nothing_any_more() {
    let backend = planner(Duration::ZERO, |_| vec![done()]);
    let fixture = Fixture::new([]);

    fixture
        .run(
            fixture
                .runner()
                .agents(Arc::new(backend.clone()))
                .max_iterations(2),
        )
        .await;

    let spec = &backend.seen().specs[1];
    let bash = spec.tool_call("late", "Bash", json!({"command": "ls"}));
    let decision = spec.gate.decide(&bash).await;
    let context = ToolContext::new(spec.key.clone());
    let marked = spec
        .tools
        .call("set_status", status("A", "passed"), context)
        .await;
    assert!(!decision.is_allowed(), "{decision:?}");
    assert!(marked.is_err(), "{marked:?}");
}

#[tokio::test(start_paused = true)]
async fn two_runs_on_a_new_project_do_not_share_an_epoch() {
    let backend = OwnBackend::new(|_| {
        stream::iter([Ok(StreamEvent::text("x"))])
            .chain(stream::pending())
            .boxed()
    });
    let fixture = Fixture::new([]);
    let runner = || fixture.runner().agents(Arc::new(backend.clone()));

    let second = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        run_with(runner(), async |control| {
            tokio::time::sleep(MINUTE).await;
            control.cancel();
        })
        .await
    };
    let first = run_with(runner(), async |control| {
        tokio::time::sleep(Duration::from_secs(30)).await;
        let spec = &backend.seen().specs[0];
        let context = ToolContext::new(spec.key.clone());
        let late = spec.tools.call("create", create(&["A"]), context).await;
        assert!(late.is_err(), "the overtaken run wrote: {late:?}");
        control.cancel();
    });
    tokio::join!(first, second);

    let epochs: Vec<Epoch> = backend.seen().specs.iter().map(|spec| spec.epoch).collect();
    assert_eq!(epochs, [Epoch(1), Epoch(2)]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_overtaken_while_it_waited_starts_no_session() {
    let reset = "2026-01-01T05:00:00Z".parse().ok();
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("hits the quota")
            .says("x")
            .hits_quota(reset),
    ]);
    let other = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([SessionScript::new("works").says("x").ends()])
    };

    let report = run_with(fixture.runner().on_quota(OnQuota::Wait), async |_| {
        tokio::time::sleep(60 * MINUTE).await;
        other.run(other.runner().max_iterations(1)).await;
    })
    .await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!((error.code.as_str(), report.sessions), ("ledger_fenced", 2));
}

#[tokio::test(start_paused = true)]
async fn paused_run_notices_external_ledger_changes() {
    let fixture = Fixture::new([plans(&["A"])]);

    let report = run_with(fixture.runner(), async |control| {
        control.pause();
        tokio::time::sleep(MINUTE).await;
        let snapshot = fixture
            .repository
            .load()
            .await
            .expect("loads")
            .expect("saved");
        let mut state = snapshot.state;
        let id = state.ledger.deliverables()[0].id().clone();
        let today = jiff::civil::date(2026, 1, 1);
        let passed = autonoe_core::DeliverableStatus::Passed;
        state.ledger.set_status(&id, passed, today).expect("legal");
        let fence = Fence {
            base: Some(snapshot.revision),
            epoch: snapshot.epoch,
        };
        fixture
            .repository
            .save(&state, fence)
            .await
            .expect("no other writer saves");
        control.resume();
    })
    .await;

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 1));
}

/// A repository that misbehaves from its second load on.
struct Faulty {
    inner: MemoryRepository,
    loads: AtomicU32,
    conflicts: bool,
}

impl Faulty {
    fn new(conflicts: bool) -> Self {
        Self {
            inner: MemoryRepository::new(),
            loads: AtomicU32::new(0),
            conflicts,
        }
    }
}

#[async_trait]
impl DeliverableRepository for Faulty {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        let loads = self.loads.fetch_add(1, Ordering::SeqCst);
        if loads > 0 && !self.conflicts {
            std::future::pending::<()>().await;
        }
        self.inner.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        if self.conflicts {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Conflict,
                "someone saved",
            ));
        }
        self.inner.save(state, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_reaches_a_ledger_that_does_not_answer() {
    let idle = OwnBackend::new(|_| text_after(std::future::ready(()), vec![done()]));
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(idle))
        .repository(Arc::new(Faulty::new(false)));

    let report = run_with(runner, async |control| {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    })
    .await;

    // It gets a grace period, so that the ledger changes of the last session count.
    let grace_period = Duration::from_secs(2);
    assert_eq!(
        (report.exit, report.elapsed),
        (ExitReason::Interrupted, MINUTE + grace_period)
    );
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_always_conflicts_ends_the_run() {
    let fixture = Fixture::new([]);
    let report = fixture
        .run(fixture.runner().repository(Arc::new(Faulty::new(true))))
        .await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "ledger_conflict");
}

#[tokio::test(start_paused = true)]
async fn a_run_makes_earlier_verification_stale() {
    let fixture = Fixture::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .ends(),
        SessionScript::new("verifies one")
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
    ]);
    fixture
        .run(fixture.runner().mode(Mode::Sync).max_iterations(2))
        .await;
    let second = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([passes("A")])
    };

    second.run(second.runner().max_iterations(1)).await;

    let state = second.state().await;
    assert!(state.verification.is_empty(), "the code has changed since");
}
