//! A development server that is started in the background, requested and stopped.

use std::net::TcpListener;

use autonoe_testkit::model_server::{ModelScript, ReceivedPrompt, Turn};
use serde_json::json;

use crate::backends::backend::Backend;
use crate::backends::run_script::{Call, runs, sets, uses, writes};
use crate::build::{Build, on_newer_build};
use crate::everyday::chore::Chore;
use crate::everyday::findings::Findings;
use crate::everyday::whole_run::{check_commits, commits, run_chores};
use crate::everyday::workplace::{Workplace, deliverable_id};
use crate::runs::support::autonoe::CommandOutput;

const SERVER: &str = "const http = require('http');
const server = http.createServer((request, response) => response.end(`served ${request.url}\\n`));
server.listen(process.env.PORT, '127.0.0.1', () => console.log('listening'));
";

/// Starts a server with its output in a file, requests it until it answers, and stops it.
pub(crate) fn dev_server() -> Chore {
    let port = free_port();
    let in_one_command = format!(
        "PORT={port} node server.js > server.log 2>&1 &
until curl -sf http://localhost:{port}/health; do sleep 0.2; done
curl -s -o /dev/null -w \"%{{http_code}}\" http://127.0.0.1:{port}/
kill %1"
    );
    let calls = [
        writes("server.js", SERVER),
        runs(in_one_command)
            .expects_text("served /health")
            .expects_text("200"),
        runs("cat server.log").expects_text("listening"),
    ];
    Chore::new("The server answers", calls)
        .leaves(["server.js", "server.log"])
        .check(move |_, findings| {
            let bound = TcpListener::bind(("127.0.0.1", port));
            findings.same("the port is free again", bound.is_ok(), true);
        })
}

/// Starts a server as a background command of Claude Code.
fn starts_in_background(port: u16) -> Call {
    let input = json!({
        "command": format!("PORT={port} node server.js > server.log 2>&1"),
        "description": "Start the server", "run_in_background": true,
    });
    uses("Bash", input)
}

/// Waits for the server, and requests it.
fn requests(port: u16) -> Call {
    runs(format!(
        "until grep -q listening server.log; do sleep 0.1; done; curl -s http://localhost:{port}/"
    ))
}

/// Returns a turn that stops the background command of the first Bash call.
fn stops_background_command(prompt: &ReceivedPrompt) -> Turn {
    let results = prompt.tool_results();
    let started = results.iter().find_map(|result| {
        let (_, id) = result.text.split_once("with ID: ")?;
        id.split(['.', ' ', '\n']).next()
    });
    Turn::tool("TaskStop", json!({"task_id": started.unwrap_or("none")}))
}

/// Without the sandbox, commands share the network of the machine.
async fn a_background_server_is_requested_and_stopped_by_other_calls(build: Build) {
    let backend = Backend::Claude(build.version);
    let port = free_port();
    let workplace = Workplace::new(backend, "project");
    workplace.plan(["The server answers"]);
    workplace.start_repository();
    let turn = |call: Call| backend.dialect().turn(&[call], &workplace.root());
    let script = ModelScript::new([
        turn(writes("server.js", SERVER)),
        turn(starts_in_background(port)),
        turn(requests(port)),
    ])
    .then_fn(stops_background_command)
    .then(turn(commits("Add a server")))
    .then(turn(sets("DL-001", "passed")))
    .then(Turn::text("Done."));
    let server = backend.serve_script(script).unverified();

    let ended = CommandOutput::run(workplace.run(&server, &["--no-sandbox"]));

    let mut findings = Findings::default();
    findings.same("exit code", ended.code, Some(0));
    let requests = server.log().main_requests();
    let results = requests
        .last()
        .map(|it| it.tool_results())
        .unwrap_or_default();
    let failed: Vec<_> = results.iter().filter(|result| result.is_error).collect();
    findings.same("failed calls", failed.len(), 0);
    let is_served = results
        .iter()
        .any(|result| result.text.contains("served /"));
    findings.same("the server answered", is_served, true);
    // The agent stopped it, not the end of its session.
    let stopped = ended.stderr.contains("stopped a background command");
    findings.same("stopped by Autonoe", stopped, false);
    let passed = (vec![deliverable_id(0)], Vec::new());
    findings.same("deliverables", workplace.deliverables(), passed);
    let line = "[PASS] The server answers (DL-001)";
    findings.contains("the log", &workplace.log(), line);
    check_commits(&workplace, ["Add a server"], &mut findings);
    for problem in server.problems() {
        findings.add(problem);
    }
    workplace.wait_for_processes();
    findings.report(&format!("{ended:?}\n{}", server.log().render()));
}

/// In the sandbox, each command has its own network.
// Shows: spec/4.1.1/dev-server
async fn a_background_server_is_not_reached_by_other_calls_in_the_sandbox(build: Build) {
    let port = free_port();
    let calls = [
        writes("server.js", SERVER),
        starts_in_background(port),
        requests(port).failing(),
    ];
    let chore = Chore::new("The server is not reached", calls)
        .prints("stopped a background command")
        .leaves(["server.js", "server.log"]);
    run_chores(Backend::Claude(build.version), [chore]);
}

/// Returns a port that is free at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}

on_newer_build![
    a_background_server_is_not_reached_by_other_calls_in_the_sandbox,
    a_background_server_is_requested_and_stopped_by_other_calls,
];
