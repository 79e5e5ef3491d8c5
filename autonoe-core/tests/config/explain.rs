//! Explanation of every value with its source.

use autonoe_core::Mode;
use autonoe_core::agent::Sandbox;
use autonoe_core::project::{EffectiveConfig, SandboxSwitch};

use crate::config::support::{bare, merged, parse, rules};

const EXAMPLE: &str = r#"{
  "profile": ["node", "python"],
  "allowCommands": {"base": ["jq"], "run": [
    "docker"
  ]},
  "allowPkillTargets": ["custom-server"],
  "permissions": {
    "allow": [
      "WebFetch(https://api.example.com/*)"
    ]
  },
  "allowedTools": ["Task", "WebSearch"],
  "mcpServers": {
    "custom": {"command": "npx", "args": ["custom-mcp"], "env": {"TOKEN": "secret-1"}},
    "remote": {
      "type": "http",
      "url": "https://user:secret-2@example.com/mcp?key=secret-3",
      "headers": {"Authorization": "secret-4"}
    }
  },
  "hooks": [
    {"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "offline"}
  ]
}"#;

// Shows: spec/5.4/sources-hard-coded-baseline-user
#[test]
fn a_run_is_explained_line_by_line() {
    let config = parse(EXAMPLE).expect("valid");
    let switch = SandboxSwitch::resolve(Some(Sandbox::Off), None);

    let config = EffectiveConfig::merge(Some(config), Mode::Run, switch).expect("valid");

    insta::assert_snapshot!(config);
}

#[test]
fn a_sync_is_explained_line_by_line() {
    insta::assert_snapshot!(merged(EXAMPLE, Mode::Sync));
}

#[test]
fn a_run_without_a_file_is_explained_too() {
    insta::assert_snapshot!(bare(Mode::Run));
}

#[test]
fn project_memory_is_explained_with_its_source() {
    for (text, value, source) in [
        ("{}", "on", "default"),
        (r#"{"projectMemory": true}"#, "on", ".autonoe/agent.json:1"),
        (
            r#"{"projectMemory": false}"#,
            "off",
            ".autonoe/agent.json:1",
        ),
    ] {
        let config = merged(text, Mode::Run);

        let lines = config.explain().iter();
        let printed: Vec<_> = lines
            .filter(|line| line.key == "projectMemory")
            .map(|line| (line.value.as_str(), line.source.to_string()))
            .collect();
        assert_eq!(printed, [(value, source.to_owned())], "{text}");
        assert_eq!(config.project_memory(), value == "on", "{text}");
    }
}

#[test]
fn no_secret_is_printed() {
    let config = merged(EXAMPLE, Mode::Run);
    let parsed = parse(EXAMPLE).expect("valid");

    for printed in [
        config.to_string(),
        format!("{config:?}"),
        format!("{parsed:?}"),
    ] {
        assert!(!printed.contains("secret"), "{printed}");
    }
}

#[test]
fn every_grant_and_every_server_is_explained() {
    for mode in [Mode::Run, Mode::Sync] {
        let config = merged(EXAMPLE, mode);

        let servers = config.mcp_servers().keys();
        for rule in rules(&config) {
            assert!(
                config.explain().iter().any(|line| line.value == rule),
                "{rule}"
            );
        }
        for key in servers.map(|name| format!("mcpServers.{name}")) {
            assert!(config.explain().iter().any(|line| line.key == key), "{key}");
        }
    }
}
