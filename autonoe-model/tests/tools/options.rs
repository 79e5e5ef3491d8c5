//! Tests of missing sandboxes, workspaces and shells.

use std::fs;
use std::path::Path;

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
    let mut options = BuiltInOptions {
        bubblewrap: "/opt/nowhere/bwrap".into(),
        ..BuiltInOptions::new(project.path())
    };

    let refused = built_in_tools(&options);
    options.sandbox = Sandbox::Off;
    let without = built_in_tools(&options);

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
    let refused = built_in_tools(&BuiltInOptions {
        shell: "/no/bash".into(),
        ..BuiltInOptions::new(project.path())
    });
    assert!(
        matches!(refused, Err(BuiltInToolsError::Shell { .. })),
        "{refused:?}"
    );
}

#[test]
fn unguardable_paths_are_refused() {
    let project = project();
    fs::create_dir_all(project.path().join("a/b")).expect("writable");
    let guarded = |hidden: &[&Path], read_only: &[&str]| {
        built_in_tools(&BuiltInOptions {
            sandbox: Sandbox::Off,
            hidden: hidden.iter().map(Into::into).collect(),
            read_only: read_only.iter().map(Into::into).collect(),
            ..BuiltInOptions::new(project.path())
        })
    };

    for refused in [
        guarded(&["a/b".as_ref()], &[]),
        guarded(&[&project.path().join("a/b")], &[]),
        guarded(&[project.path()], &[]),
        guarded(&[], &["/etc/passwd"]),
        guarded(&[], &["a/b"]),
    ] {
        assert!(
            matches!(refused, Err(BuiltInToolsError::Guarded { .. })),
            "{refused:?}"
        );
    }
    guarded(&["a".as_ref(), "/etc/shadow".as_ref()], &["new"]).expect("it can be guarded");
}
