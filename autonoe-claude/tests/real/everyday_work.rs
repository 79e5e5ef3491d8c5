//! Ordinary work in the default configuration: Git, temporary files, granted tools, memory.

use std::fs;
use std::process::Command;

use autonoe_core::agent::Sandbox;
use autonoe_core::gate::{Gate, ProjectPaths};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{HookDecision, SessionSpec, StreamEvent, hook_fn};
use autonoe_testkit::model_server::anthropic::{ModelScript, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::fixture::{Fixture, collect_events};

fn bash(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    Turn::tool("Bash", input)
}

fn write(path: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": path, "content": "x"}))
}

/// Returns a fixture whose user has a name for commits.
fn fixture(build: Build, turns: impl IntoIterator<Item = Turn>) -> Fixture {
    let turns = turns.into_iter().chain([Turn::text("Done.")]);
    let fixture = Fixture::new(build, ModelScript::new(turns));
    let config = "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n";
    fs::write(fixture.folder.join("home/.gitconfig"), config).expect("a file");
    fs::create_dir(fixture.file(".autonoe")).expect("a directory");
    fs::write(fixture.file(".autonoe/status.json"), "{}").expect("a file");
    fixture
}

fn sandboxed(fixture: &Fixture) -> SessionSpec {
    let mut spec = fixture.spec([]);
    spec.sandbox = Sandbox::Required;
    spec
}

/// Adds rules to the grants of a session.
fn granting(mut spec: SessionSpec, fixture: &Fixture, rules: &[&str]) -> SessionSpec {
    let rules = rules.iter().map(|rule| rule.parse().expect("a rule"));
    let grants = spec.gate.grants().clone().with_rules(rules);
    spec.gate = Gate::new(ProjectPaths::new(fixture.project()), grants);
    spec
}

/// Runs one session and returns its events.
async fn run(fixture: &Fixture, spec: SessionSpec) -> Vec<StreamEvent> {
    let mut client = fixture.client(spec);
    let (events, error) = collect_events(client.as_mut(), "Work.").await;
    client.dispose().await.expect("the session ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    fixture.server.verify();
    fixture.assert_nothing_is_left();
    events
}

fn outputs(events: &[StreamEvent]) -> Vec<(&str, ToolStatus)> {
    let output = |event| match event {
        &StreamEvent::ToolResponse {
            ref output, status, ..
        } => Some((output.as_str(), status)),
        _ => None,
    };
    events.iter().filter_map(output).collect()
}

fn git(fixture: &Fixture, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(fixture.project())
        .output()
        .expect("git runs");
    String::from_utf8(output.stdout).expect("text")
}

async fn the_sandbox_protects_hooks_configuration_and_ledger(build: Build) {
    let attacks = [
        "echo x > .git/hooks/pre-commit",
        "echo '[core]' >> .git/config",
        "git config core.fsmonitor ./x",
        "echo x > .autonoe/status.json",
        "echo x > .autonoe/new",
        "rm -rf .autonoe",
        "mv .autonoe elsewhere",
    ];
    let fixture = fixture(build, attacks.map(bash));
    git(&fixture, &["init", "--quiet"]);
    let config = fs::read(fixture.file(".git/config")).expect("a file");

    let events = run(&fixture, sandboxed(&fixture)).await;

    assert_eq!(outputs(&events).len(), attacks.len());
    assert!(
        !fixture.file(".git/hooks/pre-commit").exists(),
        "{events:?}"
    );
    assert_eq!(
        fs::read(fixture.file(".git/config")).expect("a file"),
        config
    );
    assert_eq!(
        fs::read(fixture.file(".autonoe/status.json")).expect("a file"),
        b"{}"
    );
    assert!(!fixture.file(".autonoe/new").exists(), "{events:?}");
}

async fn the_gate_decides_about_writes_before_claude_code_does(build: Build) {
    let paths = [".autonoe/new", ".git/hooks/pre-commit", ".git/config"];
    let fixture = fixture(build, paths.map(write));
    let mut spec = sandboxed(&fixture);
    let guard = hook_fn("guard", |_, _| HookDecision::block("blocked by the gate"));
    spec.gate = spec.gate.with_guard(guard);

    let events = run(&fixture, spec).await;

    let outputs = outputs(&events);
    assert_eq!(outputs.len(), paths.len());
    for (output, status) in outputs {
        assert_eq!(status, ToolStatus::Denied, "{output}");
        assert!(output.contains("blocked by the gate"), "{output}");
    }
}

async fn an_agent_gets_the_tools_that_are_granted(build: Build) {
    let todos = json!({"todos": [{"content": "a", "status": "pending", "activeForm": "doing a"}]});
    let fixture = fixture(build, [Turn::tool("TodoWrite", todos)]);
    let spec = granting(
        fixture.spec([]),
        &fixture,
        &[
            "TodoWrite",
            "Task",
            "WebSearch",
            "WebFetch(domain:example.com)",
            "NotebookEdit",
            "Skill",
        ],
    );

    let events = run(&fixture, spec).await;

    let requests = fixture.server.log().main_requests();
    for tool in [
        "Agent",
        "Bash",
        "NotebookEdit",
        "Skill",
        "TodoWrite",
        "WebFetch",
        "WebSearch",
    ] {
        assert!(
            requests[0].tool(tool).is_some(),
            "{tool}: {:?}",
            requests[0].tools
        );
    }
    assert_eq!(outputs(&events)[0].1, ToolStatus::Ok, "{events:?}");
}

async fn an_agent_gets_no_tools_that_are_not_granted(build: Build) {
    let fixture = fixture(build, []);

    run(&fixture, fixture.spec([])).await;

    let requests = fixture.server.log().main_requests();
    for tool in ["Agent", "NotebookEdit", "Skill", "WebFetch", "WebSearch"] {
        assert!(
            requests[0].tool(tool).is_none(),
            "{tool}: {:?}",
            requests[0].tools
        );
    }
}

/// Text that no prompt of Claude Code contains.
const MARK: &str = "xq7-setting";

/// Writes files that would change the behaviour of Claude Code: settings, servers, skills, agents,
/// commands.
fn write_project_settings(fixture: &Fixture) {
    let hook = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
        {"type": "command", "command": "touch hooked"}
    ]}]}});
    let server = json!({"mcpServers": {"mine": {
        "command": "sh", "args": ["-c", "touch served"],
    }}});
    for (name, text) in [
        (".claude/settings.json", hook.to_string()),
        (".mcp.json", server.to_string()),
        (
            ".claude/skills/greet/SKILL.md",
            format!("---\nname: greet\ndescription: {MARK}\n---\nSay hello.\n"),
        ),
        (
            ".claude/agents/helper.md",
            format!("---\nname: helper\ndescription: {MARK}\n---\nHelp.\n"),
        ),
        (".claude/commands/go.md", format!("{MARK}\n")),
    ] {
        let path = fixture.file(name);
        let folder = path.parent().expect("it has one");
        fs::create_dir_all(folder).expect("directories");
        fs::write(path, text).expect("a file");
    }
}

