//! Programs that start with other settings than requested.

use std::path::Path;

use autonoe_core::agent::Sandbox;
use autonoe_testkit::fake_claude::Build;

use crate::fake_claude::fixture::{Fixture, Played, SetStatus, on_both_builds, recorded};

/// Plays a session whose agent requests to run a command. In the command line of the program,
/// `replacement` replaces the argument `replaced`.
async fn played(build: Build, sandbox: Sandbox, replaced: &str, replacement: &str) -> Played {
    let fixture = Fixture::new(&recorded(build, "b01_hook_allow"));
    let mut options = fixture.options();
    let program = std::mem::replace(
        &mut options.program.path,
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_claude/other_settings.sh"),
    );
    options.program.environment.extend([
        ("FAKE_CLAUDE".into(), program.into()),
        ("REPLACED".into(), replaced.into()),
        ("REPLACEMENT".into(), replacement.into()),
    ]);
    let mut spec = fixture.spec([SetStatus::tool()]);
    spec.sandbox = sandbox;
    fixture.played_with(options, spec).await
}

async fn a_session_with_other_settings_is_not_used(build: Build) {
    for (replaced, replacement, blamed) in [
        // Build 2.1.197 drops all settings when one of their fields is wrong.
        ("--settings=", "", "the settings of the sandbox"),
        (
            "--permission-mode=",
            "--permission-mode=bypassPermissions",
            "\"bypassPermissions\" mode",
        ),
        (
            "--tools=",
            "--tools=Bash,Edit,Glob,Grep,Read,Write,WebFetch",
            "\"WebFetch\"",
        ),
        (
            "--tools=",
            "--tools=Bash,Edit,Glob,Read,Write",
            "it has no tool \"Grep\"",
        ),
    ] {
        let played = played(build, Sandbox::Required, replaced, replacement).await;

        let parts = ["did not start as requested", blamed];
        played.assert_failed("configuration", &parts);
        assert_eq!(played.events, []);
    }
}

async fn settings_without_a_sandbox_must_be_in_force_too(build: Build) {
    // Without settings, the program would run commands outside the sandbox.
    let played = played(build, Sandbox::Off, "--settings=", "").await;

    played.assert_failed("configuration", &["the settings of the sandbox"]);
}

on_both_builds![
    a_session_with_other_settings_is_not_used,
    settings_without_a_sandbox_must_be_in_force_too,
];
