//! Cancelling, pausing and instructing single sessions.

use std::time::Duration;

use autonoe_core::agent::{BudgetKind, SessionEnd, Support};
use autonoe_core::event::WaitReason;
use autonoe_core::run::FlowExit;
use autonoe_core::session::SessionWait;
use autonoe_core::{Budget, RunControl};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::json;

use super::{MINUTE, open, order};
use crate::behaviour::support::{Fixture, idles};

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_session_and_nothing_begins_after_it() {
    let fixture = Fixture::new([SessionScript::new("works").says("working").hangs()]);
    let control = RunControl::new();
    let mut open = open(fixture.runner(), &control).await;

    let (performed, ()) = tokio::join!(open.run(order("work")), async {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    });
    let next = open.run(order("more")).await;

    assert_eq!(performed.result.end, SessionEnd::Cancelled);
    assert_eq!(performed.text, "working");
    assert_eq!(next.result.end, SessionEnd::Cancelled);
    assert_eq!(fixture.agents.disposed(), 1);
    let now = jiff::Timestamp::UNIX_EPOCH + Duration::from_secs(u32::MAX.into());
    assert_eq!(
        open.wait(WaitReason::Quota, now).await,
        SessionWait::Cancelled
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_the_flow_before_its_next_session() {
    let fixture = Fixture::new([idles(), idles()]);
    let control = RunControl::new();
    let mut open = open(fixture.runner(), &control).await;
    control.pause();

    let (performed, ()) = tokio::join!(open.run(order("work")), async {
        tokio::time::sleep(MINUTE).await;
        control.resume();
    });

    assert!(performed.result.end.is_completed());
    assert_eq!(open.spent().time, MINUTE);
    assert_eq!(
        (fixture.log.count("paused"), fixture.log.count("resumed")),
        (1, 1)
    );
    // It is not paused any more.
    assert!(open.run(order("more")).await.result.end.is_completed());
}

#[tokio::test(start_paused = true)]
async fn a_pause_does_not_outlast_the_time_of_the_flow() {
    let fixture = Fixture::new([]);
    let control = RunControl::new();
    let runner = fixture.runner().budget(Budget::default().with_time(MINUTE));
    let mut open = open(runner, &control).await;
    control.pause();

    let performed = open.run(order("work")).await;

    let budget = BudgetKind::Time;
    assert_eq!(performed.result.end, SessionEnd::BudgetSpent { budget });
}

#[tokio::test(start_paused = true)]
async fn a_message_is_in_the_next_prompt_until_an_agent_has_read_it() {
    let message = "be quick";
    let fixture = Fixture::new([
        SessionScript::new("breaks off").expects_in_prompt(message),
        SessionScript::new("reads")
            .expects_in_prompt(message)
            .says("yes")
            .ends(),
        idles(),
    ]);
    let control = RunControl::new();
    let mut open = open(fixture.runner(), &control).await;
    control.instruct(message);

    let failed = open.run(order("one")).await;
    open.run(order("two")).await;
    open.run(order("three")).await;
    control.instruct("too late");
    let report = open.close(FlowExit::Completed, json!({}));

    assert!(matches!(failed.result.end, SessionEnd::Failed { .. }));
    let prompts = fixture.agents.prompts();
    assert!(
        prompts[1].contains(message) && !prompts[2].contains(message),
        "{prompts:?}"
    );
    assert_eq!(report.undelivered_messages, ["too late"]);
}

#[tokio::test(start_paused = true)]
async fn a_running_session_gets_the_message_if_the_backend_can_be_steered() {
    let agents = ScriptedBackend::new([SessionScript::new("listens")
        .waits(MINUTE * 2)
        .says("ok")
        .ends()]);
    let able = agents.capabilities().clone().with_steering(Support::Yes);
    let fixture = Fixture::with(agents.with_capabilities(able));
    let control = RunControl::new();
    let mut open = open(fixture.runner(), &control).await;

    let ((), _) = tokio::join!(
        async {
            tokio::time::sleep(MINUTE).await;
            control.instruct("be quick");
        },
        open.run(order("work"))
    );

    assert_eq!(fixture.agents.received()[0].steered, ["be quick"]);
    assert!(
        open.close(FlowExit::Completed, json!({}))
            .undelivered_messages
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_session_is_an_unknown_cost() {
    let fixture = Fixture::new([SessionScript::new("hangs").hangs(), idles()]);
    let control = RunControl::new();
    let mut open = open(fixture.runner(), &control).await;
    control.instruct("be quick");

    let dropped = tokio::time::timeout(MINUTE, open.run(order("one"))).await;
    let next = open.run(order("two")).await;

    assert!(dropped.is_err());
    assert_eq!(fixture.agents.open_clients(), 0);
    assert_eq!(next.number, 2);
    assert!(fixture.agents.prompts()[1].contains("be quick"));
    assert_eq!(open.spent().cost.unknown_parts, 1);
}
