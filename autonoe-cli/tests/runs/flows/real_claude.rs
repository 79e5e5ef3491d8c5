//! Flows on the real Claude Code, offline: the model is scripted.

use std::process::Command;

use autonoe_testkit::model_server::anthropic::{AnthropicServer, ModelScript, Turn};
use serde_json::{Value, json};

use super::examples::steps;
use super::fixture::{flow, npm, project, result};
use crate::build::Build;
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;

/// Prepares a flow on the real program, with `model` as its service.
fn on_claude(
    project: &Project,
    build: Build,
    model: &AnthropicServer,
    config: &str,
    words: &[&str],
) -> Command {
    let backend = json!({
        "type": "claude",
        "program": build.program(),
        "config": config,
        "temporary": project.home(),
    });
    let backend = format!("--backend={backend}");
    let mut command = flow(project, &[&["--json", &backend], words].concat());
    command
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "nobody checks it");
    command
}

fn calls(tool: &str, input: Value) -> [Turn; 2] {
    let call = Turn::tool(format!("mcp__autonoe__{tool}"), input);
    [call, Turn::text("That is all.")]
}

#[test]
fn a_bug_is_fixed_in_the_second_attempt() {
    let build = Build::NEWER;
    let project = project();
    npm(&project, "[ -e mended.txt ]");
    let mends = json!({"file_path": project.path("mended.txt"), "content": "It is mended.\n"});
    let model = AnthropicServer::start(ModelScript::new([
        Turn::text("I think that it was the cache."),
        Turn::tool("Write", mends),
        Turn::text("It was the clock."),
    ]));

    let words = ["fix-bug", "--bug", "it crashes at midnight"];
    let ended = CommandOutput::run(on_claude(&project, build, &model, "user", &words));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(steps(&result(&ended)), ["fix", "fix"]);
    assert_eq!(project.read("mended.txt"), "It is mended.\n");
    let same = "Step fix, try 2, in the same conversation";
    assert!(ended.stderr.contains(same), "{ended:?}");
    let requests = model.log().main_requests();
    let contains = |request: usize, words: &str| format!("{:?}", requests[request]).contains(words);
    assert!(contains(0, "it crashes at midnight"), "{requests:?}");
    assert!(
        contains(0, "You fix bugs in a project"),
        "the system prompt"
    );
    // The conversation contains the same prompt twice.
    let sent = |request: usize| {
        let request = format!("{:?}", requests[request]);
        request.matches("it crashes at midnight").count()
    };
    assert_eq!(sent(1), 2 * sent(0), "{requests:?}");
    assert!(
        contains(1, "I think that it was the cache."),
        "{requests:?}"
    );
    model.verify();
}

#[test]
fn a_release_is_prepared_with_the_tools_of_flows() {
    let project = project();
    npm(&project, "[ -e CHANGELOG.md ]");
    let changelog = json!({"file_path": project.path("CHANGELOG.md"), "content": "## 1.4.0\n"});
    let fields = json!({"version": "1.4.0", "summary": "The clock is right."});
    let turns = calls(
        "set_outputs",
        json!({"changes": "fixed: the clock", "breaking": false}),
    )
    .into_iter()
    .chain([
        Turn::tool("Write", changelog),
        Turn::text("The changelog is there."),
    ])
    .chain(["The version is raised.", "The documents are in line."].map(Turn::text))
    .chain(calls(
        "signal",
        json!({"name": "release-ready", "fields": fields}),
    ));
    let model = AnthropicServer::start(ModelScript::new(turns));

    let words = ["prepare-release", "--release", "1.4.0", "--since", "v1.3.2"];
    // Conversations end with their sessions, so each step has its own.
    let command = on_claude(&project, Build::NEWER, &model, "perSession", &words);
    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let way = ["survey", "changelog", "version", "documents", "sign-off"];
    assert_eq!(steps(&result(&ended)), way);
    assert_eq!(project.read("CHANGELOG.md"), "## 1.4.0\n");
    assert!(
        !ended.stderr.contains("in the same conversation"),
        "{ended:?}"
    );
    model.verify();
}
