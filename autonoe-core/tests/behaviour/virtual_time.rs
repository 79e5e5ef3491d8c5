//! Hours of waiting, tested in milliseconds.

use std::time::Duration;

use autonoe_core::run::QuotaBackoff;
use autonoe_core::{ExitReason, OnQuota, RunControl};
use autonoe_testkit::SessionScript;

use crate::behaviour::support::{Fixture, passes, plans};

const HOUR: Duration = Duration::from_secs(3600);

fn quota(resets_at: Option<&str>) -> SessionScript {
    SessionScript::new("hits the quota")
        .says("working")
        .hits_quota(resets_at.map(|time| time.parse().expect("a time")))
}

// Shows: interfaces/session-runner/option-wait-for-quota, spec/3.4/wait-progress
#[tokio::test(start_paused = true)]
async fn a_five_hour_quota_wait_takes_no_time_and_ticks_each_second() {
    let fixture = Fixture::new([
        plans(&["A"]),
        quota(Some("2026-01-01T05:00:03Z")),
        passes("A"),
    ]);

    let report = fixture.run(fixture.runner().on_quota(OnQuota::Wait)).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.elapsed, 5 * HOUR + Duration::from_secs(3));
    assert_eq!((report.iterations, report.sessions), (2, 3));
    assert_eq!(fixture.log.count("wait_tick"), 5 * 3600);
}

#[tokio::test(start_paused = true)]
async fn a_tick_has_the_remaining_time_and_the_reset_time() {
    let fixture = Fixture::new([
        plans(&["A"]),
        quota(Some("2026-01-01T00:01:03Z")),
        passes("A"),
    ]);

    fixture.run(fixture.runner().on_quota(OnQuota::Wait)).await;

    let ticks: Vec<_> = fixture
        .log
        .json()
        .into_iter()
        .filter(|event| event["event"] == "wait_tick")
        .collect();
    assert_eq!(ticks[0]["remainingMs"], 60_000);
    assert_eq!(ticks[59]["remainingMs"], 1_000);
    assert_eq!(ticks[0]["until"], "2026-01-01T00:01:03Z");
    assert_eq!(ticks[0]["reason"], "quota");
}

#[tokio::test(start_paused = true)]
async fn without_a_known_reset_it_backs_off_and_never_exits_silently() {
    let fixture = Fixture::new([plans(&["A"]), quota(None), quota(None), passes("A")]);
    let backoff = QuotaBackoff {
        first: HOUR,
        longest: 8 * HOUR,
    };

    let report = fixture
        .run(
            fixture
                .runner()
                .on_quota(OnQuota::Wait)
                .quota_backoff(backoff),
        )
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.elapsed, 3 * HOUR + Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_reset_time_in_the_past_causes_a_backoff() {
    let fixture = Fixture::new([
        plans(&["A"]),
        quota(Some("2025-06-01T00:00:00Z")),
        passes("A"),
    ]);

    let report = fixture.run(fixture.runner().on_quota(OnQuota::Wait)).await;

    assert_eq!(report.elapsed, Duration::from_secs(300 + 3));
}

// Shows: interfaces/session-runner/exit-quota-exceeded
#[tokio::test(start_paused = true)]
async fn quota_without_waiting_ends_the_run() {
    let fixture = Fixture::new([plans(&["A"]), quota(Some("2026-01-01T05:00:00Z"))]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::QuotaExceeded);
    assert_eq!(report.elapsed, Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_ends_at_once() {
    let fixture = Fixture::new([plans(&["A"]), quota(Some("2026-01-01T05:00:00Z"))]);
    let control = RunControl::new();
    let runner = fixture
        .runner()
        .on_quota(OnQuota::Wait)
        .build()
        .expect("parts fit");
    let canceller = control.clone();
    tokio::spawn(async move {
        tokio::time::sleep(HOUR).await;
        canceller.cancel();
    });

    let report = runner.run(&control).await;

    assert_eq!(report.exit, ExitReason::Interrupted);
    assert_eq!(report.elapsed, HOUR);
}

#[tokio::test(start_paused = true)]
async fn a_suspended_machine_does_not_wait_twice() {
    // The wall clock jumps by five hours while the timer has counted one second.
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use autonoe_core::time::Clock;
    use futures::future::BoxFuture;
    use jiff::Timestamp;

    struct Suspended {
        seconds: AtomicI64,
    }
    impl Clock for Suspended {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(self.seconds.load(Ordering::SeqCst)).expect("in range")
        }
        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
            // Each nap of the quota wait is one during which the machine was suspended.
            let nap = duration <= Duration::from_secs(1);
            self.seconds
                .fetch_add(if nap { 5 * 3600 } else { 0 }, Ordering::SeqCst);
            Box::pin(tokio::time::sleep(duration))
        }
    }
    let fixture = Fixture::new([
        plans(&["A"]),
        quota(Some("1970-01-01T05:00:00Z")),
        passes("A"),
    ]);
    let clock = Arc::new(Suspended {
        seconds: AtomicI64::new(0),
    });
    let runner = fixture
        .runner()
        .on_quota(OnQuota::Wait)
        .pause_between_sessions(Duration::ZERO)
        .clock(clock);

    let report = fixture.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(fixture.log.count("wait_tick"), 1);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_is_ended_as_an_error() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("falls silent")
            .says("one moment")
            .hangs(),
        passes("A"),
    ]);

    let report = fixture.run(fixture.runner().idle_limit(HOUR)).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.elapsed, HOUR + Duration::from_secs(6));
    let ended = &fixture
        .log
        .json()
        .into_iter()
        .filter(|e| e["event"] == "session_ended")
        .nth(1);
    let code = ended
        .as_ref()
        .map(|event| event["result"]["error"]["code"].clone());
    assert_eq!(code, Some("idle".into()));
    assert_eq!(fixture.agents.disposed(), 3);
}

#[tokio::test(start_paused = true)]
async fn session_with_occasional_events_is_not_idle() {
    let minutes = Duration::from_secs(50 * 60);
    let fixture = Fixture::new([
        SessionScript::new("is slow")
            .waits(minutes)
            .says("still here")
            .waits(minutes)
            .uses_tool(
                "mcp__autonoe__create",
                crate::behaviour::support::create(&["A"]),
            )
            .waits(minutes)
            .ends(),
        passes("A"),
    ]);

    let report = fixture.run(fixture.runner().idle_limit(HOUR)).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_disposal_that_hangs_is_left_alone_after_its_limit() {
    let fixture = Fixture::new([plans(&["A"]).dispose_hangs(), passes("A")]);
    let limit = Duration::from_secs(20);

    let report = fixture.run(fixture.runner().dispose_limit(limit)).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!(report.elapsed, limit + Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_disposal_that_fails_or_panics_does_not_end_the_run() {
    let fixture = Fixture::new([
        plans(&["A", "B"]).dispose_fails(),
        passes("A").dispose_panics(),
        passes("B"),
    ]);

    let report = fixture.run(fixture.runner()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}
