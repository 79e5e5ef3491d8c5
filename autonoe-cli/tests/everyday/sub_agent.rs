//! A sub-agent of Claude Code with an allowed and a denied call.

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::{ModelScript, ReceivedPrompt, Turn};
use serde_json::{Value, json};

use crate::backends::backend::Backend;
use crate::backends::model_server::Server;
use crate::build::{Build, on_newer_build};
use crate::everyday::findings::Findings;
use crate::everyday::whole_run::check_commits;
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

/// The prompt of the sub-agent, which identifies its requests.
const PROMPT: &str = "Write the greeting into greeting.txt, then report.";
const REPORT: &str = "The greeting is written.";
const DENIED: &str = "curl https://example.com/greeting";

/// Returns whether a request comes from the sub-agent.
fn is_sub_agent(prompt: &ReceivedPrompt) -> bool {
    let texts = prompt.user_texts();
    texts.iter().any(|text| text.contains(PROMPT))
}

/// The model of both agents: each answer follows from the conversation so far.
fn answer(prompt: &ReceivedPrompt, file: &str) -> Turn {
    let results = prompt.tool_results().len();
    if is_sub_agent(prompt) {
        return match results {
            0 => bash(DENIED),
            1 => bash(&format!("echo hello > {file}")),
            2 => bash("git add -A && git commit -m 'Add a greeting'"),
            _ => Turn::text(REPORT),
        };
    }
    let is_reported = prompt.raw["messages"].to_string().contains(REPORT);
    match (results, is_reported) {
        (0, _) => {
            let names = ["Task", "Agent"];
            let name = names.into_iter().find(|name| prompt.tool(name).is_some());
            let input = json!({
                "description": "Write the greeting", "prompt": PROMPT,
                "subagent_type": "general-purpose",
            });
            Turn::tool(name.unwrap_or("Task"), input)
        }
        // The sub-agent may work in the background; its report starts another turn.
        (1, false) => Turn::text("I wait for the report."),
        (1, true) => Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        _ => Turn::text("Done."),
    }
}

fn bash(command: &str) -> Turn {
    let input: Value = json!({"command": command, "description": "as the script says"});
    Turn::tool("Bash", input)
}

async fn the_gate_decides_about_calls_of_a_sub_agent(build: Build) {
    let workplace = Workplace::new(Backend::Claude(build.version), "project");
    workplace.configure(&json!({"allowedTools": ["Task"]}));
    workplace.plan(["There is a greeting"]);
    workplace.start_repository();
    let script = ModelScript::from_fn(|prompt| answer(prompt, "greeting.txt"));
    let server = Server::Anthropic(AnthropicServer::start(script));

    let ended = CommandOutput::run(workplace.run(&server, &["--max-iterations=2"]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    let greeting = workplace.read("greeting.txt");
    findings.same("greeting", greeting.as_str(), "hello\n");
    let requests = server.log().main_requests();
    let of_sub_agent = requests.iter().filter(|prompt| is_sub_agent(prompt));
    findings.same("requests of the sub-agent", of_sub_agent.count(), 4);
    let journal = workplace.journal();
    let denied = journal.iter().filter(|entry| entry["line"] == "denied");
    let denied: Vec<_> = denied
        .map(|entry| (&entry["tool"], &entry["target"]))
        .collect();
    findings.same("denied", denied, [(&json!("Bash"), &json!(DENIED))]);
    let denied = format!("Denied Bash: {DENIED}");
    findings.contains("standard error", &ended.stderr, &denied);
    let log = workplace.log();
    findings.contains("the log", &log, &format!("[DENIED] Bash: {DENIED}"));
    findings.contains("the log", &log, "[PASS] There is a greeting (DL-001)");
    let passed = (vec![deliverable_id(0)], Vec::new());
    findings.same("deliverables", workplace.deliverables(), passed);
    let names = [".git", ".gitignore", "SPEC.md", "greeting.txt"];
    findings.same("entries", workplace.names(), names);
    check_commits(&workplace, ["Add a greeting"], &mut findings);
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}\n{}", server.log().render()));
}

on_newer_build![the_gate_decides_about_calls_of_a_sub_agent];
