//! The tables of the specification, row by row.

use autonoe_security::{BashSecurity, Mode, PolicyConfig, PolicyScope, Profile};

use crate::policy::support::{PROJECT, corpus, run, sync, validator};

#[test]
fn specification_cases_have_their_verdicts() {
    let named: Vec<_> = corpus()
        .into_iter()
        .filter(|case| !case.spec.is_empty())
        .collect();
    for case in &named {
        let verdict = case.validator().check(&case.command);

        assert_eq!(
            verdict.is_allowed(),
            case.allowed,
            "{:?}: {}",
            case.spec,
            case.command
        );
    }
    assert!(
        named.len() >= 26,
        "the table has these rows: {}",
        named.len()
    );
}

#[test]
fn base_commands_are_open_in_both_modes() {
    for command in [
        "ls",
        "pwd",
        "cat a",
        "head a",
        "tail a",
        "wc a",
        "find .",
        "grep x a",
        "tree",
        "sort a",
        "diff a b",
        "date",
        "git status",
        "git log",
    ] {
        assert!(run(command).is_allowed(), "run: {command}");
        assert!(sync(command).is_allowed(), "sync: {command}");
    }
}

#[test]
fn nothing_writes_to_the_state_of_autonoe_in_any_mode() {
    for command in [
        "echo x > .autonoe/status.json",
        "cp a .autonoe/b",
        "git checkout .autonoe",
    ] {
        assert!(!run(command).is_allowed(), "run: {command}");
        assert!(!sync(command).is_allowed(), "sync: {command}");
    }
}

// Shows: spec/9.4/commands-each-profile, spec/9.4/profiles
#[test]
fn profiles_allow_the_commands_of_the_table() {
    let opened = |profiles: Option<&[Profile]>, command: &str| {
        let config = PolicyConfig {
            profiles: profiles.map(|profiles| profiles.iter().copied().collect()),
            ..PolicyConfig::default()
        };
        validator(config).check(command).is_allowed()
    };
    let probes = [
        (Profile::Node, "npm install"),
        (Profile::Bun, "bun install"),
        (Profile::Python, "pip install x"),
        (Profile::Ruby, "bundle install"),
        (Profile::Go, "go build"),
        (Profile::Rust, "cargo build"),
        (Profile::Php, "composer install"),
        (Profile::Java, "mvn package"),
        (Profile::C, "cmake -B build"),
    ];
    for (profile, command) in probes {
        assert!(opened(None, command), "not set opens all: {command}");
        for (other, _) in probes {
            assert_eq!(
                opened(Some(&[other]), command),
                other == profile,
                "{other}: {command}"
            );
        }
        assert!(
            opened(Some(&[Profile::Node, profile]), command),
            "{command}"
        );
        assert!(!opened(Some(&[]), command), "none: {command}");
        assert!(opened(Some(&[]), "ls"), "base is always there");
    }
}

// Shows: spec/6.2/pkill
#[test]
fn pkill_needs_more_than_the_name_of_a_general_program() {
    for command in [
        "pkill node",
        "pkill -9 python3",
        "pkill java",
        "pkill -f node",
    ] {
        assert!(!run(command).is_allowed(), "{command}");
        assert!(!sync(command).is_allowed(), "{command}");
    }
    for command in ["pkill vite", "pkill -f 'node server.js'"] {
        assert!(run(command).is_allowed(), "{command}");
        assert!(sync(command).is_allowed(), "{command}");
    }
}

// Shows: spec/9.7/sync-bash-limited
#[test]
fn sync_opens_the_verification_layer_and_run_the_whole_toolchain() {
    let verification = [
        "npm test",
        "bun test",
        "vitest",
        "jest",
        "tsc --noEmit",
        "eslint .",
        "prettier --check .",
        "pytest",
        "tox",
        "mypy src",
        "pyright",
        "ruff check .",
        "flake8",
        "pylint src",
        "rspec",
        "minitest",
        "cucumber",
        "rubocop",
        "standard",
        "go test ./...",
        "go build ./...",
        "golangci-lint run",
        "staticcheck ./...",
        "gofmt -d .",
        "npm run build",
    ];
    for command in verification {
        assert!(run(command).is_allowed(), "run: {command}");
        assert!(sync(command).is_allowed(), "sync: {command}");
    }
    let development = [
        "npm install",
        "node server.js",
        "pip install x",
        "python3 app.py",
        "bundle install",
        "rails server",
        "go mod tidy",
        "go run .",
        "prettier --write .",
        "rubocop -a",
        "mkdir x",
        "cp a b",
        "chmod +x a",
    ];
    for command in development {
        assert!(run(command).is_allowed(), "run: {command}");
        assert!(!sync(command).is_allowed(), "sync: {command}");
    }
}

// Shows: spec/9.7/sync-bash-limited, spec/6.4/sync-writes
#[test]
fn sync_writes_its_note_and_tmp_only() {
    assert!(sync("echo done >> .autonoe-note.md").is_allowed());
    assert!(sync("echo done > /tmp/log").is_allowed());
    assert!(!sync("echo done > notes.md").is_allowed());
    assert!(run("echo done > notes.md").is_allowed());
    assert_eq!(PolicyScope::new(PROJECT).mode, Mode::Run);
}
