//! Invalid values, each with its error message.

use autonoe_core::Mode;
use autonoe_core::project::ConfigErrorKind;

use crate::config::support::{error, merged, parse};

/// Returns the messages of several texts, one per line.
fn errors(texts: &[&str]) -> String {
    let messages: Vec<String> = texts.iter().map(|text| error(text)).collect();
    messages.join("\n")
}

#[test]
fn unknown_fields_at_every_level_are_reported_with_a_hint() {
    let messages = errors(&[
        r#"{"profil": "node"}"#,
        r#"{"porfile": "node"}"#,
        r#"{"hook": []}"#,
        r#"{"permission": {}}"#,
        r#"{"allowedtools": []}"#,
        r#"{"mcp_servers": {}}"#,
        r#"{"projectmemory": false}"#,
        r#"{"backends": "codex"}"#,
        r#"{"denyCommands": ["curl"]}"#,
        r#"{"disallowedTools": ["Task"]}"#,
        r#"{"allowCommands": {"bsae": []}}"#,
        r#"{"allowCommands": {"verify": []}}"#,
        r#"{"permissions": {"alow": []}}"#,
        r#"{"permissions": {"deny": ["Bash(*)"]}}"#,
        r#"{"environment": {"alow": []}}"#,
        r#"{"mcpServers": {"a/b~c": {"command": "x"}}}"#,
        r#"{"mcpServers": {"a": {"comand": "x"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "cwd": "/"}}}"#,
        r#"{"mcpServers": {"a": {"type": "http", "url": "https://x", "header": {}}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "url": "https://x"}}}"#,
        r#"{"hooks": [{"type": "core-deny-tool", "rule": "Task", "reson": "x"}]}"#,
    ]);

    insta::assert_snapshot!(messages);
}

