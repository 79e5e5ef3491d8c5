//! Files, variables and open files that a child in a sandbox sees.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::sync::Arc;

use autonoe_process::{Exit, Launch, find_program};

use super::{outside, run_to_end};
use crate::fixture::Fixture;

#[tokio::test]
async fn hidden_files_and_folders_are_empty_and_the_rest_is_there() {
    let (fixture, home) = (Fixture::new(), outside());
    let path = |name: &str| home.path().join(name);
    fs::create_dir(path(".ssh")).expect("writable");
    fs::write(path(".ssh/id"), "secret").expect("writable");
    fs::write(path(".netrc"), "secret").expect("writable");
    fs::write(path("notes"), "open\n").expect("writable");
    std::os::unix::fs::symlink(".ssh/id", path("link")).expect("writable");
    let folder = home.path().display();
    let script = format!(
        "exec 2>/dev/null; cd {folder}
         ls -A .ssh; cat .ssh/id .netrc link; cat notes
         (echo x > .ssh/new) && echo written; ls -A /run; exit 0"
    );

    let sandbox = fixture
        .sandbox()
        .hidden(path(".ssh"))
        .hidden(path(".netrc"));
    let sandbox = sandbox.hidden(path(".not-there"));
    let (text, _) = run_to_end(fixture.bash(&script).sandbox(sandbox)).await;

    assert_eq!(text, "open\n");
    assert_eq!(
        fs::read_to_string(path(".ssh/id")).expect("there"),
        "secret"
    );
}

#[tokio::test]
async fn a_hidden_symlink_hides_its_target() {
    let (fixture, home) = (Fixture::new(), outside());
    let path = |name: &str| home.path().join(name);
    fs::create_dir(path("vault")).expect("writable");
    fs::write(path("vault/id"), "secret").expect("writable");
    std::os::unix::fs::symlink(path("vault"), path(".ssh")).expect("writable");
    let folder = home.path().display();
    let script = format!("cat {folder}/vault/id {folder}/.ssh/id 2>/dev/null");

    let sandbox = fixture.sandbox().hidden(path(".ssh"));
    let (text, exit) = run_to_end(fixture.bash(&script).sandbox(sandbox)).await;

    assert_eq!((text.as_str(), exit), ("", Exit::Code(1)));
}

#[tokio::test]
async fn a_project_in_a_hidden_home_is_there_and_its_neighbours_are_not() {
    let (fixture, home) = (Fixture::new(), outside());
    let path = |name: &str| home.path().join(name);
    fs::create_dir_all(path("work/project")).expect("writable");
    fs::write(path("work/other"), "secret").expect("writable");
    let script = format!(
        "cd {}; echo new > project/file; find . | sort; (echo x > work/new) 2>/dev/null; exit 0",
        path("work").display()
    );

    let sandbox = fixture
        .sandbox()
        .hidden(home.path())
        .writable(path("work/project"));
    let (text, _) = run_to_end(fixture.bash(&script).sandbox(sandbox)).await;

    assert_eq!(text, ".\n./project\n./project/file\n");
    let written = fs::read_to_string(path("work/project/file"));
    assert_eq!(written.expect("there"), "new\n");
    assert!(!path("work/new").exists());
}

#[tokio::test]
async fn the_environment_has_the_variables_of_the_launch_the_marker_and_the_directory() {
    let fixture = Fixture::new();
    let path = std::env::var_os("PATH").expect("set");
    let env = find_program("env", &path).expect("it is there");
    let launch = Launch::new(env, fixture.folder(), fixture.marker.clone())
        .arg("--null")
        // It must not reach bubblewrap, which would not start with it.
        .envs([
            ("ONE", "1 = 1"),
            ("LD_PRELOAD", "/there/is/no.so"),
            ("TWO", "line\nend"),
        ]);

    let (text, exit) = run_to_end(launch.sandbox(fixture.sandbox())).await;

    assert_eq!(exit, Exit::Code(0));
    let marker = format!("{}={}", fixture.marker.name(), fixture.marker.value());
    let directory = format!("PWD={}", fixture.folder().display());
    let expected = [
        "ONE=1 = 1",
        "LD_PRELOAD=/there/is/no.so",
        "TWO=line\nend",
        &marker,
        &directory,
    ];
    let found: BTreeSet<_> = text.split_terminator('\0').collect();
    assert_eq!(found, expected.into());
}

#[tokio::test]
async fn open_files_are_three_pipes_and_the_inherited_ones() {
    let fixture = Fixture::new();
    let lock = Arc::new(File::create(fixture.path("lock")).expect("writable"));
    let script =
        "for entry in /proc/self/fd/*; do readlink $entry; done | grep -v ^pipe: | grep -v ^/proc";

    let launch = fixture.bash(script).inherit(lock);
    let (text, _) = run_to_end(launch.sandbox(fixture.sandbox())).await;

    assert_eq!(text, format!("{}\n", fixture.path("lock").display()));
}
