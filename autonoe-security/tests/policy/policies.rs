//! Policies as data.

use autonoe_security::{
    AllowCommands, BashSecurity, BashValidator, Examples, Mode, Policy, PolicyConfig, PolicyError,
    PolicyScope, TieredCommands,
};

use crate::policy::support::{PROJECT, validator, validator_in};

#[test]
fn a_policy_prints_what_is_open() {
    let config = PolicyConfig {
        profiles: Some([autonoe_security::Profile::Rust].into()),
        allow_commands: AllowCommands::List(["just".to_owned()].into()),
        ..PolicyConfig::default()
    };
    let policy = Policy::new("/srv/project/", config).expect("a good policy");

    assert_eq!(
        policy.to_string(),
        "project: /srv/project\nmode: run\nprofiles: rust\nadded commands: just\npkill: cargo\n\
         rm and mv: no"
    );
}

#[test]
fn policies_of_equal_runs_and_configurations_are_equal() {
    let make = |mode| {
        let scope = PolicyScope {
            mode,
            ..PolicyScope::new(PROJECT)
        };
        Policy::new(scope, PolicyConfig::default()).expect("a good policy")
    };

    assert_eq!(make(Mode::Run), make(Mode::Run));
    assert_ne!(make(Mode::Run), make(Mode::Sync));
}

#[test]
fn tiers_open_commands_in_their_modes() {
    let tiers = TieredCommands {
        base: ["jo".to_owned()].into(),
        run: ["docker".to_owned()].into(),
        sync: ["trivy".to_owned()].into(),
    };
    let allowed = |mode, command: &str| {
        let config = PolicyConfig {
            allow_commands: AllowCommands::Tiered(tiers.clone()),
            ..PolicyConfig::default()
        };
        validator_in(mode, config).check(command).is_allowed()
    };

    assert!(allowed(Mode::Run, "jo a=1") && allowed(Mode::Sync, "jo a=1"));
    assert!(allowed(Mode::Run, "docker ps") && !allowed(Mode::Sync, "docker ps"));
    assert!(!allowed(Mode::Run, "trivy .") && allowed(Mode::Sync, "trivy ."));
}

#[test]
fn examples_are_checked_when_the_policy_is_made() {
    let with = |allow: &[&str], deny: &[&str]| {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let config = PolicyConfig {
            examples: Examples {
                allow: texts(allow),
                deny: texts(deny),
            },
            ..PolicyConfig::default()
        };
        Policy::new(PROJECT, config)
    };

    assert!(with(&["npm test"], &["curl x"]).is_ok());
    assert!(matches!(
        with(&["curl x"], &[]),
        Err(PolicyError::ExampleDenied { .. })
    ));
    let error = with(&[], &["npm test"]).expect_err("it is allowed");
    assert_eq!(error, PolicyError::ExampleAllowed("npm test".to_owned()));
    assert_eq!(
        error.to_string(),
        "the example \"npm test\" should be denied but is allowed"
    );
}

#[test]
fn invalid_policy_is_an_error() {
    let relative = Policy::new("project", PolicyConfig::default());
    assert!(matches!(relative, Err(PolicyError::RelativeProject(_))));
    for name in ["", "docker ps", "a\nb"] {
        let config = PolicyConfig {
            allow_commands: AllowCommands::List([name.to_owned()].into()),
            ..PolicyConfig::default()
        };
        assert_eq!(
            Policy::new(PROJECT, config),
            Err(PolicyError::NotAWord(name.to_owned()))
        );
    }
}

#[test]
fn a_validator_is_shared_between_threads_and_cheap_to_clone() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let validator: BashValidator = validator(PolicyConfig::default());

    is_shared(&validator);
    let other = validator.clone();
    let there = std::thread::spawn(move || other.check("ls").is_allowed());

    assert!(there.join().expect("no panic") && validator.check("ls").is_allowed());
}

#[cfg(feature = "serde")]
#[test]
fn policy_file_is_parsed() {
    let text = r#"{
        "profiles": ["rust"],
        "allowCommands": {"base": ["just"]},
        "destructive": "allowed",
        "examples": {"allow": ["just test", "rm -rf target"], "deny": ["npm test"]}
    }"#;

    let config: PolicyConfig = serde_json::from_str(text).expect("it parses");

    assert!(Policy::new("/srv/shop", config).is_ok());
    for unknown in [
        r#"{"profile": []}"#,
        r#"{"mode": "run"}"#,
        r#"{"projectDir": "/a"}"#,
    ] {
        let read = serde_json::from_str::<PolicyConfig>(unknown);
        assert!(read.is_err(), "{unknown} has an unknown field");
    }
}
