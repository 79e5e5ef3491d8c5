//! Tests of the file scope in folders with symlinks.

use std::fs::{create_dir_all, write as write_file};
use std::os::unix::fs::symlink;

use super::*;

/// Creates a project, a home directory and an unrelated directory, none of them in `/tmp`.
fn fixture() -> (tempfile::TempDir, ProjectPaths) {
    let dir = tempfile::tempdir_in("/var/tmp").expect("a directory can be made");
    for name in ["project/src", "home/.ssh", "home/code", "else"] {
        create_dir_all(dir.path().join(name)).expect("it can be made");
    }
    write_file(dir.path().join("home/.ssh/id"), "key").expect("it can be written");
    let project_paths =
        ProjectPaths::new(dir.path().join("project")).with_home(dir.path().join("home"));
    (dir, project_paths)
}

#[test]
fn a_write_through_a_symlink_out_of_the_project_is_blocked() {
    let (dir, project_paths) = fixture();
    let link = |to: &str, name: &str| {
        symlink(to, dir.path().join("project").join(name)).expect("it can be made");
    };
    link("../else", "out");
    link("../else/new", "dangling");
    link("src", "in");
    link("loop", "loop");
    link("deep", "in2");
    link("../project/src", "back");

    for (path, pass) in [
        ("in/a", true),
        ("in2/a", true),
        ("back/a", true),
        ("src/a", true),
        ("out/a", false),
        ("out", false),
        ("dangling", false),
        ("loop", false),
        ("loop/a", false),
        ("out/../a", false),
    ] {
        assert_eq!(passes(write(&[path]), &project_paths), pass, "{path}");
    }
}

#[test]
fn a_shell_command_in_a_symlink_out_of_the_project_is_blocked() {
    let (dir, project_paths) = fixture();
    for (to, name) in [("../else", "out"), ("src", "in"), (".autonoe", "state")] {
        symlink(to, dir.path().join("project").join(name)).expect("it can be made");
    }

    for (directory, pass) in [("in", true), ("out", false), ("state", false), ("", true)] {
        let call = ToolCall::new("Bash", json!({"command": "ls"})).in_dir(directory);

        let verdict = FileScope::new(project_paths.clone()).evaluate(&call, &Resolver::default());

        assert_eq!(verdict.is_ok(), pass, "{directory}: {verdict:?}");
    }
}

#[test]
fn a_project_that_is_a_symlink_works_under_both_names() {
    let (dir, mut project_paths) = fixture();
    symlink("project", dir.path().join("alias")).expect("it can be made");
    let real = project_paths.project.canonicalize().expect("it exists");
    project_paths.project = dir.path().join("alias");

    assert!(passes(write(&["a"]), &project_paths));
    assert!(passes(
        write(&[&real.join("a").to_string_lossy()]),
        &project_paths
    ));
    assert!(!passes(write(&["."]), &project_paths));
    assert!(!passes(write(&[&real.to_string_lossy()]), &project_paths));
    assert!(!passes(write(&["../a"]), &project_paths));
}

#[test]
fn a_path_through_the_project_link_is_inside_while_the_link_points_to_the_project() {
    let (dir, mut project_paths) = fixture();
    let link = dir.path().join("link");
    project_paths.project_link = Some(link.clone());
    symlink("project", &link).expect("it can be made");
    symlink("../else", project_paths.project.join("out")).expect("it can be made");

    let passes = |path: &str| passes(write(&[&link.join(path).to_string_lossy()]), &project_paths);
    for (path, pass) in [
        ("a", true),
        ("src/new/a.rs", true),
        ("src/../a", true),
        (".git/config", false),
        ("out/a", false),
        ("..", false),
        ("../a", false),
        ("../else/a", false),
        ("..\\a", false),
        ("", false),
    ] {
        assert_eq!(passes(path), pass, "{path}");
    }
    std::fs::remove_file(&link).expect("it can be removed");
    symlink("else", &link).expect("it can be made");
    assert!(!passes("a"), "the link leads elsewhere");
}

#[test]
fn a_read_through_a_symlink_to_credentials_is_blocked() {
    let (dir, project_paths) = fixture();
    symlink("../home/.ssh", dir.path().join("project/keys")).expect("it can be made");
    symlink("../home", dir.path().join("project/home")).expect("it can be made");

    assert!(!passes(read(&["keys/id"]), &project_paths));
    assert!(!passes(read(&["home"]), &project_paths));
    assert!(!passes(read(&["home/.ssh/id"]), &project_paths));
    assert!(passes(read(&["home/code/a"]), &project_paths));
}

#[test]
fn credentials_behind_a_symlink_are_protected_at_their_real_path() {
    let (dir, project_paths) = fixture();
    symlink("../else", dir.path().join("home/.aws")).expect("it can be made");

    assert!(!passes(read(&["../else/credentials"]), &project_paths));
}

#[test]
fn a_project_that_lives_beside_or_above_credentials_still_works() {
    let (dir, mut project_paths) = fixture();
    project_paths.project = dir.path().join("home/code");
    assert!(passes(read(&["."]), &project_paths));
    assert!(passes(write(&["a"]), &project_paths));

    project_paths.project = dir.path().join("home");
    assert!(passes(read(&["code"]), &project_paths));
    assert!(passes(write(&["a"]), &project_paths));
    assert!(!passes(read(&["."]), &project_paths));
    assert!(!passes(write(&[".ssh/authorized_keys"]), &project_paths));

    std::fs::remove_dir_all(dir.path().join("home/.ssh")).expect("it can be removed");
    assert!(passes(read(&["."]), &project_paths));
    create_dir_all(dir.path().join("home/.kube")).expect("it can be made");
    assert!(!passes(read(&["."]), &project_paths));
}

#[test]
fn a_write_through_a_symlink_to_the_session_parent_is_blocked() {
    let (dir, project_paths) = fixture();
    // The directory of this user may be in use, so the link points to a name that no user has.
    let parent = "/tmp/autonoe-4294967295999";
    symlink(parent, dir.path().join("project/parent")).expect("it can be made");
    let links = tempfile::tempdir_in("/tmp").expect("a directory can be made");
    let link = links.path().join("session");
    symlink(format!("{parent}/.autonoe/s"), &link).expect("it can be made");

    for path in ["parent/x", "parent/.autonoe/s/bash-setup.sh"] {
        assert!(!passes(write(&[path]), &project_paths), "{path}");
    }
    let path = link.join("bash-setup.sh");
    let path = path.to_str().expect("text");
    assert!(!passes(write(&[path]), &project_paths), "{path}");
}
