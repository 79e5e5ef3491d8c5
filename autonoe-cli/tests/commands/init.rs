//! Tests of `autonoe init`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::commands::fixture::Fixture;

#[test]
fn a_project_begins_with_a_specification_and_a_configuration_that_are_understood() {
    let setting = Fixture::new();

    let output = setting.autonoe(&["init"]);

    insta::assert_snapshot!(output.screen());
    let written: Vec<_> = setting.files();
    assert_eq!(
        written,
        [
            ".autonoe/.gitignore",
            ".autonoe/agent.json",
            ".autonoe/agent.schema.json",
            ".autonoe/status.lock",
            "SPEC.md"
        ]
    );
    assert_eq!(setting.autonoe(&["check", "ls"]).code, 0);
    assert_eq!(setting.autonoe(&["run", "--dry-run"]).code, 0);
    let schema = setting.autonoe(&["schema", "agent-config"]).stdout;
    assert_eq!(setting.read(".autonoe/agent.schema.json"), schema);
}

#[test]
fn existing_files_are_kept_and_reported() {
    let setting = Fixture::new()
        .file("SPEC.md", "# Mine\n")
        .file(".autonoe/agent.json", "{}");

    let output = setting.autonoe(&["init"]);

    insta::assert_snapshot!(output.screen());
    assert_eq!(setting.read("SPEC.md"), "# Mine\n");
    assert_eq!(setting.read(".autonoe/agent.json"), "{}");
    assert_eq!(setting.autonoe(&["init"]).code, 0);
}

#[test]
fn nothing_is_written_through_a_symlink() {
    let setting = Fixture::new();
    let outside = setting.project().join("../home/outside.md");
    symlink(&outside, setting.project().join("SPEC.md")).expect("writable");

    let output = setting.autonoe(&["init"]);

    assert_eq!(output.code, 0, "{}", output.screen());
    assert!(
        output.stdout.contains("kept   SPEC.md"),
        "{}",
        output.screen()
    );
    assert!(!outside.exists());
}

#[test]
fn init_fails_without_a_usable_folder() {
    let setting = Fixture::new().file(".autonoe", "a file");

    let output = setting.autonoe(&["init"]);

    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("not a folder"),
        "{}",
        output.screen()
    );
    assert!(!fs::exists(setting.project().join("SPEC.md")).expect("readable"));
    assert_eq!(setting.autonoe(&["init", "-p", "missing"]).code, 1);
}
