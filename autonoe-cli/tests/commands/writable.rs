//! Tests that `autonoe doctor` detects a project that cannot be written to.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::commands::fixture::{CommandOutput, Fixture};

/// Returns the finding of `autonoe doctor --json` about the project: state, message, remedy.
fn finding(output: &CommandOutput) -> [String; 3] {
    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    let found = findings.iter().find(|it| it["name"] == "project");
    let found = found.expect("it is looked at");
    ["state", "found", "remedy"].map(|key| found[key].as_str().unwrap_or_default().to_owned())
}

/// A project that other users can read, with the command where they can start it.
fn open_setting() -> (Fixture, PathBuf) {
    let fixture = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/agent.json", "{}");
    let outer = fixture.project().join("..").canonicalize().expect("there");
    for folder in [
        &outer,
        &fixture.project(),
        &fixture.project().join(".autonoe"),
    ] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("ours");
    }
    let program = outer.join("bin/autonoe");
    let own = env!("CARGO_BIN_EXE_autonoe");
    fs::hard_link(own, &program)
        .or_else(|_| fs::copy(own, &program).map(drop))
        .expect("it can be copied");
    (fixture, program)
}

/// Returns the command line that runs the doctor with an environment that only this test defines.
fn doctor(fixture: &Fixture, program: &Path) -> Vec<OsString> {
    let outer = fixture.project().join("..").canonicalize().expect("there");
    let place = |name: &str, folder: &str| {
        let mut word = OsString::from(format!("{name}="));
        word.push(outer.join(folder));
        word
    };
    vec![
        "env".into(),
        "-i".into(),
        place("PATH", "bin"),
        place("HOME", "home"),
        program.into(),
        "doctor".into(),
        "--json".into(),
    ]
}

/// Runs the doctor as a user who is not root and does not own the files.
fn as_another(fixture: &Fixture, program: &Path) -> CommandOutput {
    let is_root = fs::metadata(fixture.project()).expect("there").uid() == 0;
    let mut words: Vec<OsString> = Vec::new();
    if is_root {
        let drop_privileges = "setpriv --reuid 65534 --regid 65534 --clear-groups --";
        words.extend(drop_privileges.split(' ').map(OsString::from));
    }
    words.extend(doctor(fixture, program));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(fixture.project());
    fixture.command_output(command.output().expect("it starts"))
}

#[test]
fn a_project_that_can_be_written_to_is_left_as_it_was() {
    let (fixture, _) = open_setting();
    let before = fixture.files();

    let output = fixture.autonoe(&["doctor", "--json"]);

    assert_eq!(finding(&output)[0], "good", "{}", output.screen());
    assert_eq!(fixture.files(), before);
}

#[test]
fn a_folder_of_another_user_is_a_problem_with_a_remedy() {
    for closed in ["", ".autonoe"] {
        let (fixture, program) = open_setting();
        for folder in ["", ".autonoe"] {
            let mode = if folder == closed { 0o555 } else { 0o777 };
            let path = fixture.project().join(folder);
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
        }

        let output = as_another(&fixture, &program);

        let [state, found, remedy] = finding(&output);
        assert_eq!(
            (output.code, state.as_str()),
            (1, "problem"),
            "{}",
            output.screen()
        );
        let place = format!("[folder]/project/{closed}");
        let words = format!("{} cannot be written to", place.trim_end_matches('/'));
        assert!(found.starts_with(&words), "{found}");
        assert!(remedy.contains("sudo chown -R"), "{remedy}");
    }
}

#[test]
fn a_file_of_another_user_in_our_folder_is_a_problem() {
    let (fixture, program) = open_setting();
    let fixture = fixture.file(".autonoe/journal.jsonl", "");
    for (path, mode) in [
        ("", 0o777),
        (".autonoe", 0o777),
        (".autonoe/journal.jsonl", 0o444),
    ] {
        let path = fixture.project().join(path);
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
    }

    let output = as_another(&fixture, &program);

    let [state, found, _] = finding(&output);
    assert_eq!(state, "problem", "{}", output.screen());
    assert!(
        found.contains("journal.jsonl cannot be written to"),
        "{found}"
    );
}

#[test]
fn a_read_only_file_system_is_a_problem_with_a_remedy() {
    let (fixture, program) = open_setting();
    let read_only = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" \
        && cd \"$0\" && exec \"$@\"";
    let inside = |command: &[OsString]| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--map-root-user", "--mount", "sh", "-c", read_only]);
        unshare.arg(fixture.project()).args(command).output()
    };
    if !inside(&["true".into()]).is_ok_and(|raw| raw.status.success()) {
        eprintln!("left out: nobody but root can mount anything on this machine");
        return;
    }

    let raw = inside(&doctor(&fixture, &program)).expect("it starts");
    let output = fixture.command_output(raw);

    let [state, found, remedy] = finding(&output);
    assert_eq!(state, "problem", "{}", output.screen());
    assert!(found.contains("Read-only file system"), "{found}");
    assert!(
        remedy.contains("mount the file system for writing"),
        "{remedy}"
    );
}
