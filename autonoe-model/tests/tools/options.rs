//! Tests of missing sandboxes, workspaces and shells.

use std::fs;

use autonoe_core::agent::Sandbox;
use autonoe_model::built_in_tools;
use autonoe_model::tools::{BuiltInOptions, BuiltInToolsError};
use tempfile::TempDir;

fn project() -> TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a folder")
}

#[test]
fn without_a_sandbox_there_are_no_tools_unless_it_is_switched_off() {
    let project = project();
    let options = BuiltInOptions::new(project.path()).bubblewrap("/opt/nowhere/bwrap");

    let refused = built_in_tools(&options);
    let without = built_in_tools(&options.sandbox(Sandbox::Off));

    let error = refused.expect_err("there is no sandbox");
    assert!(matches!(error, BuiltInToolsError::Sandbox(_)), "{error:?}");
    assert!(
        error.to_string().contains("apt install bubblewrap"),
        "{error}"
    );
    assert_eq!(without.expect("a person said so").len(), 6);
}

#[test]
fn missing_workspace_or_shell_is_an_error() {
    let project = project();
    fs::write(project.path().join("file"), "").expect("writable");

    for workspace in [
        project.path().join("no"),
        project.path().join("file"),
        ".".into(),
    ] {
        let refused = built_in_tools(&BuiltInOptions::new(workspace));
        assert!(
            matches!(refused, Err(BuiltInToolsError::Workspace(_))),
            "{refused:?}"
        );
    }
    let refused = built_in_tools(&BuiltInOptions::new(project.path()).shell("/no/bash"));
    assert!(
        matches!(refused, Err(BuiltInToolsError::Shell { .. })),
        "{refused:?}"
    );
}

#[test]
fn unguardable_paths_are_refused() {
    let project = project();
    fs::create_dir_all(project.path().join("a/b")).expect("writable");
    let options = || BuiltInOptions::new(project.path()).sandbox(Sandbox::Off);

    for options in [
        options().hidden("a/b"),
        options().hidden(project.path().join("a/b")),
        options().hidden(project.path()),
        options().read_only("/etc/passwd"),
        options().read_only("a/b"),
    ] {
        let refused = built_in_tools(&options);
        assert!(
            matches!(refused, Err(BuiltInToolsError::Guarded { .. })),
            "{refused:?}"
        );
    }
    built_in_tools(&options().hidden("a").read_only("new").hidden("/etc/shadow"))
        .expect("it can be guarded");
}
