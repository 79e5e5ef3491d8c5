//! The literal commands of sections 6.2 to 6.4 of the specification, in run and sync mode: with
//! their profile, with all profiles and with each other profile.

use autonoe_security::{BashSecurity, Mode, PolicyConfig, Profile};

use crate::policy::support::validator_in;

/// The profiles of the specification.
const PROFILES: [Profile; 4] = [Profile::Node, Profile::Python, Profile::Ruby, Profile::Go];

/// A row of a table, or a sentence about commands.
struct Row {
    section: &'static str,
    /// `None` for commands that every profile has.
    profile: Option<Profile>,
    commands: &'static [&'static str],
    run: bool,
    sync: bool,
}

const fn row(
    section: &'static str,
    profile: Option<Profile>,
    commands: &'static [&'static str],
    (run, sync): (bool, bool),
) -> Row {
    Row {
        section,
        profile,
        commands,
        run,
        sync,
    }
}

const BOTH: (bool, bool) = (true, true);
const RUN_ONLY: (bool, bool) = (true, false);
const NEVER: (bool, bool) = (false, false);

const TABLE: &[Row] = &[
    row(
        "6.2 base Bash commands",
        None,
        &[
            "ls", "pwd", "cat", "head", "tail", "wc", "find", "grep", "tree", "sort", "diff",
            "date",
        ],
        BOTH,
    ),
    row(
        "6.2 Git",
        None,
        &["git status", "git log", "git diff"],
        BOTH,
    ),
    row(
        "6.2 .autonoe/ write",
        None,
        &["echo x > .autonoe/status.json", "tee .autonoe/x"],
        NEVER,
    ),
    row(
        "6.3 file write",
        None,
        &["mkdir src", "cp a b", "echo x > notes.md"],
        RUN_ONLY,
    ),
    row(
        "6.3 development layer",
        Some(Profile::Node),
        &["npm install", "node server.js", "npx vite"],
        RUN_ONLY,
    ),
    row(
        "6.3 development layer",
        Some(Profile::Python),
        &["pip install requests", "python3 app.py", "uvicorn app:app"],
        RUN_ONLY,
    ),
    row(
        "6.3 development layer",
        Some(Profile::Ruby),
        &["bundle install", "ruby app.rb", "rails server"],
        RUN_ONLY,
    ),
    row(
        "6.3 development layer",
        Some(Profile::Go),
        &["go mod tidy", "go run ."],
        RUN_ONLY,
    ),
    row(
        "6.4 verification layer",
        Some(Profile::Node),
        &[
            "npm test",
            "bun test",
            "vitest",
            "jest",
            "tsc --noEmit",
            "eslint",
            "prettier --check",
        ],
        BOTH,
    ),
    row(
        "6.4 verification layer",
        Some(Profile::Python),
        &[
            "pytest",
            "tox",
            "mypy",
            "pyright",
            "ruff check",
            "flake8",
            "pylint",
        ],
        BOTH,
    ),
    row(
        "6.4 verification layer",
        Some(Profile::Ruby),
        &["rspec", "minitest", "cucumber", "rubocop", "standard"],
        BOTH,
    ),
    row(
        "6.4 verification layer",
        Some(Profile::Go),
        &[
            "go test",
            "go build",
            "golangci-lint",
            "staticcheck",
            "gofmt -d",
        ],
        BOTH,
    ),
    row(
        "6.4 build commands",
        Some(Profile::Node),
        &["npm run build"],
        BOTH,
    ),
    row("6.4 build commands", Some(Profile::Go), &["go build"], BOTH),
    row(
        "6.4 auto-fix commands",
        Some(Profile::Node),
        &["prettier --write ."],
        RUN_ONLY,
    ),
    row(
        "6.4 auto-fix commands",
        Some(Profile::Ruby),
        &["rubocop -a"],
        RUN_ONLY,
    ),
    row(
        "6.4 file write",
        None,
        &["echo done >> .autonoe-note.md"],
        BOTH,
    ),
];

/// Returns whether `command` is allowed with these profiles; `None` is all of them.
fn is_allowed(command: &str, mode: Mode, profiles: Option<&[Profile]>) -> bool {
    let config = PolicyConfig {
        profiles: profiles.map(|profiles| profiles.iter().copied().collect()),
        ..PolicyConfig::default()
    };
    validator_in(mode, config).check(command).is_allowed()
}

// Shows: spec/6.2/command-lists, interfaces/hooks/bash-security.is-command-allowed-command
#[test]
fn specification_commands_have_their_verdicts() {
    for row in TABLE {
        for command in row.commands {
            for (mode, expected) in [(Mode::Run, row.run), (Mode::Sync, row.sync)] {
                let place = format!("{}: {command} in {mode:?} mode", row.section);
                assert_eq!(is_allowed(command, mode, None), expected, "{place}, all");
                for profile in PROFILES {
                    let is_its_own = row.profile.is_none_or(|own| own == profile);
                    assert_eq!(
                        is_allowed(command, mode, Some(&[profile])),
                        expected && is_its_own,
                        "{place}, {profile}"
                    );
                }
            }
        }
    }
}

/// The rows of "Profile Selection" (6.3).
// Shows: spec/6.2/command-lists
#[test]
fn profiles_are_active_as_the_specification_selects_them() {
    let probes = [
        (Profile::Node, "npm install"),
        (Profile::Python, "pip install requests"),
        (Profile::Ruby, "bundle install"),
        (Profile::Go, "go mod tidy"),
    ];
    for (selected, active) in [
        (None, &PROFILES[..]),
        (Some(&[Profile::Node][..]), &[Profile::Node]),
        (Some(&[Profile::Python]), &[Profile::Python]),
        (
            Some(&[Profile::Node, Profile::Python]),
            &[Profile::Node, Profile::Python],
        ),
    ] {
        for (profile, command) in probes {
            let allowed = is_allowed(command, Mode::Run, selected);
            assert_eq!(
                allowed,
                active.contains(&profile),
                "{selected:?}: {command}"
            );
        }
        assert!(is_allowed("ls", Mode::Run, selected), "{selected:?}: base");
    }
}
