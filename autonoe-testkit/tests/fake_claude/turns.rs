//! What scripted turns come to.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    CostUsd, HookDecision, SessionOutcome, StreamEvent, Tool, ToolContext, ToolDefinition,
    ToolError, ToolOutput, ToolStatus, hook_fn,
};
use autonoe_testkit::fake_claude::{
    Build, Effect, FakeScript, FakeTurn, Fault, Step, ToolUse, TurnEnd,
};
use serde_json::{Value, json};

use crate::fake_claude::setting::{Played, Setting, on_both_builds};

/// A tool that says its name back.
pub(crate) struct SetStatus(ToolDefinition);

impl SetStatus {
    pub(crate) fn tool() -> Arc<dyn Tool> {
        let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
        Arc::new(Self(ToolDefinition::new(
            "set_status",
            "Sets a status.",
            schema,
        )))
    }
}

#[async_trait]
impl Tool for SetStatus {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(format!("set {}", input["id"])))
    }
}

fn responses(played: &Played) -> Vec<(ToolStatus, &str)> {
    let responses = played.events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { status, output, .. } => Some((*status, output.as_str())),
        _ => None,
    });
    responses.collect()
}

async fn an_allowed_call_happens_and_a_denied_one_leaves_no_trace(build: Build) {
    let turn = FakeTurn::new()
        .thinks("Two files.")
        .uses(ToolUse::bash("echo yes > allowed.txt; echo done"))
        .uses(ToolUse::bash("echo no > denied.txt"))
        .uses(ToolUse::bash("echo out; echo err >&2; exit 3"))
        .uses(ToolUse::new(
            "Write",
            json!({"file_path": "denied.md", "content": "no"}),
        ))
        .says("Done.");
    let setting = Setting::new(&FakeScript::new([turn]).on(build));
    let mut spec = setting.spec([]);
    spec.gate = spec.gate.with_hook(hook_fn("no", |call, _| {
        match call.input.to_string().contains("denied") {
            true => HookDecision::block("not this one"),
            false => HookDecision::Pass,
        }
    }));

    let played = setting.played_with(setting.options(), spec).await;

    played.assert_completed(&["Done."]);
    let refused = |tool: &str| match build {
        Build::V2_1_197 => "not this one".to_owned(),
        _ => format!("PreToolUse:{tool} hook error: not this one"),
    };
    assert_eq!(
        responses(&played),
        [
            (ToolStatus::Ok, "done"),
            (ToolStatus::Denied, refused("Bash").as_str()),
            (ToolStatus::Error, "Exit code 3\nout\nerr"),
            (ToolStatus::Denied, refused("Write").as_str()),
        ]
    );
    let files: Vec<_> = std::fs::read_dir(setting.project())
        .expect("it is there")
        .flatten()
        .map(|file| file.file_name())
        .collect();
    assert_eq!(files, ["allowed.txt"]);
}

async fn tools_of_the_host_are_called_also_after_two_greetings(build: Build) {
    let call = |id: &str| ToolUse::new("mcp__autonoe__set_status", json!({"id": id}));
    let turn = FakeTurn::new()
        .uses_together([call("D1"), call("D2")])
        .uses(ToolUse::new("mcp__autonoe__set_status", json!({"id": 7})))
        .says("Done.");
    for twice in [false, true] {
        let mut script = FakeScript::new([turn.clone()]).on(build);
        if twice {
            script = script.with_fault(Fault::GreetsTwice);
        }
        let setting = Setting::new(&script);

        let spec = setting.spec([SetStatus::tool()]);
        let played = setting.played_with(setting.options(), spec).await;

        played.assert_completed(&["Done."]);
        let responses = responses(&played);
        assert_eq!(responses[0], (ToolStatus::Ok, "set \"D1\""));
        assert_eq!(responses[1], (ToolStatus::Ok, "set \"D2\""));
        assert_eq!(responses[2].0, ToolStatus::Error, "a number is no string");
        let log = setting.log();
        let greetings = log
            .iter()
            .filter(|entry| entry["line"]["request"]["message"]["method"] == "initialize");
        assert_eq!(greetings.count(), if twice { 2 } else { 1 });
    }
}

