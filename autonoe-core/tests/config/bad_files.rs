//! Files that cannot be read as a configuration.

use std::fs;
use std::path::Path;

use autonoe_core::project::{AgentConfig, ConfigErrorKind};

use crate::config::support::{error, parse};

/// Loads `bytes` as a file and returns the message, without the folder.
fn loaded(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("agent.json");
    fs::write(&path, bytes).expect("writable");
    message(&path, dir.path())
}

fn message(path: &Path, dir: &Path) -> String {
    let error = AgentConfig::load(path).expect_err("it cannot be read");
    error
        .to_string()
        .replace(&format!("{}/", dir.display()), "")
}

#[test]
fn invalid_json_is_reported_with_a_hint() {
    let deep = "[".repeat(300_000) + &"]".repeat(300_000);
    let texts = [
        "",
        " \n\t",
        "{",
        "{\n  \"profile\": \"node\",\n}",
        "{\n  \"profile\": \"node\"\n  \"hooks\": []\n}",
        "{\n  // the language\n  \"profile\": \"node\"\n}",
        "{'profile': 'node'}",
        "{\"profile\": \"no",
        "{} {}",
        "profile: node",
        &deep,
    ];

    let messages: Vec<String> = texts.iter().map(|text| error(text)).collect();

    let messages = messages.join("\n");
    insta::assert_snapshot!(messages);
}

#[test]
fn duplicate_fields_are_errors() {
    let texts = [
        "{\n  \"profile\": \"node\",\n  \"profile\": \"go\"\n}",
        r#"{"permissions": {"allow": [], "allow": ["Task"]}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "1", "\u0041": "2"}}}}"#,
        r#"{"hooks": [{}, {"type": "x", "a/b": {"c": 1, "c": 2}}]}"#,
    ];

    let messages: Vec<String> = texts.iter().map(|text| error(text)).collect();

    let messages = messages.join("\n");
    insta::assert_snapshot!(messages);
}

#[test]
fn a_file_that_is_missing_is_no_configuration() {
    let dir = tempfile::tempdir().expect("a folder");

    for path in ["agent.json", "no-folder/agent.json"] {
        let config = AgentConfig::load(dir.path().join(path)).expect("nothing to be wrong");
        assert!(config.is_none());
    }
}

#[test]
fn an_empty_file_is_an_error() {
    insta::assert_snapshot!(loaded(b""), @"agent.json: it is empty; write a JSON object or remove the file");
}

#[test]
fn a_file_that_is_not_utf_8_is_an_error() {
    insta::assert_snapshot!(
        loaded(b"{\"profile\": \"\xff\"}"),
        @"agent.json:1:14: it is not UTF-8 from here on; save it as UTF-8"
    );
}

#[test]
fn a_huge_file_is_an_error() {
    let mut text = b"{}".to_vec();
    text.resize(1024 * 1024 + 1, b' ');

    insta::assert_snapshot!(
        loaded(&text),
        @"agent.json: it is larger than 1 MiB; check that this is the right file: a configuration is one or two pages long"
    );
    text.pop();
    assert!(parse(std::str::from_utf8(&text).expect("ASCII")).is_ok());
}

#[test]
fn a_directory_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("agent.json");
    fs::create_dir(&path).expect("writable");

    insta::assert_snapshot!(message(&path, dir.path()), @"agent.json: it is a folder and not a file; move it away");
}

#[cfg(unix)]
#[test]
fn a_dangling_symlink_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("agent.json");
    std::os::unix::fs::symlink("gone.json", &path).expect("writable");

    let error = AgentConfig::load(&path).expect_err("somebody relies on it");

    assert_eq!(error.kind(), ConfigErrorKind::Unreadable);
    insta::assert_snapshot!(
        message(&path, dir.path()),
        @"agent.json: it is a symlink that leads nowhere; move it away"
    );
}

#[cfg(unix)]
#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("folder"), "").expect("writable");

    insta::assert_snapshot!(
        message(&dir.path().join("folder/agent.json"), dir.path()),
        @"folder/agent.json: it cannot be read; a parent of its path is not a folder; move that file away"
    );
}

// The memory of a process is a file that not even root can read from its start.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("agent.json");
    std::os::unix::fs::symlink("/proc/self/mem", &path).expect("writable");

    insta::assert_snapshot!(
        message(&path, dir.path()),
        @"agent.json: it cannot be read; check its owner and permissions"
    );
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    assert!(parse("\u{feff}{}").is_ok());
}
