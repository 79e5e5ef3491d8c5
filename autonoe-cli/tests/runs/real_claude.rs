//! Runs on the real Claude Code, offline: the model is scripted.

use std::process::Command;
use std::time::{Duration, Instant};

use autonoe_process::Marker;
use autonoe_testkit::model_server::anthropic::{AnthropicServer, ModelScript, Refusal, Turn};
use serde_json::{Value, json};

use crate::build::Build;
use crate::runs::support::autonoe::{CommandOutput, autonoe};
use crate::runs::support::project::Project;
use crate::runs::terminal::pty::Terminal;

/// Time limit for anything, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn tool(name: &str, input: Value) -> Turn {
    Turn::tool(name, input)
}

fn plan() -> Value {
    json!({"deliverables": [{
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    }]})
}

fn plans() -> [Turn; 2] {
    [
        tool("mcp__autonoe__create", plan()),
        Turn::text("It is planned."),
    ]
}

fn greets() -> [Turn; 3] {
    [
        tool(
            "Bash",
            json!({"command": "echo hello > hello.txt", "description": "greet"}),
        ),
        tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        Turn::text("It is done."),
    ]
}

fn project() -> Project {
    let project = Project::new();
    // The built-in browser would come from the network.
    project.write(".autonoe/agent.json", r#"{"mcpServers": {}}"#);
    project
}

/// Creates a project with a plan, so that its first session is a coding session.
fn planned_project() -> Project {
    let project = project();
    project.write(".autonoe/status.json", &plan().to_string());
    project
}

/// Prepares a run of the real program, with `model` as its service.
fn run(project: &Project, build: Build, model: &AnthropicServer) -> Command {
    let backend = json!({
        "type": "claude",
        "program": build.program(),
        "config": "perSession",
        "temporary": project.home(),
    });
    let backend = format!("--backend={backend}");
    let mut command = autonoe(project, &["run", "--pause=0s", &backend]);
    command
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "nobody checks it");
    command
}

/// Waits until no process has the home of the project in its environment.
fn wait_for_processes(project: &Project) {
    let home = Marker::new("HOME", project.home().display().to_string()).expect("a marker");
    let started_at = Instant::now();
    while !home.processes().is_empty() {
        assert!(
            started_at.elapsed() < PATIENCE,
            "left: {:?}",
            home.processes()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_project_is_planned_and_built_in_a_terminal() {
    let build = Build::NEWER;
    let project = project();
    let blocked = tool(
        "Bash",
        json!({"command": "curl example.com", "description": "look"}),
    );
    let turns = plans().into_iter().chain([blocked]).chain(greets());
    let model = AnthropicServer::start(ModelScript::new(turns));

    let (code, screen) = Terminal::start(&run(&project, build, &model), 160).end();

    assert_eq!(code, 0, "{screen}");
    for line in [
        "Session 1 started (initializer)",
        "[PENDING] A greeting (DL-001)",
        "Session 2 started (coding)",
        "Denied Bash: curl example.com",
        "[PASS] A greeting (DL-001)",
        "1 of 1 deliverables passed; 2 iterations",
    ] {
        assert_eq!(screen.matches(line).count(), 1, "{line}:\n{screen}");
    }
    assert_eq!(project.read("hello.txt"), "hello\n");
    model.verify();
    wait_for_processes(&project);
}

#[test]
fn an_agent_that_changes_nothing_is_stopped() {
    let build = Build::NEWER;
    let project = planned_project();
    let idles = || {
        let command = json!({"command": "ls -a", "description": "look around"});
        [tool("Bash", command), Turn::text("I looked around.")]
    };
    let turns = idles().into_iter().chain(idles());
    let model = AnthropicServer::start(ModelScript::new(turns));
    let mut command = run(&project, build, &model);
    command.arg("--max-stalled-sessions=2");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(8), "{ended:?}");
    let reason = "the last 2 sessions changed nothing";
    assert!(ended.stdout.contains(reason), "{ended:?}");
    model.verify();
    wait_for_processes(&project);
}

#[test]
fn an_interrupt_ends_the_agent_with_the_run() {
    let build = Build::NEWER;
    let project = planned_project();
    let model = AnthropicServer::start(ModelScript::new([Turn::hang()])).unverified();
    let mut terminal = Terminal::start(&run(&project, build, &model), 160);
    terminal.wait_for_text("Session 1 started (coding)");

    terminal.interrupt();
    let (code, screen) = terminal.end();

    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("ended: it was cancelled"), "{screen}");
    wait_for_processes(&project);
}

#[test]
fn a_killed_run_is_resumed_and_its_agent_has_ended() {
    let build = Build::NEWER;
    let project = planned_project();
    let model = AnthropicServer::start(ModelScript::new([Turn::hang()])).unverified();
    let mut terminal = Terminal::start(&run(&project, build, &model), 160);
    terminal.wait_for_text("Session 1 started (coding)");
    let id = terminal.run_id();

    terminal.kill();
    terminal.end();
    wait_for_processes(&project);
    let model = AnthropicServer::start(ModelScript::new(greets()));
    let ended = CommandOutput::run(run(&project, build, &model));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains(&format!("Run {id} ended")),
        "{ended:?}"
    );
    assert!(
        ended.stdout.contains("1 of 1 deliverables passed"),
        "{ended:?}"
    );
    model.verify();
}