async fn every_end_of_a_turn_is_told(build: Build) {
    let api = |error, status, text: &str| TurnEnd::api_failure(error, status, text);
    let cases = [
        (TurnEnd::max_turns(), Ok(SessionOutcome::MaxTurns)),
        (TurnEnd::budget(), Ok(SessionOutcome::BudgetExceeded)),
        (
            TurnEnd::failed_as("error_of_a_new_kind", "it broke"),
            Ok(SessionOutcome::ExecutionError {
                messages: vec!["it broke".into()],
            }),
        ),
        (
            api("authentication_failed", 401, "no"),
            Err("authentication"),
        ),
        (api("billing_error", 400, "no money"), Err("billing")),
        (api("model_not_found", 404, "which?"), Err("configuration")),
        (api("server_error", 529, "busy"), Err("overloaded")),
    ];
    for (end, expected) in cases {
        let turn = FakeTurn::new().says("I try.").ends(end.clone());
        let setting = Setting::new(&FakeScript::new([turn]).on(build));

        let played = setting.played().await;

        let ended = played.end();
        assert_eq!(ended, expected.as_ref().map_err(|code| *code), "{end:?}");
    }
}

async fn a_spent_quota_is_told_with_its_reset(build: Build) {
    let turn = FakeTurn::new().hits_quota(4_102_444_800);
    let setting = Setting::new(&FakeScript::new([turn]).on(build));

    let played = setting.played().await;

    let Ok(SessionOutcome::QuotaExceeded { message, resets_at }) = played.end() else {
        panic!("{played:?}")
    };
    assert!(message.starts_with("You've hit your"), "{message}");
    assert_eq!(resets_at.map(|at| at.as_second()), Some(4_102_444_800));
}

async fn retries_are_told_as_warnings(build: Build) {
    let turn = FakeTurn::new()
        .then(Step::Retries {
            attempt: 1,
            status: Some(529),
            error: "overloaded".into(),
        })
        .says("At last.");
    let setting = Setting::new(&FakeScript::new([turn]).on(build));

    let played = setting.played().await;

    played.assert_completed(&["At last."]);
    let is_warning = |event: &StreamEvent| matches!(event, StreamEvent::Warning { .. });
    assert!(played.events.iter().any(is_warning), "{played:?}");
}

async fn a_task_in_the_background_begins_another_turn(build: Build) {
    let script = FakeScript::new([
        FakeTurn::new()
            .uses(ToolUse::bash("make").with(Effect::StartsTask("b1".into())))
            .says("It builds.")
            .ends(TurnEnd::completed().costing(0.5)),
        FakeTurn::after_task("b1")
            .says("It is built.")
            .ends(TurnEnd::completed().costing(0.25)),
    ])
    .on(build);
    let setting = Setting::new(&script);

    let played = setting.played().await;

    played.assert_completed(&["It builds.", "It is built."]);
    let Some(StreamEvent::End { cost, .. }) = played.events.last() else {
        panic!("{played:?}")
    };
    assert_eq!(*cost, "0.75".parse::<CostUsd>().ok());
}

async fn what_comes_in_one_breath_with_the_end_is_not_about_it(build: Build) {
    let script = FakeScript::new([
        FakeTurn::new()
            .uses(ToolUse::bash("make").with(Effect::StartsTask("b1".into())))
            .ends(TurnEnd::max_turns().costing(0.5)),
        FakeTurn::after_task("b1").says("It is built."),
    ])
    .on(build);

    let played = Setting::new(&script).played().await;

    assert_eq!(played.end(), Ok(&SessionOutcome::MaxTurns), "{played:?}");
    assert_eq!(played.said(), Vec::<&str>::new());
}

async fn a_session_has_as_many_turns_as_its_script(build: Build) {
    let script = FakeScript::new(["One.", "Two."].map(|text| FakeTurn::new().says(text)));
    let setting = Setting::new(&script.on(build));
    let mut client = setting.client();

    let first = crate::fake_claude::setting::query(client.as_mut()).await;
    let second = crate::fake_claude::setting::query(client.as_mut()).await;
    let third = crate::fake_claude::setting::query(client.as_mut()).await;
    client.dispose().await.expect("it ends");

    first.assert_completed(&["One."]);
    second.assert_completed(&["Two."]);
    third.assert_failed("crashed", &["the script has no turn for this prompt"]);
    setting.assert_nothing_left();
}

on_both_builds![
    an_allowed_call_happens_and_a_denied_one_leaves_no_trace,
    tools_of_the_host_are_called_also_after_two_greetings,
    every_end_of_a_turn_is_told,
    a_spent_quota_is_told_with_its_reset,
    retries_are_told_as_warnings,
    a_task_in_the_background_begins_another_turn,
    what_comes_in_one_breath_with_the_end_is_not_about_it,
    a_session_has_as_many_turns_as_its_script,
];
