//! `CLAUDE.md` of the project, which changes what the agent does.

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::{Prompt, Script, Turn};
use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::served::Server;
use crate::build::{Build, on_both_builds};
use crate::everyday::workplace::Workplace;
use crate::runs::support::autonoe::Ended;

const RULE: &str = "Greetings in this project are in Latin";

/// Returns whether a request contains the rule of `CLAUDE.md`.
fn contains_rule(prompt: &Prompt) -> bool {
    prompt.raw.to_string().contains(RULE)
}

async fn a_memory_file_reaches_the_agent(build: Build) {
    let backend = Backend::Claude(build.version);
    let workplace = Workplace::new(backend, "project");
    workplace.plan(["There is a greeting"]);
    workplace.write("CLAUDE.md", &format!("# Conventions\n\n{RULE}.\n"));
    let file = workplace.root().join("greeting.txt");
    let script = Script::new::<Turn>([])
        .then_by(move |prompt| {
            let greeting = match contains_rule(prompt) {
                true => "salve\n",
                false => "hello\n",
            };
            Turn::tool("Write", json!({"file_path": file, "content": greeting}))
        })
        .then(Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ))
        .then(Turn::text("Done."));
    let server = Server::Anthropic(AnthropicServer::start(script));

    let ended = Ended::of(workplace.run(&server, &[]));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(workplace.read("greeting.txt"), "salve\n", "{ended:?}");
    assert_eq!(workplace.names(), ["CLAUDE.md", "SPEC.md", "greeting.txt"]);
    server.verify();
    workplace.wait_for_processes();
}

on_both_builds![a_memory_file_reaches_the_agent];
