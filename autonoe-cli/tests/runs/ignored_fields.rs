//! Settings of the original Autonoe that have no effect here.

use crate::runs::support::autonoe::{CommandOutput, autonoe, scripted};
use crate::runs::support::project::Project;
use crate::runs::support::script::Script;

const SETTINGS: &str = r#"{
  "sandbox": {"enabled": false},
  "hooks": {"PreToolUse": ["bash-security", "autonoe-protection"]},
  "mcpServers": {},
  "version": 1
}"#;

const WARNINGS: [&str; 3] = [
    "agent.json:2:3: /sandbox: the unknown field `sandbox` has no effect; only the operator",
    "agent.json:3:3: /hooks: naming guards has no effect; guards always apply",
    "agent.json:5:3: /version: the unknown field `version` has no effect; known are $schema,",
];

fn assert_warned_once(ended: &CommandOutput, text: &str) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for warning in WARNINGS {
        assert_eq!(text.matches(warning).count(), 1, "{warning}: {ended:?}");
    }
}

#[test]
fn every_command_warns_about_ignored_fields_and_works() {
    let project = Project::new();
    project.write(".autonoe/agent.json", SETTINGS);

    for arguments in [&["check", "ls"][..], &["run", "--dry-run"]] {
        let ended = CommandOutput::run(autonoe(&project, arguments));

        assert_warned_once(&ended, &ended.stderr);
    }
    let script = Script::new().plans(&["DL-001"]).passes(&["DL-001"]);
    let ended = scripted(&project, &script, &["run"]);

    assert_warned_once(&ended, &ended.stderr);
}

#[test]
fn ignored_fields_do_not_disable_the_sandbox() {
    let project = Project::new();
    project.write(".autonoe/agent.json", SETTINGS);

    let ended = CommandOutput::run(autonoe(&project, &["run", "--dry-run"]));

    let sandbox = ended
        .stdout
        .lines()
        .find(|line| line.contains("sandbox "))
        .expect("it is a setting");
    assert!(
        sandbox.contains("required") && sandbox.contains("default"),
        "{ended:?}"
    );
}
