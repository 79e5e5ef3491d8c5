//! MCP servers by the user-priority table (5.4), row by row.

use std::collections::BTreeMap;

use autonoe_core::Mode;
use autonoe_core::project::{EffectiveConfig, PLAYWRIGHT_MCP_TOOLS, SandboxSwitch};
use autonoe_core::tool::McpServer;
use serde_json::json;

use crate::config::support::{bare, merged, rules};

fn stdio(command: &str, args: &[&str]) -> McpServer {
    serde_json::from_value(json!({"command": command, "args": args})).expect("a server")
}

fn built_in() -> McpServer {
    stdio(
        "npx",
        &[
            "@playwright/mcp@latest",
            "--headless",
            "--isolated",
            "--caps=testing",
        ],
    )
}

fn servers<const N: usize>(servers: [(&str, McpServer); N]) -> BTreeMap<String, McpServer> {
    servers
        .into_iter()
        .map(|(name, server)| (name.to_owned(), server))
        .collect()
}

/// Returns the number of granted browser tools.
fn granted_tools(config: &EffectiveConfig) -> usize {
    let rules = rules(config);
    let tools = PLAYWRIGHT_MCP_TOOLS.iter();
    tools
        .filter(|tool| rules.contains(&(**tool).to_owned()))
        .count()
}

// Shows: spec/5.4/mcp-servers-undefined, spec/9.2/playwright
#[test]
fn undefined_loads_the_built_in_browser() {
    for config in [bare(Mode::Run), merged("{}", Mode::Run)] {
        assert_eq!(config.mcp_servers(), &servers([("playwright", built_in())]));
        assert_eq!(granted_tools(&config), PLAYWRIGHT_MCP_TOOLS.len());
    }
}

// Shows: spec/5.4/mcp-servers
#[test]
fn an_empty_object_disables_all_servers() {
    let config = merged(r#"{"mcpServers": {}}"#, Mode::Run);

    assert!(config.mcp_servers().is_empty());
    assert_eq!(granted_tools(&config), 0);
}

/// The table writes `{}` for any server; one without a command is among the bad values.
// Shows: spec/5.4/mcp-servers-playwright, spec/9.3/servers
#[test]
fn the_name_playwright_overrides_the_built_in_one() {
    let config = merged(
        r#"{"mcpServers": {"playwright": {"command": "my-browser"}}}"#,
        Mode::Run,
    );

    let own = stdio("my-browser", &[]);
    assert_eq!(config.mcp_servers(), &servers([("playwright", own)]));
    assert_eq!(granted_tools(&config), PLAYWRIGHT_MCP_TOOLS.len());
}

// Shows: spec/5.4/mcp-servers-other-names, spec/9.3/servers
#[test]
fn other_servers_are_merged_with_the_built_in_one() {
    let config = merged(
        r#"{"mcpServers": {"custom-tool": {"command": "npx", "args": ["custom-mcp-server"]}}}"#,
        Mode::Run,
    );

    let custom = stdio("npx", &["custom-mcp-server"]);
    assert_eq!(
        config.mcp_servers(),
        &servers([("custom-tool", custom), ("playwright", built_in())])
    );
}

#[test]
fn all_tools_of_a_server_are_granted_unless_a_rule_names_the_server() {
    for (permissions, tools, granted) in [
        ("[]", "[]", &["mcp__docs__*"][..]),
        (r#"["WebFetch(*)"]"#, r#"["Task"]"#, &["mcp__docs__*"]),
        // These name other servers.
        (
            "[]",
            r#"["mcp__docs2__read", "mcp__do__cs"]"#,
            &["mcp__docs2__read", "mcp__do__cs", "mcp__docs__*"],
        ),
        ("[]", r#"["mcp__docs__read"]"#, &["mcp__docs__read"]),
        (r#"["mcp__docs__read"]"#, "[]", &["mcp__docs__read"]),
        ("[]", r#"["mcp__docs"]"#, &["mcp__docs"]),
        ("[]", r#"["mcp__docs__*"]"#, &["mcp__docs__*"]),
    ] {
        let text = format!(
            r#"{{"permissions": {{"allow": {permissions}}}, "allowedTools": {tools},
                "mcpServers": {{"docs": {{"command": "x"}}}}}}"#
        );
        let of_servers = |mode| -> Vec<String> {
            let rules = rules(&merged(&text, mode)).into_iter();
            rules
                .filter(|rule| rule.starts_with("mcp__") && !rule.contains("playwright"))
                .collect()
        };
        assert_eq!(of_servers(Mode::Run), granted, "{text}");
        // In a sync, only the tools that the file names are granted.
        let mut named = granted.to_vec();
        named.retain(|rule| text.contains(rule));
        assert_eq!(of_servers(Mode::Sync), named, "{text}");
    }
}

// Shows: spec/9.2/playwright
// Shows: spec/9.7/sync-servers
#[test]
fn a_sync_has_no_browser() {
    let both = r#"{"mcpServers": {"playwright": {"command": "x"}, "docs": {"command": "y"}}}"#;
    for (config, expected) in [
        (bare(Mode::Sync), servers([])),
        (merged("{}", Mode::Sync), servers([])),
        (
            merged(both, Mode::Sync),
            servers([("docs", stdio("y", &[]))]),
        ),
    ] {
        assert_eq!(config.mcp_servers(), &expected);
        assert_eq!(granted_tools(&config), 0);
    }
}

#[test]
fn a_configuration_from_code_is_validated() {
    let mut config = autonoe_core::project::AgentConfig::default();
    config.mcp_servers = Some(servers([("autonoe", stdio("x", &[]))]));

    let merged = EffectiveConfig::merge(Some(config), Mode::Run, SandboxSwitch::default());

    insta::assert_snapshot!(
        merged.expect_err("the name is taken"),
        @"the configuration: /mcpServers/autonoe: the server name `autonoe` is taken by the deliverable tools; choose another one"
    );
}
