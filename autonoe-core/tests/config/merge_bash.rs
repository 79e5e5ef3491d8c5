//! Profiles and commands (tables 5.4, 6.3 and 9.4), row by row.

use std::collections::BTreeSet;

use autonoe_core::Mode;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::gate::policy::{BashSecurity, BashValidator, Policy, PolicyError, Profile};
use autonoe_core::project::EffectiveConfig;

use crate::config::support::{bare, merged};

fn profiles(text: &str) -> Vec<Profile> {
    let config = merged(text, Mode::Run);
    config.bash().profiles.iter().flatten().copied().collect()
}

// Shows: spec/5.4/profile-allow-commands-list-tiered, spec/9.4/selection-profiles
// Shows: spec/9.4/profiles
#[test]
fn profile_field_selects_profiles() {
    for (text, expected) in [
        ("{}", Profile::ALL.to_vec()),
        (r#"{"profile": "node"}"#, vec![Profile::Node]),
        (r#"{"profile": "python"}"#, vec![Profile::Python]),
        (r#"{"profile": "ruby"}"#, vec![Profile::Ruby]),
        (r#"{"profile": "go"}"#, vec![Profile::Go]),
        (r#"{"profile": "bun"}"#, vec![Profile::Bun]),
        (r#"{"profile": "rust"}"#, vec![Profile::Rust]),
        (r#"{"profile": "php"}"#, vec![Profile::Php]),
        (
            r#"{"profile": ["node", "python"]}"#,
            vec![Profile::Node, Profile::Python],
        ),
        (
            r#"{"profile": ["python", "node", "node"]}"#,
            vec![Profile::Node, Profile::Python],
        ),
        (r#"{"profile": []}"#, vec![]),
    ] {
        assert_eq!(profiles(text), expected, "{text}");
    }
}

#[test]
fn without_a_file_all_profiles_are_active() {
    for mode in [Mode::Run, Mode::Sync] {
        assert_eq!(bare(mode).bash().profiles, Some(Profile::ALL.into()));
    }
}

#[test]
fn a_profile_is_selected_for_both_modes() {
    for mode in [Mode::Run, Mode::Sync] {
        let config = merged(r#"{"profile": "node"}"#, mode);

        assert_eq!(config.bash().profiles, Some([Profile::Node].into()));
    }
}

fn policy_of(config: &EffectiveConfig) -> Result<Policy, PolicyError> {
    let scope = ProjectPaths::new("/srv/project").policy_scope(config.mode());
    Policy::new(scope, config.bash().clone())
}

fn allows(text: &str, mode: Mode, command: &str) -> bool {
    let config = merged(text, mode);
    let policy = policy_of(&config);
    BashValidator::new(policy.expect("an absolute path"))
        .check(command)
        .is_allowed()
}

// Shows: spec/5.4/modes-layers, spec/6.3/profile-commands
#[test]
fn run_has_the_development_layer_and_sync_the_verification_layer() {
    for command in ["npm test", "go build ./...", "ruff check ."] {
        assert!(allows("{}", Mode::Run, command), "run: {command}");
        assert!(allows("{}", Mode::Sync, command), "sync: {command}");
    }
    for command in ["npm install", "go run .", "ruff check --fix ."] {
        assert!(allows("{}", Mode::Run, command), "run: {command}");
        assert!(!allows("{}", Mode::Sync, command), "sync: {command}");
    }
}

// Shows: spec/5.4/modes-layers
#[test]
fn a_project_gets_exactly_the_policy_of_its_file() {
    let node = r#"{"profile": "node", "allowCommands": {"base": ["jo"], "sync": ["trivy"]}}"#;
    for (mode, command, expected) in [
        (Mode::Run, "npm install", true),
        (Mode::Run, "cargo build", false),
        (Mode::Run, "jo a=1", true),
        (Mode::Sync, "jo a=1", true),
        (Mode::Run, "trivy fs .", false),
        (Mode::Sync, "trivy fs .", true),
        (Mode::Run, "rm -rf dist", false),
    ] {
        assert_eq!(allows(node, mode, command), expected, "{mode}: {command}");
    }
    // A plain list is for run mode, and the denial says so.
    let config = merged(r#"{"allowCommands": ["docker"]}"#, Mode::Sync);
    let policy = policy_of(&config);
    let verdict = BashValidator::new(policy.expect("an absolute path")).check("docker ps");
    assert_eq!(
        verdict.denial().map(|denial| denial.rule.as_ref()),
        Some("R70")
    );
    let pkill = r#"{"profile": "go", "allowPkillTargets": ["air"]}"#;
    assert!(allows(pkill, Mode::Run, "pkill air"));
    assert!(!allows(pkill, Mode::Run, "pkill node"));
}

// Shows: spec/5.4/profile-allow-commands-list-tiered
#[test]
fn allowed_commands_apply_to_their_modes() {
    let list = r#"{"allowCommands": ["docker"]}"#;
    let tiers = r#"{"allowCommands": {"base": ["jq"], "run": ["docker"], "sync": ["trivy"]}}"#;
    let base = r#"{"allowCommands": {"base": ["jq"]}}"#;
    for (text, mode, expected) in [
        ("{}", Mode::Run, vec![]),
        (list, Mode::Run, vec!["docker"]),
        (list, Mode::Sync, vec![]),
        (tiers, Mode::Run, vec!["docker", "jq"]),
        (tiers, Mode::Sync, vec!["jq", "trivy"]),
        (base, Mode::Run, vec!["jq"]),
        (base, Mode::Sync, vec!["jq"]),
    ] {
        let config = merged(text, mode);

        let expected: BTreeSet<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(
            config.bash().allow_commands.in_mode(mode),
            expected,
            "{text} {mode}"
        );
    }
}

// Shows: spec/5.4/profile-allow-commands-list-tiered
#[test]
fn pkill_targets_are_added_in_both_modes() {
    for mode in [Mode::Run, Mode::Sync] {
        let config = merged(r#"{"allowPkillTargets": ["custom-server"]}"#, mode);

        assert_eq!(
            config.bash().allow_pkill_targets,
            BTreeSet::from(["custom-server".to_owned()])
        );
    }
}
