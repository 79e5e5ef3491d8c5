//! Errors of operators.

use std::fs;
use std::process::{Command, Output};

use crate::cluster::PROGRAM;

fn program(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("broken.json"), "{\"server\": ").expect("writable");
    Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("it can be started")
}

/// Runs the program, and returns its exit code and standard error.
fn run_program(arguments: &[&str]) -> (Option<i32>, String) {
    let output = program(arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text)
}

#[test]
fn usage_errors_name_the_mistake_and_the_remedy() {
    let table: [(&[&str], i32, &str); 6] = [
        (
            &["worker"],
            2,
            "the project root is missing: set it with --project-root FOLDER",
        ),
        (
            &["worker", "--slots", "0", "--project-root", "."],
            2,
            "0 is not in 1..=65535",
        ),
        (
            &["worker", "--config", "broken.json"],
            2,
            "broken.json:1:11: ",
        ),
        (
            &["worker", "--config", "no.json"],
            1,
            "no.json cannot be read",
        ),
        (
            &["worker", "--project-root", ".", "--nonsense"],
            2,
            "--nonsense",
        ),
        (
            &["worker", "--project-root", ".", "--remote-root", "ext::sh"],
            2,
            "ext::sh",
        ),
    ];

    for (arguments, code, text) in table {
        let (ended, complaint) = run_program(arguments);

        assert_eq!(ended, Some(code), "{arguments:?}: {complaint}");
        assert!(complaint.contains(text), "{arguments:?}: {complaint}");
    }
}

#[test]
fn a_backend_that_cannot_run_a_session_is_an_error_at_once() {
    let backend = "--backend=scripted:nowhere.json";

    let (ended, complaint) = run_program(&["worker", "--project-root", ".", backend]);

    assert_eq!(ended, Some(2), "{complaint}");
    for part in ["sessions cannot run here", "nowhere.json"] {
        assert!(complaint.contains(part), "{complaint}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let address = ["--address", "http://127.0.0.1:1"];
    let worker: &[&str] = &["worker", "--project-root", "."];
    for command in [
        worker,
        &["submit", "shop"],
        &["submit", "shop", "--wait"],
        &["status", "shop-1"],
        &["logs", "shop-1", "--follow"],
        &["list"],
    ] {
        let output = program(&[command, &address[..]].concat());

        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{complaint}");
        let expected = "no Temporal server at http://127.0.0.1:1";
        assert!(complaint.contains(expected), "{complaint}");
        assert!(output.stdout.is_empty());
    }
}
