//! Tables of the specification about the configuration merge (5.4 and 9.3), row by row.

use std::collections::BTreeSet;

use autonoe_core::Mode;
use autonoe_core::agent::Sandbox;
use autonoe_core::gate::Grants;
use autonoe_core::gate::policy::Profile;
use autonoe_core::project::{EffectiveConfig, PLAYWRIGHT_MCP_TOOLS, SandboxSwitch, SwitchSource};

use crate::config::support::{bare, merged, rules};

const MODES: [Mode; 2] = [Mode::Run, Mode::Sync];

fn baseline(mode: Mode) -> Vec<String> {
    let grants = Grants::baseline(mode);
    grants.rules().map(ToString::to_string).collect()
}

/// Returns the hooks of a configuration by name, including guards.
fn hooks(config: &EffectiveConfig) -> Vec<String> {
    let lines = config.explain().iter();
    let hooks = lines.filter(|line| line.key == "hooks");
    hooks.map(|line| line.value.clone()).collect()
}

// Shows: spec/5.4/permissions-allowed-tools-hooks, spec/9.3/permissions
#[test]
fn custom_permissions_are_merged_with_the_baseline() {
    for mode in MODES {
        let config = merged(
            r#"{"permissions": {"allow": ["WebFetch(https://api.example.com/*)"]}, "mcpServers": {}}"#,
            mode,
        );

        let mut expected = baseline(mode);
        expected.push("WebFetch(https://api.example.com/*)".into());
        assert_eq!(rules(&config), expected);
    }
}

// Shows: spec/5.4/permissions-allowed-tools-hooks
#[test]
fn allowed_tools_are_merged_with_the_baseline() {
    for mode in MODES {
        let config = merged(
            r#"{"allowedTools": ["Task", "mcp__db__*"], "mcpServers": {}}"#,
            mode,
        );

        let mut expected = baseline(mode);
        expected.extend(["Task".into(), "mcp__db__*".into()]);
        assert_eq!(rules(&config), expected);
    }
}

// Shows: spec/5.4/permissions-allowed-tools-hooks, spec/9.3/hooks
#[test]
fn custom_hooks_are_merged_with_the_baseline() {
    for mode in MODES {
        let config = merged(
            r#"{"hooks": [{"type": "core-deny-tool", "rule": "WebFetch(*)", "reason": "offline"}]}"#,
            mode,
        );

        assert_eq!(config.hooks().len(), 1);
        assert_eq!(
            hooks(&config),
            [
                "bash-security",
                "file-scope",
                "autonoe-protection",
                "core-deny-tool"
            ]
        );
    }
}

// Shows: spec/9.3/commands
#[test]
fn custom_commands_are_merged_with_those_of_the_profiles() {
    for (text, profiles) in [
        (r#"{"allowCommands": ["docker"]}"#, Profile::ALL.to_vec()),
        (
            r#"{"allowCommands": ["docker"], "profile": "node"}"#,
            vec![Profile::Node],
        ),
    ] {
        let config = merged(text, Mode::Run);

        assert_eq!(
            config.bash().allow_commands.in_mode(config.mode()),
            BTreeSet::from(["docker".into()])
        );
        assert_eq!(config.bash().profiles, Some(BTreeSet::from_iter(profiles)));
    }
}

// Shows: spec/5.5/sandbox-on-by-default-flag
#[test]
fn a_disabled_sandbox_is_allowed_with_a_warning() {
    for (flag, environment, sandbox, source) in [
        (None, None, Sandbox::Required, SwitchSource::Default),
        (Some(Sandbox::Off), None, Sandbox::Off, SwitchSource::Flag),
        (
            None,
            Some(Sandbox::Off),
            Sandbox::Off,
            SwitchSource::Environment,
        ),
        (
            Some(Sandbox::Off),
            Some(Sandbox::Off),
            Sandbox::Off,
            SwitchSource::Flag,
        ),
        (
            Some(Sandbox::Required),
            Some(Sandbox::Off),
            Sandbox::Required,
            SwitchSource::Flag,
        ),
    ] {
        let switch = SandboxSwitch::resolve(flag, environment);

        assert_eq!((switch.sandbox(), switch.source()), (sandbox, source));
        assert_eq!(switch.warning().is_some(), sandbox == Sandbox::Off);
        let config = EffectiveConfig::merge(None, Mode::Run, switch).expect("nothing is wrong");
        assert_eq!(config.sandbox(), switch);
    }
}

#[test]
fn sandbox_warning_names_its_source() {
    let by_flag = SandboxSwitch::resolve(Some(Sandbox::Off), None);
    let by_environment = SandboxSwitch::resolve(None, Some(Sandbox::Off));

    let warnings = [by_flag, by_environment].map(|switch| switch.warning().unwrap_or_default());

    insta::assert_snapshot!(warnings.join("\n"), @"
    the sandbox is switched off: commands of agents reach everything that you can reach
    the sandbox is switched off by the environment: commands of agents reach everything that you can reach
    ");
}

// Shows: spec/5.5/sandbox-on-by-default-flag, spec/5.5/file-switch
#[test]
fn the_file_cannot_disable_the_sandbox() {
    for sandbox in ["false", r#"{"enabled": false}"#, r#""off""#, "null"] {
        for mode in MODES {
            let config = merged(&format!(r#"{{"sandbox": {sandbox}}}"#), mode);

            assert_eq!(config.sandbox().sandbox(), Sandbox::Required, "{sandbox}");
            assert_eq!(
                config.sandbox().source(),
                SwitchSource::Default,
                "{sandbox}"
            );
            assert_eq!(config.warnings().len(), 1, "{sandbox}");
        }
    }
}

// Shows: spec/9.3/removing-autonoe-protection
#[test]
fn the_protection_of_autonoe_cannot_be_removed() {
    for mode in MODES {
        let config = merged(
            r#"{"hooks": [], "permissions": {"allow": ["Write(./.autonoe/**)"]}}"#,
            mode,
        );

        assert_eq!(hooks(&config), hooks(&bare(mode)));
        assert!(hooks(&config).contains(&"autonoe-protection".into()));
    }
}

#[test]
fn a_rule_of_the_baseline_that_the_file_repeats_is_there_once() {
    let config = merged(r#"{"permissions": {"allow": ["Read(./**)"]}}"#, Mode::Run);

    let granted = rules(&config);
    assert_eq!(
        granted.iter().filter(|rule| *rule == "Read(./**)").count(),
        1
    );
}

#[test]
fn without_a_file_a_sync_has_the_baseline_alone() {
    let config = bare(Mode::Sync);

    assert_eq!(rules(&config), baseline(Mode::Sync));
    assert!(config.mcp_servers().is_empty());
    assert!(config.hooks().is_empty());
    assert_eq!(config.sandbox(), SandboxSwitch::default());
}

#[test]
fn without_a_file_a_run_has_the_baseline_and_the_browser() {
    let config = bare(Mode::Run);

    let mut expected = baseline(Mode::Run);
    expected.extend(PLAYWRIGHT_MCP_TOOLS.iter().map(ToString::to_string));
    assert_eq!(rules(&config), expected);
    assert_eq!(Vec::from_iter(config.mcp_servers().keys()), ["playwright"]);
    assert!(config.hooks().is_empty());
    assert_eq!(config.sandbox().sandbox(), Sandbox::Required);
    assert_eq!(config.bash().profiles, Some(Profile::ALL.into()));
    assert!(
        config
            .bash()
            .allow_commands
            .in_mode(config.mode())
            .is_empty()
    );
    assert!(config.bash().allow_pkill_targets.is_empty());
}
