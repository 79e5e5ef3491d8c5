//! What holds when backends, repositories and persons act at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentError, AgentErrorKind, Budget, BudgetKind, Clock, CostUsd, DeliverableRepository, Epoch,
    ExitReason, Fence, FixedInstructions, InstructionError, InstructionName, InstructionSource,
    LedgerState, MemoryRepository, Mode, OnQuota, RepositoryError, RepositoryErrorKind, Revision,
    RunControl, RunReport, Session, SessionEnd, SessionLimits, SessionRunnerBuilder, Snapshot,
    StreamEvent, SystemClock, TokenUsage, ToolContext,
};
use autonoe_testkit::{SessionScript, VirtualClock};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::own_backend::{OwnBackend, call, done, says_after};
use crate::support::{Bench, create, passes, plans, status};

const MINUTE: Duration = Duration::from_secs(60);

/// Runs while `person` acts.
async fn run_with(runner: SessionRunnerBuilder, person: impl AsyncFnOnce(RunControl)) -> RunReport {
    let runner = runner.build().expect("parts fit");
    let control = RunControl::new();
    let (report, ()) = tokio::join!(runner.run(&control), person(control.clone()));
    report
}

/// Plans in session 1, then does what `rest` says.
fn planner(
    takes: Duration,
    rest: impl Fn(u32) -> Vec<crate::own_backend::Item> + Send + Sync + 'static,
) -> OwnBackend {
    OwnBackend::new(move |spec| {
        let number = spec.key.number;
        let work = async move {
            if number == 1 {
                call(spec, "create", create(&["A"])).await;
            }
            tokio::time::sleep(takes).await;
        };
        says_after(work, rest(number))
    })
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_over_can_do_nothing_any_more() {
    let backend = planner(Duration::ZERO, |_| vec![done()]);
    let bench = Bench::new([]);

    bench
        .run(
            bench
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
    let bench = Bench::new([]);
    let runner = || bench.runner().agents(Arc::new(backend.clone()));

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
    let bench = Bench::new([
        plans(&["A"]),
        SessionScript::new("hits the quota")
            .says("x")
            .hits_quota(reset),
    ]);
    let other = Bench {
        repository: bench.repository.clone(),
        ..Bench::new([SessionScript::new("works").says("x").ends()])
    };

    let report = run_with(bench.runner().on_quota(OnQuota::Wait), async |_| {
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
async fn what_others_finish_while_a_run_holds_is_noticed() {
    let bench = Bench::new([plans(&["A"])]);

    let report = run_with(bench.runner(), async |control| {
        control.pause();
        tokio::time::sleep(MINUTE).await;
        let snapshot = bench
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
        bench
            .repository
            .save(&state, fence)
            .await
            .expect("nobody else saves");
        control.resume();
    })
    .await;

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_control_that_panics_ends_neither_the_run_nor_keeps_it_from_disposing() {
    let mut backend = planner(MINUTE, |_| vec![done()]);
    backend.steer_panics = true;
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);
    run_with(runner, async |control| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.instruct("use tabs");
    })
    .await;
    let seen = backend.seen();
    assert_eq!(seen.disposed, 2);
    assert!(
        seen.prompts[1].contains("use tabs"),
        "it was not delivered, so it is told"
    );

    let mut backend = planner(Duration::ZERO, |_| vec![done()]);
    backend.control_panics = true;
    let bench = Bench::new([]);
    bench
        .run(
            bench
                .runner()
                .agents(Arc::new(backend.clone()))
                .max_iterations(2),
        )
        .await;
    assert_eq!(backend.seen().disposed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_arrived_at_the_last_moment_is_not_told_twice() {
    let mut backend = planner(Duration::from_secs(11), |_| vec![done()]);
    backend.steer_takes = Duration::from_secs(10);
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);

    run_with(runner, async |control| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.instruct("use tabs");
    })
    .await;

    let seen = backend.seen();
    assert_eq!(seen.steered, ["use tabs"]);
    assert!(!seen.prompts[1].contains("use tabs"), "{:?}", seen.prompts);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_a_crashed_session_took_is_told_again() {
    let crashed = || Err(AgentError::new(AgentErrorKind::Crashed, "it crashed"));
    let backend = planner(Duration::from_secs(11), move |number| {
        vec![if number == 1 { crashed() } else { done() }]
    });
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .agents(Arc::new(backend.clone()))
        .max_iterations(2);

    run_with(runner, async |control| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        control.instruct("use tabs");
    })
    .await;

    assert!(backend.seen().prompts[1].contains("use tabs"));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_no_session_follows_is_in_the_report() {
    let bench = Bench::new([
        plans(&["A"]),
        SessionScript::new("passes")
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .waits(MINUTE)
            .ends(),
    ]);

    let report = run_with(bench.runner(), async |control| {
        tokio::time::sleep(MINUTE / 2).await;
        control.instruct("also do B");
    })
    .await;

    assert_eq!(report.undelivered_messages, ["also do B"]);
}

#[tokio::test(start_paused = true)]
async fn the_time_budget_counts_from_the_start_of_the_run() {
    let mut backend = planner(60 * MINUTE, |_| vec![done()]);
    backend.probe_takes = 5 * MINUTE;
    let bench = Bench::new([]);
    let budget = Budget::default().with_time(10 * MINUTE);

    let report = bench
        .run(bench.runner().agents(Arc::new(backend)).budget(budget))
        .await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Time
        }
    );
    assert_eq!(report.elapsed, 10 * MINUTE);
}

struct Pending;

#[async_trait]
impl InstructionSource for Pending {
    async fn resolve(&self, _: &InstructionName) -> Result<String, InstructionError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_budget_holds_while_a_backend_is_looked_at_and_a_session_prepared() {
    let budget = Budget::default().with_time(MINUTE);
    let mut slow = planner(Duration::ZERO, |_| vec![done()]);
    slow.probe_takes = 60 * MINUTE;
    let quick = planner(Duration::ZERO, |_| vec![done()]);
    let bench = Bench::new([]);
    for runner in [
        bench.runner().agents(Arc::new(slow)),
        bench
            .runner()
            .agents(Arc::new(quick))
            .instructions(Arc::new(Pending)),
    ] {
        let report = bench.run(runner.budget(budget)).await;

        assert_eq!(
            report.exit,
            ExitReason::BudgetExceeded {
                budget: BudgetKind::Time
            }
        );
        assert_eq!(report.elapsed, MINUTE);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_budget_reaches_a_backend_that_never_stops_talking() {
    /// A clock on which each look takes a second.
    struct Ticking(AtomicI64);
    impl Clock for Ticking {
        fn now(&self) -> Timestamp {
            let second = self.0.fetch_add(1, Ordering::SeqCst);
            Timestamp::from_second(second).expect("in range")
        }
        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }
    }
    let agents = Arc::new(OwnBackend::new(|_| {
        stream::repeat_with(|| Ok(StreamEvent::text("bla"))).boxed()
    }));
    let client = client_of(&agents);
    let limits = SessionLimits::default().with_budget(Budget::default().with_time(MINUTE));
    let session = Session::new(Arc::new(Ticking(AtomicI64::new(0))), limits);

    let result = session
        .run(client, "go".into(), &CancellationToken::new(), &mut |_| {})
        .await;

    assert_eq!(
        result.end,
        SessionEnd::BudgetSpent {
            budget: BudgetKind::Time
        }
    );
}

/// Makes a client outside of any run.
fn client_of(agents: &Arc<OwnBackend>) -> Box<dyn autonoe_core::AgentClient> {
    use autonoe_core::{
        AgentClientFactory, Gate, Grants, Places, RunId, SessionKey, SessionSpec, Toolbox,
    };
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(Places::new("/srv/project"), Grants::none());
    agents
        .create(SessionSpec::new(
            key,
            "/srv/project",
            gate,
            Toolbox::new([]),
        ))
        .expect("it always makes one")
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_slept_with_its_machine_is_not_idle() {
    /// Jumps by eight hours after twelve seconds, and looks at the time every five.
    struct Lid(tokio::time::Instant);
    impl Clock for Lid {
        fn now(&self) -> Timestamp {
            let awake = i64::try_from(self.0.elapsed().as_secs()).expect("in range");
            let asleep = if awake < 12 { 0 } else { 8 * 3600 };
            Timestamp::from_second(awake + asleep).expect("in range")
        }
        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
            Box::pin(tokio::time::sleep(duration.min(Duration::from_secs(5))))
        }
    }
    let agents = Arc::new(OwnBackend::new(|_| {
        says_after(tokio::time::sleep(MINUTE), vec![done()])
    }));
    let client = client_of(&agents);
    let session = Session::new(
        Arc::new(Lid(tokio::time::Instant::now())),
        SessionLimits::default(),
    );

    let result = session
        .run(client, "go".into(), &CancellationToken::new(), &mut |_| {})
        .await;

    assert!(result.end.is_completed(), "{:?}", result.end);
}

#[tokio::test(start_paused = true)]
async fn an_end_right_behind_the_last_report_keeps_its_cost() {
    let agents = Arc::new(OwnBackend::new(|_| {
        let tokens = TokenUsage {
            output: 100,
            ..TokenUsage::default()
        };
        let outcome = autonoe_core::SessionOutcome::Completed;
        let end = StreamEvent::end(outcome, Some(CostUsd::from_cents(7)));
        stream::iter([Ok(StreamEvent::usage(tokens, None)), Ok(end)]).boxed()
    }));
    let client = client_of(&agents);
    let limits = SessionLimits::default().with_budget(Budget::default().with_tokens(100));
    let session = Session::new(Arc::new(VirtualClock::new()), limits);

    let result = session
        .run(client, "go".into(), &CancellationToken::new(), &mut |_| {})
        .await;

    assert_eq!(
        result.end,
        SessionEnd::BudgetSpent {
            budget: BudgetKind::Tokens
        }
    );
    assert_eq!(result.cost.exact(), Some(CostUsd::from_cents(7)));
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_cancelled_before_it_began_is_not_prompted() {
    let agents = Arc::new(planner(Duration::ZERO, |_| vec![done()]));
    let client = client_of(&agents);
    let stop = CancellationToken::new();
    stop.cancel();
    let session = Session::new(Arc::new(SystemClock), SessionLimits::default());

    let result = session.run(client, "go".into(), &stop, &mut |_| {}).await;

    assert_eq!(result.end, SessionEnd::Cancelled);
    assert_eq!(
        (agents.seen().prompts.len(), agents.seen().disposed),
        (0, 1)
    );
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
    let idle = OwnBackend::new(|_| says_after(std::future::ready(()), vec![done()]));
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .agents(Arc::new(idle))
        .repository(Arc::new(Faulty::new(false)));

    let report = run_with(runner, async |control| {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    })
    .await;

    assert_eq!(
        (report.exit, report.elapsed),
        (ExitReason::Interrupted, MINUTE)
    );
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_always_conflicts_ends_the_run() {
    let bench = Bench::new([]);
    let report = bench
        .run(bench.runner().repository(Arc::new(Faulty::new(true))))
        .await;

    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "ledger_conflict");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_never_began_costs_nothing() {
    let backend = planner(Duration::ZERO, |_| vec![done()]);
    let bench = Bench::new([]);
    let no_texts = Arc::new(FixedInstructions::default());

    let runner = bench
        .runner()
        .agents(Arc::new(backend))
        .instructions(no_texts);
    let report = bench.run(runner).await;

    assert_eq!(report.exit.code(), "failed");
    assert_eq!(report.cost.exact(), Some(CostUsd::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_is_not_kept_by_sessions_that_do_not_tell() {
    let dollar = Budget::default().with_cost(CostUsd::from_cents(100));
    let bench = Bench::new([plans(&["A"]).costs_unknown()]);
    let report = bench.run(bench.runner().budget(dollar)).await;
    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "cost_not_reported");

    // Every other session breaks off, at a cost that nobody will ever know.
    let backend = planner(Duration::ZERO, |number| {
        if number % 2 == 0 {
            vec![]
        } else {
            vec![done()]
        }
    });
    let bench = Bench::new([]);
    let runner = bench
        .runner()
        .agents(Arc::new(backend))
        .budget(dollar)
        .max_iterations(500);
    let report = bench.run(runner).await;
    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
    assert_eq!(report.cost.unknown_parts, 4);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_spent_what_was_left_has_spent_the_budget_of_the_run() {
    let backend = planner(Duration::ZERO, |_| {
        let outcome = autonoe_core::SessionOutcome::BudgetExceeded;
        vec![Ok(StreamEvent::end(outcome, None))]
    });
    let bench = Bench::new([]);
    let dime = Budget::default().with_cost(CostUsd::from_cents(10));

    let report = bench
        .run(bench.runner().agents(Arc::new(backend)).budget(dime))
        .await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
    assert_eq!(report.sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_makes_earlier_verification_stale() {
    let bench = Bench::new([
        SessionScript::new("syncs")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .ends(),
        SessionScript::new("verifies one")
            .uses_tool("mcp__autonoe__verify", json!({"deliverableId": "A"}))
            .ends(),
    ]);
    bench
        .run(bench.runner().mode(Mode::Sync).max_iterations(2))
        .await;
    let second = Bench {
        repository: bench.repository.clone(),
        ..Bench::new([passes("A")])
    };

    second.run(second.runner().max_iterations(1)).await;

    let state = second.state().await;
    assert!(state.verification.is_empty(), "the code has changed since");
}
