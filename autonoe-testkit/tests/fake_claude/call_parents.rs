//! Origins of tool calls: the model response and the sub-agent.

use std::sync::{Arc, Mutex};

use autonoe_core::event::Events;
use autonoe_core::time::{SeededIds, SystemClock};
use autonoe_testkit::fake_claude::Build;
use serde_json::Value;

use crate::fake_claude::fixture::{Fixture, SetStatus, on_both_builds, recorded, transcript};

/// Returns the recorded messages of the agent.
fn messages(build: Build, session: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(transcript(build, session)).expect("it was recorded");
    text.lines()
        .filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["line"].clone()))
        .filter(|line| line["type"] == "assistant")
        .collect()
}

async fn a_tool_knows_the_answer_of_the_model_that_called_it(build: Build) {
    let fixture = Fixture::new(&recorded(build, "c11_mcp_parallel_calls"));
    let message_ids: Arc<Mutex<Vec<Option<String>>>> = Arc::default();

    let spec = fixture.spec([SetStatus::recording(message_ids.clone())]);
    fixture.played_with(fixture.options(), spec).await;

    let expected: Vec<_> = messages(build, "c11_mcp_parallel_calls")
        .iter()
        .filter(|line| line["message"]["content"][0]["name"] == "mcp__autonoe__set_status")
        .map(|line| line["message"]["id"].as_str().map(str::to_owned))
        .collect();
    let message_ids = message_ids.lock().expect("not poisoned").clone();
    assert!(expected.len() > 1, "{expected:?}");
    assert_eq!(message_ids, expected);
}

async fn a_call_of_a_sub_agent_is_below_the_call_that_the_sub_agent_is(build: Build) {
    let messages = messages(build, "l04b_subagent_hooked");
    let of_agent = messages.iter().find_map(|line| {
        let parent = line["parent_tool_use_id"].as_str()?;
        Some((line["message"]["content"][0]["id"].as_str()?, parent))
    });
    let (call, agent) = of_agent.expect("a sub-agent made a call");
    let fixture = Fixture::new(&recorded(build, "l04b_subagent_hooked"));
    let mut spec = fixture.spec([]);
    let ids = Arc::new(SeededIds::new(1));
    let events = Events::new(Vec::new(), Arc::new(SystemClock), ids);
    spec.events = events.clone();

    fixture.played_with(fixture.options(), spec).await;

    let (call, agent) = (events.at_call(call), events.at_call(agent));
    assert_eq!(agent.span().parent, Some(events.span().span));
    assert_eq!(call.span().parent, Some(agent.span().span));
}

on_both_builds![
    a_tool_knows_the_answer_of_the_model_that_called_it,
    a_call_of_a_sub_agent_is_below_the_call_that_the_sub_agent_is,
];
