//! Time and cost limits with backends that act at the worst moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{BudgetKind, SessionEnd, TokenUsage};
use autonoe_core::event::InstructionName;
use autonoe_core::run::{
    FixedInstructions, InstructionError, InstructionSource, Session, SessionLimits,
};
use autonoe_core::time::{Clock, SystemClock};
use autonoe_core::{Budget, CostUsd, ExitReason, StreamEvent};
use autonoe_testkit::VirtualClock;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::behaviour::own_backend::{MINUTE, OwnBackend, client_of, done, planner, text_after};
use crate::behaviour::support::{Fixture, plans};

#[tokio::test(start_paused = true)]
async fn the_time_budget_counts_from_the_start_of_the_run() {
    let mut backend = planner(60 * MINUTE, |_| vec![done()]);
    backend.probe_takes = 5 * MINUTE;
    let fixture = Fixture::new([]);
    let budget = Budget::default().with_time(10 * MINUTE);

    let report = fixture
        .run(fixture.runner().agents(Arc::new(backend)).budget(budget))
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
async fn the_time_budget_applies_while_a_backend_is_probed_and_a_session_set_up() {
    let budget = Budget::default().with_time(MINUTE);
    let mut slow = planner(Duration::ZERO, |_| vec![done()]);
    slow.probe_takes = 60 * MINUTE;
    let quick = planner(Duration::ZERO, |_| vec![done()]);
    let fixture = Fixture::new([]);
    for runner in [
        fixture.runner().agents(Arc::new(slow)),
        fixture
            .runner()
            .agents(Arc::new(quick))
            .instructions(Arc::new(Pending)),
    ] {
        let report = fixture.run(runner.budget(budget)).await;

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
async fn the_time_budget_ends_a_session_that_emits_endlessly() {
    /// A clock that advances by one second at each reading.
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
    let mut limits = SessionLimits::default();
    limits.budget.time = Some(MINUTE);
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

#[tokio::test(start_paused = true)]
async fn an_agent_that_slept_with_its_machine_is_not_idle() {
    /// Jumps by eight hours after twelve seconds; its timers fire every five seconds.
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
        text_after(tokio::time::sleep(MINUTE), vec![done()])
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
        let outcome = autonoe_core::agent::SessionOutcome::Completed;
        let end = StreamEvent::end(outcome, Some(CostUsd::from_cents(7)));
        stream::iter([Ok(StreamEvent::usage(tokens, None)), Ok(end)]).boxed()
    }));
    let client = client_of(&agents);
    let mut limits = SessionLimits::default();
    limits.budget.tokens = Some(100);
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
async fn a_session_cancelled_before_its_start_is_not_prompted() {
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

#[tokio::test(start_paused = true)]
async fn a_session_with_a_zero_limit_fails_with_its_name_before_its_prompt() {
    let (mut no_idle, mut no_dispose) = (SessionLimits::default(), SessionLimits::default());
    no_idle.idle = Duration::ZERO;
    no_dispose.dispose = Duration::ZERO;
    for (call, limits) in [(".idle(0)", no_idle), (".dispose(0)", no_dispose)] {
        let agents = Arc::new(planner(Duration::ZERO, |_| vec![done()]));
        let client = client_of(&agents);
        let session = Session::new(SystemClock, limits);

        let stop = CancellationToken::new();
        let result = session.run(client, "go".into(), &stop, &mut |_| {}).await;

        let SessionEnd::Failed { error } = result.end else {
            panic!("{call}: {result:?}");
        };
        assert_eq!(error.code, "invalid_value");
        assert!(error.message.starts_with(call), "{error}");
        assert_eq!(agents.seen().prompts.len(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_never_started_costs_nothing() {
    let backend = planner(Duration::ZERO, |_| vec![done()]);
    let fixture = Fixture::new([]);
    let no_texts = Arc::new(FixedInstructions::default());

    let runner = fixture
        .runner()
        .agents(Arc::new(backend))
        .instructions(no_texts);
    let report = fixture.run(runner).await;

    assert_eq!(report.exit.code(), "failed");
    assert_eq!(report.cost.exact(), Some(CostUsd::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_cost_budget_fails_on_sessions_that_do_not_report_cost() {
    let dollar = Budget::default().with_cost(CostUsd::from_cents(100));
    let fixture = Fixture::new([plans(&["A"]).costs_unknown()]);
    let report = fixture.run(fixture.runner().budget(dollar)).await;
    let ExitReason::Failed { error } = &report.exit else {
        panic!("{report:?}")
    };
    assert_eq!(error.code, "cost_not_reported");

    // Every other session does not finish, and its cost is unknown.
    let backend = planner(Duration::ZERO, |number| {
        if number % 2 == 0 {
            vec![]
        } else {
            vec![done()]
        }
    });
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(backend))
        .budget(dollar)
        .max_iterations(500);
    let report = fixture.run(runner).await;
    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
    assert_eq!(report.cost.unknown_parts, 4);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_spends_the_remaining_budget_ends_the_run() {
    let backend = planner(Duration::ZERO, |_| {
        let outcome = autonoe_core::agent::SessionOutcome::BudgetExceeded;
        vec![Ok(StreamEvent::end(outcome, None))]
    });
    let fixture = Fixture::new([]);
    let dime = Budget::default().with_cost(CostUsd::from_cents(10));

    let report = fixture
        .run(fixture.runner().agents(Arc::new(backend)).budget(dime))
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
async fn a_cost_budget_tolerates_a_few_sessions_with_partly_unknown_cost() {
    // One call of every session did not finish.
    let backend = planner(Duration::ZERO, |_| {
        let known = StreamEvent::usage(TokenUsage::default(), Some(CostUsd::from_cents(1)));
        let cut = StreamEvent::usage(TokenUsage::default(), None);
        let outcome = autonoe_core::agent::SessionOutcome::Completed;
        vec![Ok(known), Ok(cut), Ok(StreamEvent::end(outcome, None))]
    });
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .agents(Arc::new(backend))
        .budget(Budget::default().with_cost(CostUsd::from_cents(100)))
        .max_iterations(500);

    let report = fixture.run(runner).await;

    assert_eq!(
        report.exit,
        ExitReason::BudgetExceeded {
            budget: BudgetKind::Cost
        }
    );
    assert_eq!(report.cost.unknown_parts, 4);
    assert_eq!(report.cost.known_usd, CostUsd::from_cents(4));
}

#[tokio::test(start_paused = true)]
async fn the_events_of_a_backend_are_heartbeats() {
    type Shows = fn(&autonoe_core::event::Events);
    let shows: [Shows; 3] = [
        |events| events.debug("still here", None),
        |events| events.record_heartbeat(),
        |_| {},
    ];
    for (show, minutes) in shows.into_iter().zip([100, 100, 30]) {
        let backend = OwnBackend::new(move |spec| {
            let work = async move {
                crate::behaviour::own_backend::call(
                    spec.clone(),
                    "create",
                    crate::behaviour::support::create(&["A"]),
                )
                .await;
                for _ in 0..5 {
                    tokio::time::sleep(20 * MINUTE).await;
                    show(&spec.events.child());
                }
            };
            text_after(work, vec![done()])
        });
        let fixture = Fixture::new([]);
        let runner = fixture.runner().agents(Arc::new(backend)).max_iterations(1);

        let report = fixture.run(runner).await;

        assert_eq!(report.elapsed, minutes * MINUTE, "{report:?}");
    }
}
