//! Memory files of the project, such as `CLAUDE.md`, that change the agent's behaviour.

use autonoe_testkit::model_server::{ModelScript, ReceivedPrompt, Turn};
use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::run_script::{Call, sets, writes};
use crate::everyday::findings::Findings;
use crate::everyday::whole_run::{check_commits, commits};
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

const RULE: &str = "Greetings in this project are in Latin";

/// Returns the name of the memory file that the vendor's agent reads.
fn file_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Claude(_) => "CLAUDE.md",
        Backend::Gemini => "GEMINI.md",
        Backend::Codex | Backend::Model(_) | Backend::Scripted => "AGENTS.md",
    }
}

/// Returns whether a request contains the rule of the memory file.
fn contains_rule(prompt: &ReceivedPrompt) -> bool {
    prompt.raw.to_string().contains(RULE)
}

/// A model that greets as the memory file demands, if the request contains it.
fn script(workplace: &Workplace) -> ModelScript {
    let (dialect, root) = (workplace.backend().dialect(), workplace.root());
    let turn = move |call: Call| dialect.turn(&[call], &root);
    let greet = turn.clone();
    ModelScript::new::<Turn>([])
        .then_fn(move |prompt| {
            let greeting = if contains_rule(prompt) {
                "salve\n"
            } else {
                "hello\n"
            };
            greet(writes("greeting.txt", greeting))
        })
        .then(turn(commits("Add a greeting")))
        .then(turn(sets("DL-001", "passed")))
        .then(Turn::text("Done."))
}

/// Runs a project with a memory file, and expects this greeting.
fn assert_greets(backend: Backend, has_memory: bool, greeting: &str) {
    let name = file_name(backend);
    let workplace = Workplace::new(backend, "project");
    workplace.configure(&json!({ "projectMemory": has_memory }));
    workplace.plan(["There is a greeting"]);
    workplace.write(name, &format!("# Conventions\n\n{RULE}.\n"));
    workplace.start_repository();
    let server = backend.serve_script(script(&workplace)).unverified();

    let ended = CommandOutput::run(workplace.run(&server, &[]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    findings.same(
        "greeting",
        workplace.read("greeting.txt").as_str(),
        greeting,
    );
    let mut names = [".git", ".gitignore", name, "SPEC.md", "greeting.txt"];
    names.sort_unstable();
    findings.same("entries", workplace.names(), names);
    let passed = (vec![deliverable_id(0)], Vec::new());
    findings.same("deliverables", workplace.deliverables(), passed);
    let line = "[PASS] There is a greeting (DL-001)";
    findings.contains("the log", &workplace.log(), line);
    check_commits(&workplace, ["Add a greeting"], &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}"));
}

/// The memory file changes the agent's behaviour.
pub(crate) fn a_memory_file_is_followed(backend: Backend) {
    assert_greets(backend, true, "salve\n");
}

/// Without project memory, the agent does not get the file.
pub(crate) fn a_memory_file_is_ignored(backend: Backend) {
    assert_greets(backend, false, "hello\n");
}
