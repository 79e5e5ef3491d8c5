//! Tests of the resolution of tool names.

use std::sync::Arc;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::tool::{ToolStatus, Toolbox};
use autonoe_core::{AgentClientFactory, Budget, SessionSpec, Tool, ToolOutput};
use serde_json::json;

use crate::agent::fixture::{ScriptedModel, TestTool, agents, calls, spec, text_reply, turn_of};

fn tool_returning(name: &str, output: &'static str) -> Arc<dyn Tool> {
    TestTool::reads(name, move |_, _| async move { Ok(ToolOutput::new(output)) })
}

/// Returns a session with these tools, with everything granted.
fn bringing(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> SessionSpec {
    let mut spec = spec(Budget::default());
    spec.tools = Toolbox::new(tools);
    let grants = Grants::none()
        .with_tool("Echo")
        .with_tool("list")
        .with_toolbox(&spec.tools);
    spec.gate = Gate::new(ProjectPaths::new("/srv/project"), grants);
    spec
}

#[tokio::test(start_paused = true)]
async fn tools_of_the_session_and_of_the_agents_with_one_name_are_two() {
    let model = ScriptedModel::new([
        calls(&[
            ("c1", "Echo", json!({})),
            ("c2", "mcp__autonoe__Echo", json!({})),
        ]),
        text_reply("Well."),
    ]);
    let agents = agents(&model, [tool_returning("Echo", "of the agents")], |_| {});
    let session = bringing([tool_returning("Echo", "of the session")]);

    let mut client = agents.create(session).expect("it can be made");
    let turn = turn_of(client.as_mut(), "Go.").await;

    assert_eq!(
        turn.responses(),
        [
            ("c1", "of the agents", ToolStatus::Ok),
            ("c2", "of the session", ToolStatus::Ok),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_the_session_is_not_there_under_its_bare_name() {
    // The gate allows the name, but no tool has it.
    let model = ScriptedModel::new([calls(&[("c1", "list", json!({}))]), text_reply("Well.")]);
    let agents = agents(&model, [], |_| {});
    let session = bringing([tool_returning("list", "of the session")]);

    let mut client = agents.create(session).expect("it can be made");
    let turn = turn_of(client.as_mut(), "Go.").await;

    let responses = turn.responses();
    assert!(
        matches!(responses[..], [("c1", reason, ToolStatus::Error)] if reason.contains("no tool list")),
        "{responses:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn two_tools_with_the_same_name_for_the_model_are_refused() {
    let model = ScriptedModel::new([]);
    let agents = agents(
        &model,
        [tool_returning("mcp__autonoe__list", "ours")],
        |_| {},
    );

    let refused = agents.create(bringing([tool_returning("list", "of the session")]));

    let error = refused.expect_err("it is refused");
    assert_eq!(error.kind(), AgentErrorKind::Configuration);
    assert!(error.to_string().contains("mcp__autonoe__list"), "{error}");
}
