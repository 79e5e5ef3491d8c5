//! What a person gets wrong.

use std::fs;
use std::process::{Command, Output};

use crate::cluster::{WORKER, autonoe};

fn worker(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("broken.json"), "{\"server\": ").expect("writable");
    fs::write(folder.path().join("autonoe"), "").expect("writable");
    Command::new(WORKER)
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("it can be started")
}

/// Says what the program came to: its exit code and what it complained of.
fn said(arguments: &[&str]) -> (Option<i32>, String) {
    let output = worker(arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), text)
}

#[test]
fn each_mistake_is_named_with_what_to_do() {
    let table: [(&[&str], i32, &str); 6] = [
        (&[], 2, "say where the projects are: --project-root FOLDER"),
        (
            &["--slots", "0", "--project-root", "."],
            2,
            "0 is not in 1..=65535",
        ),
        (
            &["--config", "broken.json"],
            2,
            "broken.json is no settings file",
        ),
        (&["--config", "no.json"], 1, "no.json cannot be read"),
        (
            &["--project-root", ".", "--autonoe", "nobody"],
            1,
            "install it with `cargo install --path autonoe-cli`",
        ),
        (
            &[
                "--project-root",
                ".",
                "--autonoe",
                "autonoe",
                "--remote-root",
                "ext::sh",
            ],
            2,
            "ext::sh",
        ),
    ];

    for (arguments, code, text) in table {
        let (ended, complaint) = said(arguments);

        assert_eq!(ended, Some(code), "{arguments:?}: {complaint}");
        assert!(complaint.contains(text), "{arguments:?}: {complaint}");
    }
}

#[test]
fn arguments_with_which_no_session_can_be_carried_out_are_an_error_at_once() {
    let autonoe = autonoe();
    let autonoe = autonoe.to_str().expect("text");
    let start = ["--project-root", ".", "--autonoe", autonoe, "--"];

    for mistake in ["--nonsense", "--backend=scripted:nowhere.json"] {
        let (ended, complaint) = said(&[&start[..], &[mistake]].concat());

        assert_eq!(ended, Some(2), "{complaint}");
        let expected = "sessions cannot be carried out here";
        assert!(complaint.contains(expected), "{complaint}");
        let name = mistake.rsplit(['-', ':']).next().expect("a word");
        assert!(complaint.contains(name), "{complaint}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let arguments = [
        "--project-root",
        ".",
        "--autonoe",
        "autonoe",
        "--address",
        "http://127.0.0.1:1",
    ];

    let (ended, complaint) = said(&arguments);

    assert_eq!(ended, Some(1), "{complaint}");
    assert!(
        complaint.contains("no Temporal server at http://127.0.0.1:1"),
        "{complaint}"
    );
}

#[test]
fn a_person_is_told_that_the_server_is_not_there() {
    let asked = Command::new(autonoe())
        .args(["submit", "shop", "--address", "http://127.0.0.1:1"])
        .args(["--engine-program", WORKER])
        .output()
        .expect("it can be started");

    let complaint = String::from_utf8_lossy(&asked.stderr);
    assert_eq!(asked.status.code(), Some(1), "{complaint}");
    assert!(
        complaint.contains("no Temporal server at http://127.0.0.1:1"),
        "{complaint}"
    );
    assert!(asked.stdout.is_empty());
}
