//! The rule formats and the example of the specification (5.4).

use std::collections::BTreeSet;

use autonoe_core::Mode;
use autonoe_core::gate::Grants;
use autonoe_core::gate::policy::Profile;
use autonoe_core::project::PLAYWRIGHT_MCP_TOOLS;
use serde_json::json;

use crate::config::support::{merged, rules};

/// The example of the specification.
const EXAMPLE: &str = include_str!("spec_example.json");

// Shows: spec/2.3/permission-level, spec/5.4/permission-rules-read-write-edit
#[test]
fn every_format_of_a_permission_rule_is_granted() {
    for rule in [
        "Read(./**)",
        "Write(./**)",
        "Edit(./**)",
        "Bash(*)",
        "Bash(npm run *)",
        "WebFetch(*)",
        "Glob(./**)",
        "Grep(./**)",
    ] {
        for mode in [Mode::Run, Mode::Sync] {
            let text = json!({"permissions": {"allow": [rule]}}).to_string();

            let granted = rules(&merged(&text, mode));

            let times = granted.iter().filter(|granted| *granted == rule).count();
            assert_eq!(times, 1, "{rule} in {mode}");
        }
    }
}

#[test]
fn the_example_of_the_specification_is_merged_with_the_baseline() {
    let config = merged(EXAMPLE, Mode::Run);

    let owned =
        |names: &[&str]| -> BTreeSet<String> { names.iter().map(ToString::to_string).collect() };
    assert_eq!(
        config.bash().profiles,
        Some([Profile::Node, Profile::Python].into())
    );
    assert_eq!(
        config.bash().allow_commands.in_mode(config.mode()),
        owned(&["custom-cli", "docker"])
    );
    assert_eq!(config.bash().allow_pkill_targets, owned(&["custom-server"]));
    let mut expected: Vec<String> = Grants::baseline(Mode::Run)
        .rules()
        .map(ToString::to_string)
        .collect();
    expected.extend(
        [
            "WebFetch(https://api.example.com/*)",
            "Task",
            "WebSearch",
            "mcp__custom-tool__*",
        ]
        .iter()
        .chain(PLAYWRIGHT_MCP_TOOLS)
        .map(ToString::to_string),
    );
    assert_eq!(rules(&config), expected);
    assert_eq!(
        json!(config.mcp_servers()),
        json!({
            "custom-tool": {"command": "npx", "args": ["custom-mcp-server"]},
            "playwright": {
                "command": "npx",
                "args": ["@playwright/mcp@latest", "--headless", "--isolated", "--caps=testing"],
            },
        })
    );
    assert!(config.hooks().is_empty());
}

#[test]
fn in_a_sync_the_example_adds_neither_run_commands_nor_a_browser() {
    let config = merged(EXAMPLE, Mode::Sync);

    assert!(
        config
            .bash()
            .allow_commands
            .in_mode(config.mode())
            .is_empty()
    );
    assert_eq!(Vec::from_iter(config.mcp_servers().keys()), ["custom-tool"]);
    let of_server = |rule: &String| rule.starts_with("mcp__");
    assert!(!rules(&config).iter().any(of_server));
}