#[test]
fn other_unknown_fields_are_warnings_with_a_suggestion() {
    let texts = [
        r#"{"allowcommands": []}"#,
        r#"{"allowPkillTarget": []}"#,
        r#"{"enviroment": {"allow": ["NPM_TOKEN"]}}"#,
        r#"{"$schem": "x"}"#,
        r#"{"temperature": 1}"#,
        r#"{"sandbox": {"enabled": false}}"#,
        r#"{"hooks": {}}"#,
        r#"{"hooks": {"PreToolUse": ["bash-security", "autonoe-protection", "sync-write-restriction"]}}"#,
        "{\n  \"version\": 2,\n  \"profile\": \"node\",\n  \"sandbox\": true\n}",
    ];

    let warnings = texts.map(|text| {
        let config = parse(text).expect("a valid configuration");
        config.warnings().join("\n")
    });

    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn an_ignored_field_changes_nothing_else() {
    let known = r#""profile": "node", "allowedTools": ["Task"], "mcpServers": {}"#;
    let unknown = r#""sandbox": false, "hooks": {"PreToolUse": ["bash-security"]}, "x": [1]"#;

    for mode in [Mode::Run, Mode::Sync] {
        let without = merged(&format!("{{{known}}}"), mode);
        let with = merged(&format!("{{{known}, {unknown}}}"), mode);

        assert_eq!(without.warnings(), &[] as &[String]);
        assert_eq!(with.warnings().len(), 3);
        assert_eq!(with.to_string(), without.to_string());
    }
}

#[test]
fn a_wrong_type_is_reported_with_the_expected_one() {
    let messages = errors(&[
        "[]",
        "null",
        "7",
        r#"{"$schema": 1}"#,
        r#"{"profile": 7}"#,
        r#"{"profile": null}"#,
        r#"{"profile": ["node", true]}"#,
        r#"{"allowCommands": "docker"}"#,
        r#"{"allowCommands": ["docker", 1]}"#,
        r#"{"allowCommands": {"run": "docker"}}"#,
        r#"{"allowPkillTargets": {}}"#,
        r#"{"permissions": ["Read(./**)"]}"#,
        r#"{"permissions": {"allow": "Read(./**)"}}"#,
        r#"{"permissions": {"allow": [{}]}}"#,
        r#"{"environment": ["NPM_TOKEN"]}"#,
        r#"{"environment": {"allow": "NPM_TOKEN"}}"#,
        r#"{"environment": {"allow": [7]}}"#,
        r#"{"allowedTools": "Task"}"#,
        r#"{"allowedTools": [null]}"#,
        r#"{"mcpServers": []}"#,
        r#"{"mcpServers": null}"#,
        r#"{"mcpServers": {"a": "npx"}}"#,
        r#"{"mcpServers": {"a": {"command": ["npx"]}}}"#,
        r#"{"mcpServers": {"a": {"command": "npx", "args": "x"}}}"#,
        r#"{"mcpServers": {"a": {"command": "npx", "args": [1]}}}"#,
        r#"{"mcpServers": {"a": {"command": "npx", "env": {"A": 1}}}}"#,
        r#"{"projectMemory": "off"}"#,
        r#"{"projectMemory": null}"#,
        r#"{"hooks": {"PostToolUse": []}}"#,
        r#"{"hooks": {"PreToolUse": "bash-security"}}"#,
        r#"{"hooks": {"PreToolUse": [{"type": "core-deny-tool"}]}}"#,
        r#"{"hooks": ["core-deny-tool"]}"#,
        r#"{"hooks": [{"type": 1}]}"#,
        r#"{"hooks": [{"type": "core-deny-tool", "rule": 1, "reason": "x"}]}"#,
    ]);

    insta::assert_snapshot!(messages);
}

// Shows: spec/5.4/empty-server
#[test]
fn unknown_values_are_reported_with_valid_ones() {
    let messages = errors(&[
        r#"{"profile": "nodejs"}"#,
        r#"{"profile": "Node"}"#,
        r#"{"profile": ["node", "pyton"]}"#,
        r#"{"profile": "cobol"}"#,
        r#"{"allowCommands": [""]}"#,
        r#"{"allowCommands": ["npm run"]}"#,
        r#"{"allowCommands": ["rm"]}"#,
        r#"{"allowCommands": {"base": ["/bin/mv"]}}"#,
        r#"{"allowCommands": {"sync": ["eval"]}}"#,
        r#"{"allowPkillTargets": [" vite"]}"#,
        r#"{"permissions": {"allow": ["Reed(./**)"]}}"#,
        r#"{"permissions": {"allow": ["read(./**)"]}}"#,
        r#"{"permissions": {"allow": ["Read(./**"]}}"#,
        r#"{"permissions": {"allow": ["Fly(./**)"]}}"#,
        r#"{"permissions": {"allow": [""]}}"#,
        r#"{"environment": {"allow": ["NPM_TOKEN=x"]}}"#,
        r#"{"environment": {"allow": ["*"]}}"#,
        r#"{"environment": {"allow": [""]}}"#,
        r#"{"allowedTools": ["Bash(npm run *)"]}"#,
        r#"{"allowedTools": ["Reed(./**)"]}"#,
        r#"{"allowedTools": ["my tool"]}"#,
        r#"{"mcpServers": {"autonoe": {"command": "x"}}}"#,
        r#"{"mcpServers": {"a__b": {"command": "x"}}}"#,
        r#"{"mcpServers": {"": {"command": "x"}}}"#,
        r#"{"mcpServers": {"playwright": {}}}"#,
        r#"{"mcpServers": {"a": {"command": " "}}}"#,
        r#"{"mcpServers": {"a": {"type": "http"}}}"#,
        r#"{"mcpServers": {"a": {"url": "https://x"}}}"#,
        r#"{"mcpServers": {"a": {"type": "stdio", "url": "https://x"}}}"#,
        r#"{"mcpServers": {"a": {"type": "websocket", "command": "x"}}}"#,
    ]);

    insta::assert_snapshot!(messages);
}

#[test]
fn unknown_or_incomplete_hooks_are_errors() {
    let messages = errors(&[
        r#"{"hooks": {"PreToolUse": ["bash-security", "my-hook"]}}"#,
        r#"{"hooks": [{"rule": "Task"}]}"#,
        r#"{"hooks": [{"type": "core-dney-tool"}]}"#,
        r#"{"hooks": [{"type": "slack-notify"}]}"#,
        r#"{"hooks": [{"type": "core-deny-tool", "rule": "Task"}]}"#,
        r#"{"hooks": [{"type": "core-deny-tool", "rule": "Reed(*)", "reason": "x"}]}"#,
    ]);

    insta::assert_snapshot!(messages);
}

#[test]
fn an_error_has_its_line_its_column_and_its_pointer() {
    let text = "{\n  \"permissions\": {\n    \"allow\": [\n      \"Read(./**)\", \"Reed(./**)\"\n    ]\n  }\n}";

    let error = parse(text).expect_err("it is not a rule");

    assert_eq!(error.kind(), ConfigErrorKind::InvalidValue);
    assert_eq!((error.line(), error.column()), (Some(4), Some(21)));
    assert_eq!(error.pointer(), Some("/permissions/allow/1"));
    assert_eq!(error.suggestion(), Some("did you mean `Read(./**)`?"));
}

#[test]
fn columns_count_characters() {
    let error = parse(r#"{"allowCommands": ["größe", "a b"]}"#).expect_err("it has a blank");

    assert_eq!(error.column(), Some(29));
}
