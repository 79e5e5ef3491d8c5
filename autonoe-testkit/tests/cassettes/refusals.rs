//! Invalid cassette files are rejected with their name and left unchanged.

use std::error::Error as _;
use std::fs;
use std::path::Path;

use autonoe_testkit::Cassette;
use autonoe_testkit::cassette::CassetteError;

/// Loads `text` as a cassette and returns the error and its message.
fn refusal(text: &str) -> (CassetteError, String) {
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("run.json");
    fs::write(&path, text).expect("there is room");

    let error = Cassette::load(&path).expect_err("it is no cassette");

    assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(text));
    let message = error
        .to_string()
        .replace(&dir.path().display().to_string(), "..");
    (error, message)
}

#[test]
fn another_version_is_refused_and_kept() {
    let (error, message) = refusal(r#"{"version": 9, "reels": []}"#);

    assert!(matches!(error, CassetteError::Version { found: 9, .. }));
    assert_eq!(
        message,
        "the cassette ../run.json has version 9, and this program reads version 1; record it again"
    );
}

#[test]
fn an_invalid_cassette_is_refused_and_not_changed() {
    for text in [
        "",
        "{",
        "[]",
        r#"{"version": 1}"#,
        r#"{"version": 1, "sessions": [], "x": 1}"#,
    ] {
        let (error, message) = refusal(text);

        assert_eq!(message, "../run.json is not a valid cassette", "{text}");
        assert!(error.source().is_some(), "{text}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Cassette::load(Path::new("/nowhere/run.json")).expect_err("it is not there");

    assert_eq!(
        error.to_string(),
        "cannot read the cassette /nowhere/run.json"
    );
}
