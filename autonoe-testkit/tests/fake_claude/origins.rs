//! Where calls come from: which answer of the model, which sub-agent.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::{
    Events, SeededIds, SystemClock, Tool, ToolContext, ToolDefinition, ToolError, ToolOutput,
};
use autonoe_testkit::fake_claude::{Build, FakeScript, FakeTurn, ToolUse};
use serde_json::{Value, json};

use crate::fake_claude::replay::transcripts;
use crate::fake_claude::setting::{Setting, on_both_builds};

/// Remembers which answers of the model called it.
struct Called {
    definition: ToolDefinition,
    by: Arc<Mutex<Vec<Option<String>>>>,
}

#[async_trait]
impl Tool for Called {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut by = self.by.lock().expect("it is free");
        by.push(context.message_id.clone());
        Ok(ToolOutput::new("noted"))
    }
}

async fn a_tool_knows_the_answer_of_the_model_that_called_it(build: Build) {
    let call = || ToolUse::new("mcp__autonoe__called", json!({}));
    let turn = FakeTurn::new().uses(call()).uses(call()).says("Done.");
    let setting = Setting::new(&FakeScript::new([turn]).on(build));
    let by: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
    let definition = ToolDefinition::new("called", "Notes.", json!({"type": "object"}));
    let tool = Called {
        definition,
        by: by.clone(),
    };

    let played = setting
        .played_with(
            setting.options(),
            setting.spec([Arc::new(tool) as Arc<dyn Tool>]),
        )
        .await;

    let told: Vec<_> = setting
        .log()
        .iter()
        .filter(|line| line.to_string().contains("mcp__autonoe__called"))
        .filter_map(|line| find(line, "message")?["id"].as_str().map(str::to_owned))
        .collect();
    let by = by.lock().expect("it is free").clone();
    assert_eq!(by.len(), 2, "{played:?}");
    let by: Vec<String> = by.into_iter().flatten().collect();
    assert_eq!(by, told);
}

/// Returns the first field of this name that is an object, wherever it stands.
fn find<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    let fields = value.as_object()?;
    match fields.get(name) {
        Some(found) if found.is_object() => Some(found),
        _ => fields.values().find_map(|value| find(value, name)),
    }
}

async fn a_call_of_a_sub_agent_is_below_the_call_that_the_sub_agent_is(build: Build) {
    let path = transcripts().join(format!("{}/l04b_subagent_hooked.jsonl", build.version()));
    let recorded = std::fs::read_to_string(&path).expect("it was recorded");
    let said: Vec<Value> = recorded
        .lines()
        .filter_map(|line| Some(serde_json::from_str::<Value>(line).ok()?["line"].clone()))
        .filter(|line| line["type"] == "assistant")
        .collect();
    let of_agent = said.iter().find_map(|line| {
        let parent = line["parent_tool_use_id"].as_str()?;
        Some((line["message"]["content"][0]["id"].as_str()?, parent))
    });
    let (call, agent) = of_agent.expect("a sub-agent made a call");
    let setting = Setting::new(&FakeScript::replay(&path).on(build));
    let mut spec = setting.spec([]);
    let ids = Arc::new(SeededIds::new(1));
    let events = Events::new(Vec::new(), Arc::new(SystemClock), ids);
    spec.events = events.clone();

    setting.played_with(setting.options(), spec).await;

    let (call, agent) = (events.at_call(call), events.at_call(agent));
    assert_eq!(agent.span().parent, Some(events.span().span));
    assert_eq!(call.span().parent, Some(agent.span().span));
}

on_both_builds![
    a_tool_knows_the_answer_of_the_model_that_called_it,
    a_call_of_a_sub_agent_is_below_the_call_that_the_sub_agent_is,
];
