//! Tests that `autonoe check` and a run judge commands alike.

use serde_json::{Value, json};

use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted};
use crate::runs::support::project::Project;
use crate::runs::support::script::{Script, ends, is_denied_by, sets, uses};

/// Commands that only the policy, only a guard, only a hook, or nothing blocks.
const COMMANDS: &[(&str, bool)] = &[
    ("npm test", true),
    ("curl https://example.com", false),
    ("cat .autonoe/status.json", true),
    ("git log -- .autonoe/status.json", true),
    ("find . -not -path './.autonoe/*'", true),
    ("tree -I '.autonoe'", true),
    ("git commit -m 'Ignore .autonoe'", true),
    ("ls -d .autonoe | node clean.js", false),
    ("x=.autonoe; node clean.js \"$x\"", false),
    ("echo {} > .autonoe/status.json", false),
    ("npm run deploy", false),
    ("timeout 60 npm run deploy", false),
    ("npm run build", true),
];

const CONFIG: &str = r#"{
    "hooks": [{"type": "core-deny-tool", "rule": "Bash(npm run deploy *)", "reason": "people deploy"}]
}"#;

#[test]
fn a_command_that_a_run_blocks_is_never_called_allowed() {
    let project = Project::new();
    project.write(".autonoe/agent.json", CONFIG);

    let mut steps: Vec<Value> = Vec::new();
    for (command, allowed) in COMMANDS {
        let checked = CommandOutput::run(autonoe(&project, &["check", command]));
        let code = if *allowed { 0 } else { 1 };
        assert_eq!(checked.code, Some(code), "{command}: {checked:?}");
        let input = json!({ "command": command });
        steps.push(if *allowed {
            uses("Bash", input)
        } else {
            is_denied_by("bash-security", "Bash", input)
        });
    }
    steps.extend([sets("DL-001", "passed"), ends()]);
    let script = Script::new().plans(&["DL-001"]).session(steps);

    let ended = scripted(&project, &script, &["run"]);

    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_block_by_a_guard_or_a_hook_names_it_and_its_reason() {
    let project = Project::new();
    project.write(".autonoe/agent.json", CONFIG);
    for (command, rule, reason) in [
        (
            "ls -d .autonoe | node clean.js",
            "autonoe-protection",
            "this command could change .autonoe/",
        ),
        (
            "npm run deploy",
            "deny Bash(npm run deploy *)",
            "people deploy",
        ),
    ] {
        let checked = CommandOutput::run(autonoe(&project, &["check", "--json", command]));

        let answer: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        assert_eq!(answer["allowed"], false, "{checked:?}");
        assert_eq!(answer["denial"]["rule"], rule, "{checked:?}");
        let found = answer["denial"]["reason"].as_str().expect("a reason");
        assert!(found.starts_with(reason), "{found}");
    }
}
