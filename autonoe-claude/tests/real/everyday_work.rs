//! Ordinary work in the default configuration: Git, temporary files, granted tools, memory.

use std::fs;
use std::process::Command;

use autonoe_core::{
    Gate, HookDecision, Places, Sandbox, SessionSpec, StreamEvent, ToolStatus, hook_fn,
};
use autonoe_testkit::model_server::anthropic::{Script, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::setting::{Setting, events_of};

fn bash(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    Turn::tool("Bash", input)
}

fn write(path: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": path, "content": "x"}))
}

/// Returns a setting whose user has a name for commits.
fn setting(build: Build, turns: impl IntoIterator<Item = Turn>) -> Setting {
    let turns = turns.into_iter().chain([Turn::text("Done.")]);
    let setting = Setting::new(build, Script::new(turns));
    let config = "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = main\n";
    fs::write(setting.folder.join("home/.gitconfig"), config).expect("a file");
    fs::create_dir(setting.file(".autonoe")).expect("a directory");
    fs::write(setting.file(".autonoe/status.json"), "{}").expect("a file");
    setting
}

fn sandboxed(setting: &Setting) -> SessionSpec {
    let mut spec = setting.spec([]);
    spec.sandbox = Sandbox::Required;
    spec
}

/// Runs one session and returns its events.
async fn run(setting: &Setting, spec: SessionSpec) -> Vec<StreamEvent> {
    let mut client = setting.client(spec);
    let (events, error) = events_of(client.as_mut(), "Work.").await;
    client.dispose().await.expect("the session ends");
    assert!(error.is_none(), "{error:?} {events:?}");
    setting.server.verify();
    setting.assert_nothing_is_left();
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

fn git(setting: &Setting, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(setting.project())
        .output()
        .expect("git runs");
    String::from_utf8(output.stdout).expect("text")
}

async fn an_agent_can_use_git_in_the_sandbox(build: Build) {
    let setting = setting(
        build,
        [
            bash("git init && echo .autonoe > .gitignore && git add -A && git commit -m 'first'"),
            bash(
                "git checkout -b feature && echo 2 > two && git add . && \
                 git commit -m \"$(cat <<'EOF'\nAdd two\n\nWith a body.\nEOF\n)\"",
            ),
            bash(
                "git checkout main && git merge --no-ff -m merged feature && git branch -d feature",
            ),
            bash("echo 3 > two && git stash && git stash pop && git commit -am third"),
            bash(
                "git checkout -b topic HEAD~1 && echo 4 > four && git add --all && \
                 git commit -m fourth && git rebase main",
            ),
            bash("git status --short; git mv four five && git commit -m moved && git tag v1"),
        ],
    );

    let events = run(&setting, sandboxed(&setting)).await;

    let failed: Vec<_> = outputs(&events)
        .into_iter()
        .filter(|(_, status)| *status != ToolStatus::Ok)
        .collect();
    assert_eq!(failed, []);
    let log = git(&setting, &["log", "--format=%s", "--topo-order", "topic"]);
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["moved", "fourth", "third", "merged", "Add two", "first"]
    );
    assert_eq!(git(&setting, &["status", "--porcelain"]), "");
    assert_eq!(git(&setting, &["ls-files"]), ".gitignore\nfive\ntwo\n");
    assert_eq!(
        git(&setting, &["branch", "--format=%(refname:short)"]),
        "main\ntopic\n"
    );
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
    let setting = setting(build, attacks.map(bash));
    git(&setting, &["init", "--quiet"]);
    let config = fs::read(setting.file(".git/config")).expect("a file");

    let events = run(&setting, sandboxed(&setting)).await;

    assert_eq!(outputs(&events).len(), attacks.len());
    assert!(
        !setting.file(".git/hooks/pre-commit").exists(),
        "{events:?}"
    );
    assert_eq!(
        fs::read(setting.file(".git/config")).expect("a file"),
        config
    );
    assert_eq!(
        fs::read(setting.file(".autonoe/status.json")).expect("a file"),
        b"{}"
    );
    assert!(!setting.file(".autonoe/new").exists(), "{events:?}");
}

async fn the_gate_decides_about_writes_before_claude_code_does(build: Build) {
    let paths = [".autonoe/new", ".git/hooks/pre-commit", ".git/config"];
    let setting = setting(build, paths.map(write));
    let mut spec = sandboxed(&setting);
    let guard = hook_fn("guard", |_| HookDecision::block("blocked by the gate"));
    spec.gate = spec.gate.with_guard(guard);

    let events = run(&setting, spec).await;

    let outputs = outputs(&events);
    assert_eq!(outputs.len(), paths.len());
    for (output, status) in outputs {
        assert_eq!(status, ToolStatus::Denied, "{output}");
        assert!(output.contains("blocked by the gate"), "{output}");
    }
}

async fn programs_find_a_writable_temporary_directory(build: Build) {
    let node = "node -e \"const fs=require('fs'),os=require('os'),path=require('path');\
                fs.mkdtempSync(path.join(os.tmpdir(),'x-'))\"";
    let python = "python3 -c 'import os,tempfile; d=tempfile.mkdtemp(); \
                  assert not d.startswith(os.getcwd()), d'";
    let setting = setting(
        build,
        [
            bash(node),
            bash(python),
            bash("f=$(mktemp) && echo 1 > $f && cat <<E > $f\n2\nE\n"),
        ],
    );

    let events = run(&setting, sandboxed(&setting)).await;

    for (output, status) in outputs(&events) {
        assert_eq!(status, ToolStatus::Ok, "{output}");
    }
    assert_eq!(setting.files(), [""; 0]);
}

async fn an_agent_gets_the_tools_that_are_granted(build: Build) {
    let todos = json!({"todos": [{"content": "a", "status": "pending", "activeForm": "doing a"}]});
    let setting = setting(build, [Turn::tool("TodoWrite", todos)]);
    let mut spec = setting.spec([]);
    let rules = [
        "TodoWrite",
        "Task",
        "WebSearch",
        "WebFetch(domain:example.com)",
    ];
    let rules = rules.map(|rule| rule.parse().expect("a rule"));
    let grants = spec.gate.grants().clone().with_rules(rules);
    spec.gate = Gate::new(Places::new(setting.project()), grants);

    let events = run(&setting, spec).await;

    let requests = setting.server.log().main_requests();
    for tool in ["Agent", "WebSearch", "WebFetch", "TodoWrite", "Bash"] {
        assert!(
            requests[0].tool(tool).is_some(),
            "{tool}: {:?}",
            requests[0].tools
        );
    }
    assert!(requests[0].tool("NotebookEdit").is_none());
    assert_eq!(outputs(&events)[0].1, ToolStatus::Ok, "{events:?}");
}

async fn memory_of_the_project_reaches_the_agent_and_its_settings_do_not(build: Build) {
    let hook = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
        {"type": "command", "command": "touch hooked"}
    ]}]}});
    for (is_on, expected) in [(true, true), (false, false)] {
        let setting = setting(build, [bash("echo hi")]);
        fs::write(setting.file("CLAUDE.md"), "MEMORY-MARK, and see @docs.md").expect("a file");
        fs::write(setting.file("docs.md"), "IMPORT-MARK").expect("a file");
        fs::create_dir(setting.file(".claude")).expect("a directory");
        fs::write(setting.file(".claude/settings.json"), hook.to_string()).expect("a file");
        let mut spec = setting.spec([]);
        spec.project_memory = is_on;

        run(&setting, spec).await;

        let requests = setting.server.log().main_requests();
        let texts = requests[0].user_texts().concat() + &requests[0].system_texts().concat();
        for mark in ["MEMORY-MARK", "IMPORT-MARK"] {
            assert_eq!(texts.contains(mark), expected, "{mark}: {texts}");
        }
        assert!(
            !setting.file("hooked").exists(),
            "a hook of the project ran"
        );
    }
}

on_both_builds![
    an_agent_can_use_git_in_the_sandbox,
    the_sandbox_protects_hooks_configuration_and_ledger,
    the_gate_decides_about_writes_before_claude_code_does,
    programs_find_a_writable_temporary_directory,
    an_agent_gets_the_tools_that_are_granted,
    memory_of_the_project_reaches_the_agent_and_its_settings_do_not,
];
