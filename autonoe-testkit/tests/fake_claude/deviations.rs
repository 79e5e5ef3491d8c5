//! Programs that start with other settings than requested.

use autonoe_core::agent::Sandbox;
use autonoe_testkit::fake_claude::{Build, Deviation, FakeScript, ProgramFault};

use crate::fake_claude::fixture::{Fixture, SetStatus, on_both_builds, recorded};

/// A session whose agent requests to run a command.
fn script(build: Build, deviation: Deviation) -> FakeScript {
    recorded(build, "b01_hook_allow").with_fault(ProgramFault::Deviates(deviation))
}

async fn a_session_with_other_settings_is_not_used(build: Build) {
    for (deviation, blamed) in [
        (Deviation::NoSettings, "the settings of the sandbox"),
        (
            Deviation::PermissionMode("bypassPermissions".into()),
            "\"bypassPermissions\" mode",
        ),
        (Deviation::ExtraTool("WebFetch".into()), "\"WebFetch\""),
        (
            Deviation::MissingTool("Grep".into()),
            "it has no tool \"Grep\"",
        ),
        (
            Deviation::MissingTool("mcp__autonoe__set_status".into()),
            "it has no tool \"mcp__autonoe__set_status\"",
        ),
        (
            Deviation::Servers("failed".into()),
            "the MCP server of Autonoe's tools is failed",
        ),
        (
            Deviation::NoServers,
            "the MCP server of Autonoe's tools is not there",
        ),
    ] {
        let setting = Fixture::new(&script(build, deviation));
        let mut spec = setting.spec([SetStatus::tool()]);
        spec.sandbox = Sandbox::Required;

        let played = setting.played_with(setting.options(), spec).await;

        let parts = ["did not start as requested", blamed];
        played.assert_failed("configuration", &parts);
        assert_eq!(played.events, []);
    }
}

async fn a_sandbox_that_was_switched_off_is_not_a_sandbox_that_is_not_there(build: Build) {
    // Without settings, the program would run commands outside the sandbox.
    let setting = Fixture::new(&script(build, Deviation::NoSettings));
    let spec = setting.spec([]);
    assert_eq!(spec.sandbox, Sandbox::Off);

    let played = setting.played_with(setting.options(), spec).await;

    played.assert_failed("configuration", &["the settings of the sandbox"]);
}

on_both_builds![
    a_session_with_other_settings_is_not_used,
    a_sandbox_that_was_switched_off_is_not_a_sandbox_that_is_not_there,
];
