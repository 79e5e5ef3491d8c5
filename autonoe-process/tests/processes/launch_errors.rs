//! Programs that cannot be started.

use std::error::Error;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use autonoe_process::{Launch, LaunchError, SessionFolder};

use crate::fixture::{Fixture, within};

async fn refused(launch: Launch) -> LaunchError {
    within(launch.start())
        .await
        .expect_err("it cannot be started")
}

fn launch(fixture: &Fixture, program: &str) -> Launch {
    Launch::new(
        fixture.path(program),
        fixture.folder(),
        fixture.marker.clone(),
    )
}

fn write(fixture: &Fixture, name: &str, text: &str, mode: u32) {
    let path = fixture.path(name);
    fs::write(&path, text).expect("writable");
    fs::set_permissions(&path, Permissions::from_mode(mode)).expect("ours");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let fixture = Fixture::new();

    let error = refused(launch(&fixture, "nothing")).await;

    assert_eq!(error.code(), "program_not_found");
    assert_eq!(
        error.to_string(),
        format!("there is no program {:?}", fixture.path("nothing"))
    );
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_file_in_the_place_of_a_folder_is_no_program() {
    let fixture = Fixture::new();
    write(&fixture, "file", "", 0o755);

    assert_eq!(
        refused(launch(&fixture, "file/program")).await.code(),
        "program_not_found"
    );
}

#[tokio::test]
async fn a_program_that_cannot_be_executed_is_named_with_the_reason() {
    let fixture = Fixture::new();
    write(&fixture, "plain", "#!/bin/sh\n", 0o644);
    fs::create_dir(fixture.path("folder")).expect("writable");

    for program in ["plain", "folder"] {
        let error = refused(launch(&fixture, program)).await;

        assert_eq!(error.code(), "program_not_executable", "{program}");
        let expected = format!("{:?} cannot be executed", fixture.path(program));
        assert_eq!(error.to_string(), expected);
        let source = error.source().expect("a reason").to_string();
        assert!(source.starts_with("Permission denied"), "{source}");
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_missing_interpreter_is_not_reported_as_a_missing_script() {
    let fixture = Fixture::new();
    write(&fixture, "script", "#!/nowhere/interpreter\n", 0o755);

    assert_eq!(
        refused(launch(&fixture, "script")).await.code(),
        "interpreter_not_found"
    );
}

#[tokio::test]
async fn a_directory_that_cannot_be_worked_in_is_named() {
    let fixture = Fixture::new();
    write(&fixture, "file", "", 0o644);

    for directory in ["nowhere", "file"] {
        let directory = fixture.path(directory);
        let error = refused(Launch::new("/bin/sh", &directory, fixture.marker.clone())).await;

        assert_eq!(error.code(), "bad_directory");
        let expected = format!("{directory:?} is not a directory that a program can start in");
        assert_eq!(error.to_string(), expected);
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_path_that_is_not_absolute_is_refused() {
    let fixture = Fixture::new();

    for program in ["sh", "./sh", "bin/sh"] {
        let error = refused(Launch::new(program, "/", fixture.marker.clone())).await;

        assert_eq!(error.code(), "program_not_absolute");
        assert_eq!(
            error.to_string(),
            format!("{program:?} is not an absolute path")
        );
    }
}

#[tokio::test]
async fn a_variable_that_cannot_be_one_is_refused_without_its_value() {
    let fixture = Fixture::new();

    for (name, value) in [
        ("", "secret"),
        ("A=B", "secret"),
        ("A\0", "secret"),
        ("A", "sec\0ret"),
    ] {
        let error = refused(fixture.bash("true").env(name, value)).await;

        assert_eq!(error.code(), "bad_variable");
        assert!(!error.to_string().contains("sec"), "{error}");
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn arguments_that_the_system_does_not_take_are_its_reason() {
    let fixture = Fixture::new();

    for (argument, reason) in [
        ("x".repeat(1 << 20), "Argument list too long"),
        ("\0".into(), "nul"),
    ] {
        let error = refused(fixture.bash("true").arg(argument)).await;

        assert_eq!(error.code(), "not_started");
        let source = error.source().expect("a reason").to_string();
        assert!(source.contains(reason), "{source}");
    }
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn the_folder_is_removed_when_the_start_fails() {
    let fixture = Fixture::new();
    let folder = SessionFolder::create_in(fixture.folder(), "session-").expect("writable");
    let path = folder.path().to_owned();
    assert!(path.is_dir());

    let error = refused(launch(&fixture, "nothing").folder(folder)).await;

    assert_eq!(error.code(), "program_not_found");
    assert!(!path.exists());
}

#[test]
fn debug_output_contains_no_possible_secrets() {
    let fixture = Fixture::new();
    let launch = fixture
        .bash("echo secret-argument")
        .env("TOKEN", "secret-value");

    let debug_output = format!("{launch:?}");

    assert!(
        debug_output.contains("TOKEN") && !debug_output.contains("secret"),
        "{debug_output}"
    );
}