async fn memory_of_the_project_reaches_the_agent_and_its_settings_do_not(build: Build) {
    for is_on in [true, false] {
        let fixture = fixture(build, [bash("echo hi")]);
        fs::write(fixture.file("CLAUDE.md"), "MEMORY-TEXT, and see @docs.md").expect("a file");
        fs::write(fixture.file("docs.md"), "IMPORTED-TEXT").expect("a file");
        write_project_settings(&fixture);
        let before = fixture.files();
        let mut spec = granting(fixture.spec([]), &fixture, &["Skill", "Task"]);
        spec.project_memory = is_on;

        run(&fixture, spec).await;

        let requests = fixture.server.log().main_requests();
        let text = requests[0].raw.to_string();
        for memory in ["MEMORY-TEXT", "IMPORTED-TEXT"] {
            assert_eq!(text.contains(memory), is_on, "{memory}: {text}");
        }
        assert!(!text.contains(MARK), "{text}");
        assert_eq!(fixture.files(), before, "a setting of the project ran");
    }
}

/// Files for which Claude Code requests the approval of a user, whatever a hook answers.
const CHECKED_PATHS: [&str; 12] = [
    ".cargo/config.toml",
    ".devcontainer.json",
    ".devcontainer/devcontainer.json",
    ".envrc",
    ".husky/pre-commit",
    ".npmrc",
    ".pre-commit-config.yaml",
    ".vscode/settings.json",
    ".yarnrc.yml",
    "bunfig.toml",
    "lefthook.yml",
    "pyrightconfig.json",
];

async fn some_configuration_files_are_written_by_commands_alone(build: Build) {
    let by_command = CHECKED_PATHS.map(|name| {
        let (folder, _) = name.rsplit_once('/').unwrap_or((".", name));
        bash(&format!(
            "mkdir -p {folder} && cat > {name} <<'EOF'\nx\nEOF"
        ))
    });
    let turns = CHECKED_PATHS.map(write).into_iter().chain(by_command);
    let fixture = fixture(build, turns);

    let events = run(&fixture, sandboxed(&fixture)).await;

    let outputs = outputs(&events);
    let (by_tool, by_command) = outputs.split_at(CHECKED_PATHS.len());
    for (name, (output, status)) in CHECKED_PATHS.iter().zip(by_tool) {
        assert_ne!(*status, ToolStatus::Ok, "{name}: {output}");
    }
    for (name, (output, status)) in CHECKED_PATHS.iter().zip(by_command) {
        // The sandbox makes this folder read-only.
        let is_read_only = name.starts_with(".vscode");
        let is_ok = *status == ToolStatus::Ok;
        assert_eq!(is_ok, !is_read_only, "{name}: {output}");
        assert_eq!(fixture.file(name).exists(), !is_read_only, "{name}");
    }
}

on_both_builds![
    the_sandbox_protects_hooks_configuration_and_ledger;
    newer_only:
    the_gate_decides_about_writes_before_claude_code_does,
    an_agent_gets_the_tools_that_are_granted,
    an_agent_gets_no_tools_that_are_not_granted,
    some_configuration_files_are_written_by_commands_alone,
    memory_of_the_project_reaches_the_agent_and_its_settings_do_not,
];
