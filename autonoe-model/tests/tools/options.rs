//! Tests of missing sandboxes, workspaces and shells.

use std::fs;
use std::path::Path;

use autonoe_core::agent::Sandbox;
use autonoe_model::tools::BuiltInToolsError;
use autonoe_model::{BuiltInOptions, built_in_tools};
use tempfile::TempDir;

fn project() -> TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a folder")
}

#[test]
fn without_a_sandbox_there_are_no_tools_unless_it_is_switched_off() {
    let project = project();
    let mut options = BuiltInOptions {
        bubblewrap: "/opt/nowhere/bwrap".into(),
        ..BuiltInOptions::default()
    };

    let refused = built_in_tools(project.path(), &options);
    options.sandbox = Sandbox::Off;
    let without = built_in_tools(project.path(), &options);

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
        let refused = built_in_tools(&workspace, &BuiltInOptions::default());
        assert!(
            matches!(refused, Err(BuiltInToolsError::Workspace(_))),
            "{refused:?}"
        );
    }
    let without_bash = BuiltInOptions {
        shell: "/no/bash".into(),
        ..BuiltInOptions::default()
    };
    let refused = built_in_tools(project.path(), &without_bash);
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
        let options = BuiltInOptions {
            sandbox: Sandbox::Off,
            hidden: hidden.iter().map(Into::into).collect(),
            read_only: read_only.iter().map(Into::into).collect(),
            ..BuiltInOptions::default()
        };
        built_in_tools(project.path(), &options)
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
