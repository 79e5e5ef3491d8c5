//! Conversations, permissions and variables of sessions.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Support};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};
use autonoe_flow::{FlowErrorKind, ParameterValues, StartOptions};
use autonoe_testkit::{CapturedLogs, ScriptedBackend, SessionScript};
use serde_json::{Value, json};

use super::{Fixture, build, codes, judges, text_session, with_prompts};
use crate::support::{agent, definition, step};

fn one_step() -> Value {
    json!({"entryStep": "a", "steps": {"a": step("end")}})
}

/// Agents whose conversations can be continued.
fn continuing(scripts: impl IntoIterator<Item = SessionScript>) -> Fixture {
    continuing_with(ScriptedBackend::new(scripts))
}

fn continuing_with(agents: ScriptedBackend) -> Fixture {
    let capabilities: Capabilities = agents.capabilities().clone().with_resume(Support::Yes);
    Fixture::with(agents.with_capabilities(capabilities))
}

/// A backend that has lost all conversations.
struct Forgetful(Arc<ScriptedBackend>);

#[async_trait]
impl AgentClientFactory for Forgetful {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.0.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        match &spec.resume {
            Some(id) => Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!("there is no conversation {id}"),
            )),
            None => self.0.create(spec),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn conversation_is_continued_and_reported_where_supported() {
    let mut a = step("b");
    a["check"] = json!({"type": "prompt", "prompt": "prompts/a.md"});
    let registry = json!({"entryStep": "a", "steps": {"a": a, "b": step("end")}});
    let fixture = continuing([text_session("one"), judges(true), text_session("two")]);

    let result = fixture.run(definition(agent(json!({})), registry)).await;

    assert!(result.is_success(), "{result:?}");
    let resumed: Vec<Option<String>> = fixture
        .agents
        .received()
        .iter()
        .map(|session| session.resume.as_ref().map(ToString::to_string))
        .collect();
    // The judge has its own conversation.
    assert_eq!(resumed, [None, None, Some("scripted-1".to_owned())]);
    assert_eq!(
        fixture.events.lines(),
        [
            "1: a visit 1 retry 0, fresh",
            "2: b visit 1 retry 0, continues scripted-1"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_conversation_is_replaced_once_in_the_same_iteration() {
    let refused = SessionScript::new("refused").fails(AgentErrorKind::Authentication, "no");
    for (fresh, expected) in [
        (text_session("two"), vec![]),
        (refused, vec!["sdk_refused"]),
    ] {
        let registry = json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("end")}});
        let agents = ScriptedBackend::new([text_session("one")]).for_instruction("b", [fresh]);
        let fixture = continuing_with(agents);
        let builder = fixture.builder().agents(Forgetful(fixture.agents.clone()));
        let options = fixture.options_of(builder.build_sessions().expect("parts fit"));

        let result = fixture
            .run_with(definition(agent(json!({})), registry), options)
            .await;

        assert_eq!(codes(&result), expected);
        assert_eq!(result.iterations(), 2);
        assert_eq!(
            fixture.events.lines(),
            [
                "1: a visit 1 retry 0, fresh",
                "2: b visit 1 retry 0, continues scripted-1",
                "2: b visit 1 retry 0, fresh"
            ]
        );
        assert_eq!(fixture.agents.prompts(), ["Go on.", "Go on."]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_was_resumed_and_failed_is_a_failed_iteration() {
    let mut b = step("end");
    b["retry"] = json!({"maxRetries": 1});
    let registry = json!({"entryStep": "a", "steps": {"a": step("b"), "b": b}});
    let fails = SessionScript::new("fails").fails(AgentErrorKind::Overloaded, "no answer");
    let fixture = continuing([text_session("one"), fails, text_session("two")]);

    let result = fixture.run(definition(agent(json!({})), registry)).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(
        fixture.events.lines(),
        [
            "1: a visit 1 retry 0, fresh",
            "2: b visit 1 retry 0, continues scripted-1",
            "3: b visit 1 retry 1, fresh"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn each_prompt_begins_a_conversation_where_the_backend_cannot_continue_one() {
    let registry = json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("end")}});
    let fixture = Fixture::new([text_session("one"), text_session("two")]);

    fixture.run(definition(agent(json!({})), registry)).await;

    assert_eq!(
        fixture.events.lines(),
        ["1: a visit 1 retry 0, fresh", "2: b visit 1 retry 0, fresh"]
    );
    assert!(
        fixture
            .agents
            .received()
            .iter()
            .all(|session| session.resume.is_none())
    );
}

#[tokio::test(start_paused = true)]
async fn a_permission_mode_grants_only_what_it_documents() {
    let read = json!({"file_path": "/srv/project/a"});
    let write = json!({"file_path": "/srv/project/a", "content": ""});
    for (mode, may_read, may_write, by) in [
        ("default", true, false, "grants"),
        ("acceptEdits", true, true, "grants"),
        ("plan", true, false, "read-only"),
    ] {
        let mut script = SessionScript::new(mode);
        for (tool, input, may) in [("Read", &read, may_read), ("Write", &write, may_write)] {
            script = if may {
                script.uses_tool(tool, input.clone())
            } else {
                script.is_denied_by(by, tool, input.clone())
            };
        }
        let fixture = Fixture::new([script
            .is_denied_by(by, "Bash", json!({"command": "npm test"}))
            .ends()]);
        let behavior =
            json!({"behavior": {"allowedTools": ["Read(./**)"], "permissionMode": mode}});

        let result = fixture.run(definition(agent(behavior), one_step())).await;

        assert!(result.is_success(), "{mode}: {result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_only_mode_also_applies_to_tools_that_are_allowed_by_name() {
    let write = json!({"file_path": "/srv/project/a", "content": ""});
    let fixture = Fixture::new([SessionScript::new("plans")
        .is_denied_by("read-only", "Write", write)
        .ends()]);
    let behavior = json!({"behavior": {"allowedTools": ["Write(./**)"], "permissionMode": "plan"}});

    let result = fixture.run(definition(agent(behavior), one_step())).await;

    assert!(result.is_success(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn an_undefined_variable_stays_and_is_reported_as_a_warning() {
    let logs = CapturedLogs::start();
    let fixture = Fixture::new([text_session("x")]);
    let mut registry = one_step();
    registry["steps"]["a"]["prompt"] = "prompts/b.md".into();
    let flow = with_prompts(
        definition(agent(json!({})), registry),
        &[("prompts/b.md", "Greet {uv-who}.")],
    );

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(fixture.agents.prompts(), ["Greet {uv-who}."]);
    assert_eq!(fixture.events.lines()[0], "a: nothing sets who");
    let warned = logs.at_least(tracing::Level::WARN);
    assert!(
        warned
            .iter()
            .any(|line| format!("{line:?}").contains("nothing sets a variable")),
        "{warned:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn in_strict_mode_a_prompt_with_an_undefined_variable_is_not_sent() {
    // A parameter without a value.
    let fields = json!({
        "prompts": {"strictVariables": true},
        "parameters": {"who": {"type": "string"}},
    });
    let greet = |variables: Value| {
        let mut registry = one_step();
        registry["steps"]["a"]["prompt"] = "prompts/b.md".into();
        registry["steps"]["a"]["variables"] = variables;
        let flow = definition(agent(fields.clone()), registry);
        with_prompts(flow, &[("prompts/b.md", "Greet {uv-who}.")])
    };
    let complete = Fixture::new([text_session("x")]);
    let missing = Fixture::new([]);

    let with = complete.run(greet(json!({"who": "Ada"}))).await;
    let without = missing.run(greet(json!({}))).await;

    assert!(with.is_success(), "{with:?}");
    assert_eq!(codes(&without), ["undefined_variable"]);
    assert_eq!(missing.events.lines(), ["a: nothing sets who"]);
    let failure = without.end.failure().expect("it stopped");
    assert_eq!(
        failure.message,
        "nothing sets the variables `who` of the prompt prompts/b.md"
    );
}

#[tokio::test(start_paused = true)]
async fn in_strict_mode_a_flow_does_not_start_with_an_undefined_variable_in_its_system_prompt() {
    let fields = json!({
        "behavior": {"systemPromptPath": "prompts/system.md"},
        "prompts": {"strictVariables": true},
        "parameters": {"who": {"type": "string"}},
    });
    let flow = with_prompts(
        definition(agent(fields), one_step()),
        &[("prompts/system.md", "You know {uv-who}.")],
    );
    let fixture = Fixture::new([]);
    let created = build(flow, fixture.options()).expect("everything is there");

    let error = created
        .start(fixture.start())
        .await
        .expect_err("it is strict");

    assert_eq!(error.kind(), FlowErrorKind::UndefinedVariable);
}

#[tokio::test(start_paused = true)]
async fn parameters_reach_prompts_and_the_system_prompt() {
    let fixture = Fixture::new([text_session("x")]);
    let fields = json!({
        "behavior": {"systemPromptPath": "prompts/system.md"},
        "parameters": {"city": {"type": "string", "required": true}},
    });
    let mut registry = one_step();
    registry["steps"]["a"]["prompt"] = "prompts/b.md".into();
    let flow = with_prompts(
        definition(agent(fields), registry),
        &[
            ("prompts/b.md", "Plan a trip to {uv-city}."),
            (
                "prompts/system.md",
                "You know {uv-city}; this is {uv-flow}.",
            ),
        ],
    );
    let parameters =
        ParameterValues::from_json(&flow.agent().parameters, &json!({"city": "Tokyo"}));
    let start = StartOptions::new(parameters.expect("they fit"));

    let created = build(flow, fixture.options()).expect("everything is there");
    let mut started = created.start(start).await.expect("it starts");
    started.run().await;

    assert!(started.stop().is_success());
    let session = &fixture.agents.received()[0];
    assert_eq!(session.prompt, "Plan a trip to Tokyo.");
    assert_eq!(
        session.system_prompt.as_deref(),
        Some("You know Tokyo; this is review.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_was_deleted_meanwhile_ends_the_flow_at_once() {
    let folder = crate::support::Folder::new();
    let fixture = Fixture::new([]);
    let flow = autonoe_flow::load(&folder.dir).expect("it loads");
    let created = build(flow, fixture.options()).expect("everything is there");
    let mut started = created.start(fixture.start()).await.expect("it starts");
    std::fs::remove_file(folder.dir.join("prompts/a.md")).expect("it is there");

    started.run().await;

    assert_eq!(codes(&started.stop()), ["prompt_not_found"]);
}
