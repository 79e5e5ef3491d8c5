//! Tests of the guard of `.autonoe` in folders with symlinks.

use std::os::unix::fs::symlink;

use super::*;

fn fixture() -> (tempfile::TempDir, AutonoeGuard, PathBuf) {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let project = dir.path().join("project");
    std::fs::create_dir_all(project.join("src")).expect("it can be made");
    let guard = AutonoeGuard::new(ProjectPaths::new(&project));
    (dir, guard, project)
}

#[test]
fn a_symlink_to_the_directory_is_the_directory() {
    let (_dir, guard, project) = fixture();
    std::fs::create_dir(project.join(".autonoe")).expect("it can be made");
    symlink(".autonoe", project.join("state")).expect("it can be made");
    symlink("../.autonoe/status.json", project.join("src/s")).expect("it can be made");
    symlink("loop", project.join("loop")).expect("it can be made");

    for (path, pass) in [
        ("state/status.json", false),
        ("src/s", false),
        ("loop", false),
        ("src/a", true),
    ] {
        let verdict = guard.evaluate(&write(&[path]).in_dir(&project), &Resolver::default());

        assert_eq!(verdict.is_ok(), pass, "{path}: {verdict:?}");
    }
    let call = ToolCall::new("Bash", json!({"command": "rm status.json"}));
    assert!(
        guard
            .evaluate(&call.in_dir(project.join("state")), &Resolver::default())
            .is_err()
    );
}

#[test]
fn the_target_of_a_symlinked_directory_is_guarded() {
    let (_dir, guard, project) = fixture();
    std::fs::create_dir(project.join("state")).expect("it can be made");
    symlink("state", project.join(".autonoe")).expect("it can be made");

    assert!(
        guard
            .evaluate(
                &write(&["state/status.json"]).in_dir(&project),
                &Resolver::default()
            )
            .is_err()
    );
}

#[test]
fn a_note_that_is_a_symlink_is_not_written_in_a_sync_run() {
    let (_dir, guard, project) = fixture();
    let call = write(&[".autonoe-note.md"])
        .in_dir(&project)
        .in_mode(Mode::Sync);
    assert_eq!(guard.evaluate(&call, &Resolver::default()), Ok(()));

    symlink("src/main.rs", project.join(".autonoe-note.md")).expect("it can be made");

    assert!(guard.evaluate(&call, &Resolver::default()).is_err());
}

#[test]
fn a_project_that_is_a_symlink_has_its_note_under_both_names() {
    let (dir, _guard, project) = fixture();
    symlink("project", dir.path().join("alias")).expect("it can be made");
    let alias = dir.path().join("alias");
    let guard = AutonoeGuard::new(ProjectPaths::new(&alias));

    for dir in [alias, project.canonicalize().expect("it exists")] {
        let call = write(&[".autonoe-note.md"]).in_dir(dir).in_mode(Mode::Sync);

        assert_eq!(guard.evaluate(&call, &Resolver::default()), Ok(()));
    }
}
