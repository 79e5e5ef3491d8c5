//! Tests of `autonoe init`.

use std::fs;
use std::os::unix::fs::symlink;

use crate::commands::fixture::Fixture;

#[test]
fn a_project_begins_with_a_specification_and_a_configuration_that_are_understood() {
    let fixture = Fixture::new();

    let output = fixture.autonoe(&["init"]);

    insta::assert_snapshot!(output.screen());
    let written: Vec<_> = fixture.files();
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
    assert_eq!(fixture.autonoe(&["check", "ls"]).code, 0);
    assert_eq!(fixture.autonoe(&["run", "--dry-run"]).code, 0);
    let schema = fixture.autonoe(&["schema", "agent-config"]).stdout;
    assert_eq!(fixture.read(".autonoe/agent.schema.json"), schema);
}

#[test]
fn existing_files_are_reported_and_not_changed() {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Mine\n")
        .file(".autonoe/agent.json", "{}");

    let output = fixture.autonoe(&["init"]);

    insta::assert_snapshot!(output.screen());
    assert_eq!(fixture.read("SPEC.md"), "# Mine\n");
    assert_eq!(fixture.read(".autonoe/agent.json"), "{}");
    assert_eq!(fixture.autonoe(&["init"]).code, 0);
}

#[test]
fn nothing_is_written_through_a_symlink() {
    let fixture = Fixture::new();
    let outside = fixture.project().join("../home/outside.md");
    symlink(&outside, fixture.project().join("SPEC.md")).expect("writable");

    let output = fixture.autonoe(&["init"]);

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
    let fixture = Fixture::new().file(".autonoe", "a file");

    let output = fixture.autonoe(&["init"]);

    assert_eq!(output.code, 1);
    assert!(
        output.stderr.contains("not a folder"),
        "{}",
        output.screen()
    );
    assert!(!fs::exists(fixture.project().join("SPEC.md")).expect("readable"));
    assert_eq!(fixture.autonoe(&["init", "-p", "missing"]).code, 1);
}
