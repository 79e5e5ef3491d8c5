//! Effects of a hook's answer on the tool call.

use std::fs;
use std::future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_claude::ClaudeBackend;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::tool::ToolDescription;
use autonoe_core::{
    AgentClientFactory, HookDecision, PreToolUseHook, ToolCall, ToolContext, ToolError, ToolOutput,
    TypedTool,
};
use autonoe_testkit::model_server::anthropic::{ModelScript, ScriptedMessage, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, TIMEOUT, collect_events};

/// Time limit of an answer in these tests.
const LIMIT: Duration = Duration::from_secs(10);

/// The behaviour of a hook, and the effect on the call: it runs, or the model receives this text.
const ANSWERS: [(&str, Result<(), &str>); 8] = [
    ("passes", Ok(())),
    ("approves", Ok(())),
    ("is-slow", Ok(())),
    ("blocks", Err("not this one")),
    ("fails", Err("cannot read the rules")),
    ("panics", Err("a check of this call failed")),
    ("hangs", Err("a check of this call failed")),
    ("is-late", Err("a check of this call failed")),
];

/// Returns the tools whose calls get this answer. A call without an answer takes the whole limit,
/// so those cases use one tool each.
fn tools_for(answer: &str) -> &'static [&'static str] {
    match answer {
        "hangs" => &["Bash"],
        "is-late" => &["mcp__autonoe__note"],
        _ => &["Bash", "Write", "mcp__autonoe__note"],
    }
}

/// A hook whose behaviour is the name of the file that a call would write.
struct AnswersByFile;

#[async_trait]
impl PreToolUseHook for AnswersByFile {
    fn name(&self) -> &str {
        "as-the-file-says"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        let input = call.input.to_string();
        let does = |answer: &&(&str, _)| input.contains(answer.0);
        match ANSWERS.iter().find(does).expect("one of them").0 {
            "passes" => HookDecision::Pass,
            "approves" => HookDecision::Approve,
            "is-slow" => {
                tokio::time::sleep(LIMIT / 10).await;
                HookDecision::Approve
            }
            "blocks" => HookDecision::block("not this one"),
            "fails" => match fs::read_to_string("/no/such/rules") {
                Ok(_) => HookDecision::Approve,
                Err(error) => HookDecision::block(format!("cannot read the rules: {error}")),
            },
            "panics" => panic!("as it must"),
            "hangs" => future::pending().await,
            "is-late" => {
                tokio::time::sleep(TIMEOUT).await;
                HookDecision::Approve
            }
            other => unreachable!("{other}"),
        }
    }
}

/// A tool of ours that writes a file.
struct Note {
    project: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
struct NoteInput {
    file: String,
}

#[async_trait]
impl TypedTool for Note {
    type Input = NoteInput;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("note", "Writes a file.")
    }

    async fn run(&self, input: NoteInput, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        fs::write(self.project.join(input.file), "noted").expect("writable");
        Ok(ToolOutput::new("noted"))
    }
}

fn file(answer: &str, tool: &str) -> String {
    format!("{answer}-{tool}")
}

/// Returns a call of `tool` that would write `file` in the working directory.
fn call(tool: &str, file: &str) -> Turn {
    let input = match tool {
        "Bash" => json!({"command": format!("echo 1 > {file}"), "description": "write"}),
        "Write" => json!({"file_path": file, "content": "1"}),
        _ => json!({"file": file}),
    };
    ScriptedMessage::new()
        .uses_tool_as(file, tool, input)
        .into()
}

fn cases() -> impl Iterator<Item = (String, &'static str, Result<(), &'static str>)> {
    let of_answer = |(answer, fate): (&'static str, Result<(), &'static str>)| {
        let tools = tools_for(answer).iter();
        tools.map(move |tool| (file(answer, tool), *tool, fate))
    };
    ANSWERS.into_iter().flat_map(of_answer)
}

async fn a_call_runs_only_if_the_hook_allows_it_in_time(build: Build) {
    let calls = cases().map(|(file, tool, _)| call(tool, &file));
    let fixture = Fixture::new(build, ModelScript::new(calls.chain([Turn::text("Done.")])));
    let project = fixture.project();
    let mut spec = fixture.spec([Note { project }.into_tool()]);
    let patient = spec.gate.with_time_limit(TIMEOUT).expect("a limit");
    spec.gate = patient.with_hook(Arc::new(AnswersByFile));
    let mut options = fixture.options();
    options.program.answer_limit = LIMIT;
    let agents = ClaudeBackend::new(options);
    let mut client = agents.create(spec).expect("it can be made");

    let (events, error) = collect_events(client.as_mut(), "Write them all.").await;
    client.dispose().await.expect("it ends");

    assert!(error.is_none(), "{error:?} {events:?}");
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    for (file, _, fate) in cases() {
        let result = results.iter().find(|result| result.tool_use_id == file);
        let result = result.unwrap_or_else(|| panic!("the model received no result for {file}"));
        match fate {
            Ok(()) => assert!(!result.is_error, "{file}: {result:?}"),
            Err(reason) => {
                assert!(result.is_error, "{file}: {result:?}");
                assert!(result.text.contains(reason), "{file}: {result:?}");
            }
        }
    }
    let mut allowed: Vec<_> = cases()
        .filter_map(|(file, _, fate)| fate.is_ok().then_some(file))
        .collect();
    allowed.sort();
    assert_eq!(fixture.files(), allowed);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

on_both_builds![a_call_runs_only_if_the_hook_allows_it_in_time];