// Shows: beyond/missing-login, spec/8.2/credentials
#[test]
fn missing_credentials_are_reported_before_a_run() {
    let build = Build::NEWER;
    let project = project();
    let model = AnthropicServer::start(ModelScript::from_fn(|_| Turn::text("nobody asks")));
    let mut command = run(&project, build, &model);
    command.env_remove("ANTHROPIC_API_KEY");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("not logged in"), "{ended:?}");
    assert_has_login_hint(&ended);
    assert_eq!(model.log().main_requests().len(), 0);
    let journal = std::fs::read_to_string(project.path(".autonoe/journal.jsonl"));
    assert_eq!(journal.unwrap_or_default(), "", "nothing was begun");
    assert_eq!(project.ledger(), None, "nothing was begun");
}

/// Asserts that the output contains the hint on how to log in.
fn assert_has_login_hint(ended: &CommandOutput) {
    for word in [
        "hint: start `claude` and enter /login",
        "ANTHROPIC_API_KEY",
        "autonoe doctor",
    ] {
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
}

#[test]
fn missing_and_refused_credentials_are_reported_with_a_hint() {
    let build = Build::NEWER;
    // The settings of the project may contain credentials, so the run is not refused at the start.
    let project = project();
    let model = AnthropicServer::start(ModelScript::from_fn(|_| Turn::text("nobody asks")));
    let backend = json!({
        "type": "claude", "program": build.program(), "config": "perSession",
        "temporary": project.home(), "settingSources": "project",
    });
    let backend = format!("--backend={backend}");
    let mut command = autonoe(&project, &["run", "--pause=0s", &backend]);
    command.env("ANTHROPIC_BASE_URL", model.url());

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("Not logged in"), "{ended:?}");
    assert_has_login_hint(&ended);
    assert_eq!(model.log().main_requests().len(), 0);
}

#[test]
fn a_refused_api_key_is_reported_with_its_status_and_a_hint() {
    let build = Build::NEWER;
    let project = project();
    let model = AnthropicServer::start(ModelScript::from_fn(|_| Refusal::unauthorized().into()));

    let ended = CommandOutput::run(run(&project, build, &model));

    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("401"), "{ended:?}");
    assert_has_login_hint(&ended);
    wait_for_processes(&project);
}

#[test]
fn agent_text_about_login_gives_no_hint() {
    let project = project();
    let text = "Not logged in · Please run /login";
    let model = AnthropicServer::start(ModelScript::from_fn(move |_| Turn::text(text)));
    let mut command = run(&project, Build::NEWER, &model);
    command.arg("--max-retries=0");

    let ended = CommandOutput::run(command);

    assert_eq!(ended.code, Some(7), "{ended:?}");
    assert!(!ended.stderr.contains("hint:"), "{ended:?}");
}
