//! Ledger updates: concurrent, refused and fenced ones.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{
    Fence, LedgerState, MemoryRepository, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
    deliverable_tools,
};
use autonoe_core::run::{take_over, take_over_resumed};
use autonoe_core::time::{Epoch, SystemClock};
use autonoe_core::tool::Toolbox;
use autonoe_core::{DeliverableRepository, ExitReason, Mode};
use autonoe_testkit::{SessionScript, ToolUse};
use jiff::civil::date;
use serde_json::json;

use crate::behaviour::support::{Fixture, create, passes, plans, status};
use crate::behaviour::tools::{Tools, code, context, ledger_store};

// Shows: interfaces/tools/deliverable-repository
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_calls_lose_nothing() {
    let tools = Arc::new(Tools::new());
    let calls = (0..200).map(|number| {
        let tools = tools.clone();
        let input = create(&[&format!("DL-{number}")]);
        tokio::spawn(async move { tools.planning.call("create", input, context()).await })
    });

    for call in futures::future::join_all(calls).await {
        call.expect("no panic").expect("created");
    }

    let state = tools
        .repository
        .load()
        .await
        .expect("loads")
        .expect("saved")
        .state;
    assert_eq!(state.ledger.counts().total, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn another_process_that_saves_in_between_loses_nothing_either() {
    // Two stores are not synchronised with each other, just as two processes are not.
    let repository = Arc::new(MemoryRepository::new());
    let stores = [
        ledger_store(repository.clone()),
        ledger_store(repository.clone()),
    ];
    let calls = (0..100).map(|number| {
        let tools = deliverable_tools(&stores[number % 2], &InstructionName::Initializer);
        let input = create(&[&format!("DL-{number}")]);
        tokio::spawn(async move { Toolbox::new(tools).call("create", input, context()).await })
    });

    for call in futures::future::join_all(calls).await {
        call.expect("no panic").expect("created");
    }

    let state = repository
        .load()
        .await
        .expect("loads")
        .expect("saved")
        .state;
    assert_eq!(state.ledger.counts().total, 100);
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_of_one_session_lose_nothing() {
    let ids: Vec<String> = (0..30).map(|number| format!("DL-{number}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let fixture = Fixture::new([
        plans(&ids),
        SessionScript::new("marks all at once")
            .calls_at_once(
                ids.iter()
                    .map(|id| ToolUse::new("mcp__autonoe__set_status", status(id, "passed"))),
            )
            .ends(),
    ]);

    let report = fixture.run(fixture.runner()).await;

    let reported = report.deliverables.expect("the ledger was read");
    assert_eq!((reported.passed, reported.total), (30, 30));
}

/// A repository that answers every save with the same error.
struct Refusing(RepositoryErrorKind);

#[async_trait]
impl DeliverableRepository for Refusing {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        match self.0 {
            RepositoryErrorKind::Corrupt => Err(RepositoryError::new(
                self.0,
                "status.json does not contain a valid ledger",
            )),
            _ => Ok(None),
        }
    }
    async fn save(&self, _: &LedgerState, _: Fence) -> Result<Revision, RepositoryError> {
        Err(RepositoryError::new(self.0, "it cannot be saved"))
    }
}

#[tokio::test]
async fn a_repository_that_fails_is_an_io_error_for_the_agent() {
    for kind in [
        RepositoryErrorKind::Conflict,
        RepositoryErrorKind::Fenced,
        RepositoryErrorKind::Corrupt,
        RepositoryErrorKind::Unavailable,
    ] {
        let store = ledger_store(Arc::new(Refusing(kind)));
        let toolbox = Toolbox::new(deliverable_tools(&store, &InstructionName::Initializer));

        assert_eq!(
            code(&toolbox, "create", create(&["A"])).await,
            "IO_ERROR",
            "{kind:?}"
        );
    }
}

// Shows: spec/5.2/corrupt
#[tokio::test(start_paused = true)]
async fn a_corrupt_ledger_ends_the_run_with_its_name() {
    let fixture = Fixture::new([]);
    let corrupt = Arc::new(Refusing(RepositoryErrorKind::Corrupt));

    let report = fixture.run(fixture.runner().repository(corrupt)).await;

    assert_eq!(report.exit.code(), "failed");
    assert!(
        report
            .to_string()
            .contains("status.json does not contain a valid ledger"),
        "{report}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_overtaken_cannot_write_any_more() {
    let fixture = Fixture::new([plans(&["A"])]);
    fixture.run(fixture.runner().max_iterations(1)).await;
    let stale = ledger_store(fixture.repository.clone());

    let second = Fixture {
        repository: fixture.repository.clone(),
        ..Fixture::new([passes("A")])
    };
    second.run(second.runner()).await;

    let toolbox = Toolbox::new(deliverable_tools(&stale, &InstructionName::Coding));
    for (tool, input) in [("set_status", status("A", "pending")), ("list", json!({}))] {
        assert_eq!(code(&toolbox, tool, input).await, "IO_ERROR", "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_overtaken_stops() {
    let repository = Arc::new(MemoryRepository::new());
    let thief = repository.clone();
    let fixture = Fixture {
        repository,
        ..Fixture::new([SessionScript::new("is overtaken")
            .uses_tool("mcp__autonoe__create", create(&["A"]))
            .performs(move |_| {
                let takes_over = async {
                    let snapshot = thief.load().await.expect("loads").expect("saved");
                    let epoch = snapshot.next_epoch().expect("there is one");
                    let fence = Fence {
                        base: Some(snapshot.revision),
                        epoch,
                    };
                    thief
                        .save(&snapshot.state, fence)
                        .await
                        .expect("a higher epoch");
                };
                futures::executor::block_on(takes_over);
            })
            .fails_tool("mcp__autonoe__create", create(&["B"]))
            .ends()])
    };

    let report = fixture.run(fixture.runner()).await;

    let autonoe_core::ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "ledger_fenced");
    assert_eq!(report.sessions, 1);
}

#[tokio::test]
async fn a_ledger_at_the_maximum_epoch_refuses_a_takeover_and_stays_unchanged() {
    let repository = Arc::new(MemoryRepository::new());
    let last = Fence {
        base: None,
        epoch: Epoch(u64::MAX),
    };
    let state = LedgerState::new(date(2026, 1, 31));
    repository.save(&state, last).await.expect("the first one");
    let before = repository.load().await.expect("loads");
    let fixture = Fixture {
        repository: repository.clone(),
        ..Fixture::new([])
    };

    let report = fixture.run(fixture.runner()).await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "ledger_corrupt");
    assert!(error.message.contains("18446744073709551615"), "{error}");
    assert_eq!(report.sessions, 0);
    assert_eq!(repository.load().await.expect("loads"), before);
}

#[tokio::test]
async fn the_last_epoch_is_the_last_one_that_takes_over() {
    let repository: Arc<dyn DeliverableRepository> = Arc::new(MemoryRepository::new());
    let fence = Fence {
        base: None,
        epoch: Epoch(u64::MAX - 1),
    };
    let state = LedgerState::new(date(2026, 1, 31));
    repository.save(&state, fence).await.expect("the first one");

    let last = take_over(repository.clone(), SystemClock, Mode::Run).await;
    let too_many = take_over(repository.clone(), SystemClock, Mode::Run).await;
    let resumed = take_over_resumed(repository, SystemClock).await;

    assert!(last.is_ok());
    for refused in [too_many, resumed] {
        assert_eq!(
            refused.err().map(|error| error.code),
            Some("ledger_corrupt".into())
        );
    }
}
