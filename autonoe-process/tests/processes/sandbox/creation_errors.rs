//! Sandboxes that cannot be created: nothing is started without them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use autonoe_process::{Launch, LaunchError, Obstacle, OsSandbox, SandboxError};

use crate::fixture::Fixture;

/// Writes a fake bubblewrap.
fn fake_bubblewrap(fixture: &Fixture, script: &str) -> PathBuf {
    let path = fixture.path("bwrap");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("writable");
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("ours");
    path
}

#[test]
fn sandbox_can_be_created_on_this_machine() {
    let fixture = Fixture::new();

    fixture.sandbox().check().expect("these tests need it");
}

#[tokio::test]
async fn without_bubblewrap_nothing_is_started() {
    let fixture = Fixture::new();
    let nowhere = fixture.path("nowhere/bwrap");
    let sandbox = OsSandbox::new(&nowhere).writable(fixture.folder());

    let missing = sandbox.check().expect_err("it is not there");
    let refused = fixture.bash("echo x > ran").sandbox(sandbox).start().await;

    assert_eq!(missing.code(), "sandbox_missing");
    assert!(missing.remedy().contains("bubblewrap"));
    assert_eq!(refused.expect_err("refused").code(), "sandbox_missing");
    assert!(!fixture.path("ran").exists());
}

#[test]
fn errors_of_bubblewrap_are_explained() {
    let fixture = Fixture::new();
    for (script, obstacle) in [
        (
            "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1",
            Obstacle::NamespacesForbidden,
        ),
        (
            "echo \"bwrap: Can't mount proc on /newroot/proc: Operation not permitted\" >&2; exit 1",
            Obstacle::Container,
        ),
        ("exit 9", Obstacle::Other),
    ] {
        let sandbox = OsSandbox::new(fake_bubblewrap(&fixture, script));

        let error = sandbox.check().expect_err("it has failed");

        assert!(
            matches!(&error, SandboxError::Refused { obstacle: found, output } if *found == obstacle && !output.is_empty()),
            "{error:?}"
        );
        assert!(!error.remedy().is_empty());
    }
}

#[tokio::test]
async fn a_sandbox_with_conflicting_paths_is_refused_before_anything_starts() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("deep/er")).expect("writable");
    for (sandbox, code) in [
        (fixture.sandbox().writable("/"), "sandbox_path_reserved"),
        (
            fixture.sandbox().writable("/proc/self"),
            "sandbox_path_reserved",
        ),
        (
            fixture.sandbox().writable("relative"),
            "sandbox_path_not_absolute",
        ),
        (
            fixture.sandbox().hidden("relative"),
            "sandbox_path_not_absolute",
        ),
        (
            fixture.sandbox().writable(fixture.path("no")),
            "sandbox_path_not_there",
        ),
        (
            fixture.sandbox().hidden(fixture.folder()),
            "sandbox_path_contradiction",
        ),
        (
            fixture.sandbox().hidden(fixture.path("deep/er")),
            "sandbox_path_movable",
        ),
        (OsSandbox::new("bwrap"), "sandbox_path_not_absolute"),
    ] {
        let refused = fixture.bash("echo x > ran").sandbox(sandbox).start().await;

        assert_eq!(refused.expect_err("refused").code(), code);
        assert!(!fixture.path("ran").exists());
    }
}

#[tokio::test]
async fn a_missing_program_is_reported_as_without_a_sandbox() {
    let fixture = Fixture::new();
    let plain = fixture.path("plain");
    fs::write(&plain, "").expect("writable");
    let launch = |program: PathBuf, directory: PathBuf| {
        let launch = Launch::new(program, directory, fixture.marker.clone());
        launch.sandbox(fixture.sandbox()).start()
    };

    let missing = launch(fixture.path("no"), fixture.path(".")).await;
    let no_program = launch(plain, fixture.path(".")).await;
    let no_directory = launch("/bin/sh".into(), fixture.path("no")).await;

    assert!(matches!(missing, Err(LaunchError::NotFound { .. })));
    assert!(matches!(no_program, Err(LaunchError::NotExecutable { .. })));
    assert!(matches!(no_directory, Err(LaunchError::Directory { .. })));
}
