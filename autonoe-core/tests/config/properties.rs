//! No configuration whatever can take anything away.

use std::path::Path;

use autonoe_core::{AgentConfig, EffectiveConfig, Grants, Mode, Sandbox, SandboxSwitch, Source};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{FILE, rules};

fn rule() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just("Read(./**)"),
        Just("Write(/**)"),
        Just("Write(./.autonoe/**)"),
        Just("Bash(*)"),
        Just("Bash(rm -rf *)"),
        Just("WebFetch(*)"),
        Just("mcp__autonoe__*"),
        Just("Write"),
    ]
    .prop_map(Value::from)
}

fn name() -> impl Strategy<Value = Value> {
    "[a-z]{1,6}".prop_map(Value::from)
}

fn tool() -> impl Strategy<Value = Value> {
    prop_oneof![Just("Task"), Just("Write"), Just("Bash"), Just("mcp__a__*")].prop_map(Value::from)
}

fn list(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(item, 0..4).prop_map(Value::from)
}

fn server() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"command": "x"})),
        Just(json!({"type": "http", "url": "https://x"})),
    ]
}

fn hook() -> impl Strategy<Value = Value> {
    rule().prop_map(|rule| json!({"type": "core-deny-tool", "rule": rule, "reason": "no"}))
}

fn profile() -> impl Strategy<Value = Value> {
    prop_oneof![Just("node"), Just("go"), Just("php")].prop_map(Value::from)
}

/// Anything at all, in the place of a value.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(false)),
        Just(json!([])),
        Just(json!({})),
        Just(json!({"enabled": false})),
        Just(json!("off")),
    ]
}

/// A configuration of valid fields, each of which may be missing.
fn valid() -> impl Strategy<Value = Value> {
    let servers = prop::collection::btree_map("playwright|[a-z]{1,3}", server(), 0..3);
    let fields = (
        prop::option::of(prop_oneof![profile(), list(profile())]),
        prop::option::of(prop_oneof![
            list(name()),
            (list(name()), list(name()))
                .prop_map(|(base, sync)| json!({"base": base, "sync": sync})),
        ]),
        prop::option::of(list(name())),
        prop::option::of(list(rule()).prop_map(|allow| json!({"allow": allow}))),
        prop::option::of(list(tool())),
        prop::option::of(servers.prop_map(|servers| json!(servers))),
        prop::option::of(list(hook())),
    );
    fields.prop_map(
        |(profile, commands, targets, permissions, tools, servers, hooks)| {
            let fields = [
                ("profile", profile),
                ("allowCommands", commands),
                ("allowPkillTargets", targets),
                ("permissions", permissions),
                ("allowedTools", tools),
                ("mcpServers", servers),
                ("hooks", hooks),
            ];
            let present = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            present.collect::<Map<_, _>>().into()
        },
    )
}

/// A configuration with a field of any name and any value in it.
fn disturbed() -> impl Strategy<Value = Value> {
    let names = "sandbox|hooks|permissions|guards|baseline|profile|mcpServers|[a-z]{1,4}";
    (valid(), names, anything()).prop_map(|(mut config, name, value)| {
        config[name] = value;
        config
    })
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Run), Just(Mode::Sync)]
}

fn any_switch() -> impl Strategy<Value = SandboxSwitch> {
    let said = || {
        prop_oneof![
            Just(None),
            Just(Some(Sandbox::Required)),
            Just(Some(Sandbox::Off))
        ]
    };
    (said(), said()).prop_map(|(flag, environment)| SandboxSwitch::resolve(flag, environment))
}

/// Returns the guards that a configuration is left with.
fn guards(config: &EffectiveConfig) -> Vec<&str> {
    let lines = config.explain().iter();
    lines
        .filter(|line| line.key == "hooks" && line.source == Source::Baseline)
        .map(|line| line.value.as_str())
        .collect()
}

fn takes_nothing_away(text: &str, mode: Mode, switch: SandboxSwitch) -> Result<(), TestCaseError> {
    let Ok(config) = AgentConfig::parse(text, Path::new(FILE)) else {
        return Ok(());
    };
    let hooks = config.hooks.len();

    let merged = EffectiveConfig::merge(Some(config), mode, switch).expect("it was checked");

    let granted = rules(&merged);
    for rule in Grants::baseline(mode).rules() {
        prop_assert!(granted.contains(&rule.to_string()), "{rule} {text}");
    }
    prop_assert_eq!(
        guards(&merged),
        ["bash-security", "file-scope", "autonoe-protection"]
    );
    prop_assert_eq!(merged.hooks().len(), hooks);
    prop_assert_eq!(merged.sandbox(), switch);
    prop_assert_eq!(merged.bash().mode, mode);
    prop_assert!(!merged.mcp_servers().contains_key("autonoe"));
    Ok(())
}

proptest! {
    #[test]
    fn a_valid_configuration_takes_nothing_away(
        config in valid(), mode in any_mode(), switch in any_switch()
    ) {
        let text = config.to_string();

        prop_assert!(AgentConfig::parse(&text, Path::new(FILE)).is_ok(), "{text}");
        takes_nothing_away(&text, mode, switch)?;
    }

    #[test]
    fn a_disturbed_configuration_takes_nothing_away(
        config in disturbed(), mode in any_mode(), switch in any_switch()
    ) {
        takes_nothing_away(&config.to_string(), mode, switch)?;
    }

    #[test]
    fn any_text_is_a_configuration_or_an_error(text in "\\PC{0,40}|[\\[\\]{}\",:a-z0-9 \n]{0,60}") {
        takes_nothing_away(&text, Mode::Run, SandboxSwitch::default())?;
    }

    #[test]
    fn what_is_checked_is_what_serde_reads(config in disturbed()) {
        let text = config.to_string();

        let read = serde_json::from_str::<AgentConfig>(&text);

        // The check is stricter: it also refuses null and names that mean nothing.
        if AgentConfig::parse(&text, Path::new(FILE)).is_ok() {
            prop_assert!(read.is_ok(), "{text}");
        }
    }

    #[test]
    fn a_configuration_survives_being_written(config in valid()) {
        let config = AgentConfig::parse(&config.to_string(), Path::new(FILE)).expect("valid");

        let text = serde_json::to_string(&config).expect("JSON");
        let again = AgentConfig::parse(&text, Path::new(FILE)).expect("valid");

        prop_assert_eq!(serde_json::to_string(&again).expect("JSON"), text);
        prop_assert_eq!(again.mcp_servers, config.mcp_servers);
    }
}
