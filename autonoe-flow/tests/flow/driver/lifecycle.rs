//! Lifecycle of a flow: created, started, stopped.

use autonoe_flow::FlowEnd;
use serde_json::json;

use super::{Fixture, build, codes, text_session};
use crate::support::{agent, definition, one_step};

fn flow() -> autonoe_flow::FlowDefinition {
    definition(agent(json!({})), one_step())
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(start_paused = true)]
async fn a_built_flow_starts_runs_once_and_stops() {
    let bench = Fixture::new([text_session("x")]);

    let created = build(flow(), bench.options()).expect("everything is there");
    let mut started = is_send(created.start(bench.start()))
        .await
        .expect("it starts");
    assert_eq!(started.machine().context().iteration(), 0);
    assert_eq!(started.machine().context().session_id(), None);
    assert_eq!(bench.agents.prompts(), Vec::<String>::new());
    let end = is_send(started.run()).await;
    assert_eq!(started.machine().context().iteration(), 1);
    let again = started.run().await;
    let result = started.stop();

    let FlowEnd::Complete { reason, .. } = &end else {
        panic!("{end:?}");
    };
    assert_eq!(reason, "the flow reached the end of its steps");
    assert_eq!((&again, &result.end), (&end, &end));
    assert_eq!(bench.agents.prompts(), ["Go on."]);
    assert_eq!((bench.agents.alive(), bench.agents.disposed()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_stopped_before_its_end_was_interrupted() {
    let bench = Fixture::new([]);
    let created = build(flow(), bench.options()).expect("everything is there");

    let started = created.start(bench.start()).await.expect("it starts");

    let result = started.stop();

    assert_eq!(codes(&result), ["interrupted"]);
    assert!(result.end.is_resumable(), "{result:?}");
}
