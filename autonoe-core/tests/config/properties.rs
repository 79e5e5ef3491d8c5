//! Property tests: no configuration removes a baseline rule or a guard.

use std::path::Path;

use autonoe_core::Mode;
use autonoe_core::gate::Grants;
use autonoe_core::project::{AgentConfig, ConfigErrorKind, EffectiveConfig, SandboxSwitch, Source};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::config::hostile_config::{any_mode, any_switch, anything, disturbed, valid};
use crate::config::support::{FILE, rules};

/// Returns the guards of a merged configuration.
fn guards(config: &EffectiveConfig) -> Vec<&str> {
    let lines = config.explain().iter();
    lines
        .filter(|line| line.key == "hooks" && line.source == Source::Baseline)
        .map(|line| line.value.as_str())
        .collect()
}

fn keeps_restrictions(text: &str, mode: Mode, switch: SandboxSwitch) -> Result<(), TestCaseError> {
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
    prop_assert_eq!(merged.mode(), mode);
    prop_assert!(!merged.mcp_servers().contains_key("autonoe"));
    Ok(())
}

proptest! {
    #[test]
    fn a_valid_configuration_removes_no_restriction(
        config in valid(), mode in any_mode(), switch in any_switch()
    ) {
        let text = config.to_string();

        prop_assert!(AgentConfig::parse(&text, Path::new(FILE)).is_ok(), "{text}");
        keeps_restrictions(&text, mode, switch)?;
    }

    // Shows: spec/9.3/removing-autonoe-protection
    #[test]
    fn a_mutated_configuration_removes_no_restriction(
        config in disturbed(), mode in any_mode(), switch in any_switch()
    ) {
        keeps_restrictions(&config.to_string(), mode, switch)?;
    }

    #[test]
    fn any_json_removes_no_restriction(
        config in anything(), mode in any_mode(), switch in any_switch()
    ) {
        keeps_restrictions(&config.to_string(), mode, switch)?;
    }

    #[test]
    fn any_text_is_a_configuration_or_an_error(text in "\\PC{0,40}|[\\[\\]{}\",:a-z0-9 \n]{0,60}") {
        keeps_restrictions(&text, Mode::Run, SandboxSwitch::default())?;
    }

    #[test]
    fn validation_agrees_with_serde(config in disturbed()) {
        let text = config.to_string();

        let read = serde_json::from_str::<AgentConfig>(&text);

        // The check is stricter: it also refuses null and invalid names. Serde does not know the
        // ignored fields.
        if let Ok(config) = AgentConfig::parse(&text, Path::new(FILE)) {
            prop_assert_eq!(read.is_ok(), config.warnings().is_empty(), "{}", text);
        }
    }

    #[test]
    fn every_error_has_a_position_and_a_suggestion(config in disturbed()) {
        let text = serde_json::to_string_pretty(&config).expect("JSON");

        if let Err(error) = AgentConfig::parse(&text, Path::new(FILE)) {
            prop_assert!(error.line().is_some() && error.column().is_some(), "{error}");
            prop_assert!(error.pointer().is_some(), "{error}");
            prop_assert!(error.to_string().starts_with(FILE), "{error}");
            let needs_hint = matches!(
                error.kind(),
                ConfigErrorKind::UnknownField | ConfigErrorKind::WrongType
            );
            prop_assert!(!needs_hint || error.suggestion().is_some(), "{error}");
        }
    }

    #[test]
    fn a_configuration_survives_being_written(config in valid()) {
        let config = AgentConfig::parse(&config.to_string(), Path::new(FILE)).expect("valid");

        let text = serde_json::to_string(&config).expect("JSON");
        let parsed = AgentConfig::parse(&text, Path::new(FILE)).expect("valid");

        prop_assert_eq!(serde_json::to_string(&parsed).expect("JSON"), text);
        prop_assert_eq!(parsed.mcp_servers, config.mcp_servers);
    }
}

#[test]
fn no_field_with_any_type_of_value_removes_a_restriction() {
    let fields = [
        "$schema",
        "profile",
        "allowCommands",
        "allowPkillTargets",
        "permissions",
        "allowedTools",
        "mcpServers",
        "hooks",
        "projectMemory",
        "sandbox",
        "guards",
        "baseline",
        "env",
        "disableHooks",
    ];
    let values: [Value; 16] = [
        json!(null),
        json!(false),
        json!(true),
        json!(0),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("off"),
        json!([]),
        json!([null]),
        json!([[]]),
        json!({}),
        json!({"allow": []}),
        json!({"allow": null}),
        json!({"enabled": false}),
        json!({"autonoe-protection": null, "bash-security": false}),
    ];
    for field in fields {
        for value in &values {
            for mode in [Mode::Run, Mode::Sync] {
                let text = json!({ field: value }).to_string();

                let held = keeps_restrictions(&text, mode, SandboxSwitch::default());

                assert!(held.is_ok(), "{text}: {held:?}");
            }
        }
    }
}

/// A property of values that are always refused, or always accepted, would prove nothing.
#[test]
fn mutated_configurations_are_sometimes_valid_and_sometimes_not() {
    let mut runner = TestRunner::deterministic();
    let mut accepted = 0;

    for _ in 0..1000 {
        let tree = disturbed().new_tree(&mut runner).expect("it generates");
        let text = tree.current().to_string();
        accepted += usize::from(AgentConfig::parse(&text, Path::new(FILE)).is_ok());
    }

    assert!((100..900).contains(&accepted), "{accepted} of 1000");
}
