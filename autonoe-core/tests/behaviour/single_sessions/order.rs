//! Orders of single sessions: tools, access, model and conversation.

use autonoe_core::agent::{HookCoverage, OuterSandbox, SessionEnd, Support};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::Grants;
use autonoe_core::run::SessionAccess;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{HookDecision, RunControl, hook_fn};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::json;

use super::{open, order, outputs};
use crate::behaviour::support::{Fixture, idles};

#[tokio::test(start_paused = true)]
async fn tools_of_one_session_are_not_those_of_the_next() {
    let fixture = Fixture::new([idles(), idles(), idles()]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    open.run(order("work").tool(outputs())).await;
    open.run(order("plan").deliverable_tools(InstructionName::Initializer))
        .await;
    // A step may have the name of an instruction; the name does not add its tools.
    open.run(order("coding")).await;

    let tools: Vec<_> = fixture
        .agents
        .received()
        .into_iter()
        .map(|got| got.tools)
        .collect();
    assert_eq!(
        tools,
        [
            vec!["set_outputs".to_owned()],
            vec!["create".to_owned()],
            vec![]
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_a_duplicate_name_reaches_no_agent() {
    let fixture = Fixture::new([]);
    let mut open = open(fixture.runner().tool(outputs()), &RunControl::new()).await;

    let performed = open.run(order("work").tool(outputs())).await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("it cannot begin: {performed:?}");
    };
    assert_eq!(error.code, "tool_name_taken");
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_resumed_if_the_backend_can() {
    let fixture = Fixture::with(resuming([idles(), idles()]));
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    let first = open.run(order("work")).await;
    let conversation = first.result.agent_session.expect("it has a name");
    open.run(order("more").resume(conversation.clone())).await;

    let resumed: Vec<_> = fixture
        .agents
        .received()
        .into_iter()
        .map(|got| got.resume)
        .collect();
    assert_eq!(resumed, [None, Some(conversation)]);
    assert_eq!(fixture.log.count("conversation_resumed"), 1);
}

fn resuming(scripts: impl IntoIterator<Item = SessionScript>) -> ScriptedBackend {
    let agents = ScriptedBackend::new(scripts);
    let able = agents.capabilities().clone().with_resume(Support::Yes);
    agents.with_capabilities(able)
}

#[tokio::test(start_paused = true)]
async fn a_session_fails_instead_of_starting_over_if_the_backend_cannot_resume() {
    let fixture = Fixture::new([]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    let performed = open
        .run(order("more").resume(AgentSessionId::new("earlier")))
        .await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("it cannot: {performed:?}");
    };
    assert_eq!(error.code, "resume_not_supported");
}

#[tokio::test(start_paused = true)]
async fn hooks_and_grants_cannot_let_a_judge_change_anything() {
    let fixture = Fixture::new([SessionScript::new("judges")
        .uses_tool("Read", json!({"file_path": "/srv/project/a"}))
        .is_denied_by(
            "read-only",
            "Write",
            json!({"file_path": "/srv/project/a", "content": ""}),
        )
        .is_denied_by("read-only", "Bash", json!({"command": "ls"}))
        .is_denied_by("read-only", "mcp__other__look", json!({}))
        .uses_tool("mcp__autonoe__set_outputs", json!({}))
        .ends()]);
    let runner = fixture
        .runner()
        .hook(hook_fn("lenient", |_, _| HookDecision::Approve));
    let mut open = open(runner, &RunControl::new()).await;
    let access = SessionAccess::ReadOnly(Grants::none().with_tool("Bash").with_tool("Read"));

    let performed = open
        .run(order("check").access(access).tool(outputs()))
        .await;

    assert!(performed.result.end.is_completed(), "{performed:?}");
    fixture.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_submits_only_some_calls_cannot_run_a_judge() {
    let agents = ScriptedBackend::new([]);
    let weak = agents
        .capabilities()
        .clone()
        .with_hooks(HookCoverage::Partial);
    let fixture = Fixture::with(agents.with_capabilities(weak));
    let sandbox = OuterSandbox {
        name: "a box".to_owned(),
    };
    let mut open = open(fixture.runner().outer_sandbox(sandbox), &RunControl::new()).await;

    let performed = open
        .run(order("check").access(SessionAccess::read_only()))
        .await;

    let SessionEnd::Failed { error } = performed.result.end else {
        panic!("nothing holds it: {performed:?}");
    };
    assert_eq!(error.code, "guards_not_enforced");
}

#[tokio::test(start_paused = true)]
async fn session_access_replaces_grants_of_the_run() {
    let edit = json!({"file_path": "/srv/project/a", "old_string": "", "new_string": ""});
    let fixture = Fixture::new([
        SessionScript::new("edits")
            .uses_tool("Edit", edit.clone())
            .ends(),
        SessionScript::new("may not")
            .is_denied_by("grants", "Edit", edit.clone())
            .ends(),
        SessionScript::new("may").uses_tool("Edit", edit).ends(),
    ]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;
    let edits = Grants::none().with_tool("Edit(./**)");

    for access in [
        SessionAccess::Default,
        SessionAccess::Only(Grants::none().with_tool("Read")),
        SessionAccess::Only(edits),
    ] {
        let performed = open.run(order("edit").access(access)).await;
        assert!(performed.result.end.is_completed(), "{performed:?}");
    }

    fixture.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn model_and_system_prompt_are_those_of_the_order_or_else_of_the_builder() {
    let fixture = Fixture::new([idles(), idles()]);
    let runner = fixture
        .runner()
        .system_prompt("usual")
        .models(autonoe_core::run::Models::all("usual-model"));
    let mut open = open(runner, &RunControl::new()).await;

    open.run(order("one")).await;
    open.run(order("two").system_prompt("own").model("own-model"))
        .await;

    let got: Vec<_> = fixture
        .agents
        .received()
        .into_iter()
        .map(|got| {
            (
                got.model.unwrap_or_default(),
                got.system_prompt.unwrap_or_default(),
            )
        })
        .collect();
    let pair = |model: &str, prompt: &str| (model.to_owned(), prompt.to_owned());
    assert_eq!(
        got,
        [pair("usual-model", "usual"), pair("own-model", "own")]
    );
}

#[tokio::test(start_paused = true)]
async fn an_unusable_order_fails_with_the_name_of_its_setter() {
    let fixture = Fixture::new([]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;

    for (call, order) in [
        (".name(..)", order("work").name(" ")),
        (".model(..)", order("work").model("")),
        (".max_turns(0)", order("work").max_turns(0)),
    ] {
        let performed = open.run(order).await;

        let SessionEnd::Failed { error } = performed.result.end else {
            panic!("{call}: {performed:?}");
        };
        assert_eq!(error.code, "invalid_value", "{call}");
        let message = &error.message;
        assert!(message.starts_with(&format!("{call}: ")), "{message}");
    }
    // No agent was created.
    fixture.agents.verify();
}
