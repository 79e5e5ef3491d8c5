//! Tests of `--project-dir` and its errors.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::commands::fixture::Fixture;

#[test]
fn an_invalid_project_directory_is_reported_once_with_the_reason() {
    let fixture = Fixture::new().file("notes.txt", "");
    symlink("gone", fixture.project().join("link")).expect("writable");
    for (dir, name) in [
        ("missing", "missing_directory"),
        ("notes.txt", "file_and_no_directory"),
        ("link", "symlink_that_leads_nowhere"),
    ] {
        let status = fixture.autonoe(&["status", "-p", dir]);

        insta::assert_snapshot!(name, status.screen());
        for args in [
            &["run"][..],
            &["sync"],
            &["run", "--dry-run"],
            &["log"],
            &["init"],
            &["report"],
            &["flow", "list"],
            &["flow", "graph", "x"],
            &["flow", "run", "x"],
        ] {
            let output = fixture.autonoe(&[args, &["-p", dir]].concat());
            assert_eq!(
                (output.code, &output.stderr),
                (1, &status.stderr),
                "{args:?}"
            );
        }
        let doctor = fixture.autonoe(&["doctor", "-p", dir]);
        let line = status.stderr.lines().next().expect("it is told");
        let words = line.trim_start_matches("error: ");
        assert!(doctor.stdout.contains(words), "{}", doctor.screen());
    }
}

#[test]
fn a_missing_specification_is_reported_with_a_hint() {
    let output = Fixture::new().autonoe(&["run"]);

    insta::assert_snapshot!(output.screen());
}

#[test]
fn deleted_working_directory_is_reported() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let deleted = project.join("gone");
    fs::create_dir(&deleted).expect("writable");
    let in_it = |args: &[&str]| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cd \"$0\" && rmdir \"$0\" && exec \"$@\""]);
        command
            .arg(&deleted)
            .arg(env!("CARGO_BIN_EXE_autonoe"))
            .args(args);
        fixture.command_output(command.output().expect("it starts"))
    };

    let output = in_it(&["status"]);
    fs::create_dir(&deleted).expect("writable");
    let with_option = in_it(&["status", "-p", project.to_str().expect("plain")]);

    assert_eq!(output.code, 1, "{}", output.screen());
    assert!(
        output
            .stderr
            .starts_with("error: the working directory does not exist"),
        "{}",
        output.screen()
    );
    assert_eq!(with_option.code, 0, "{}", with_option.screen());
}

#[test]
fn a_project_that_is_named_by_a_link_has_the_paths_of_the_link_too() {
    let fixture = Fixture::new();
    // Not in `/tmp`, where commands may write anyway.
    let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let link = folder.path().join("link");
    symlink(fixture.project(), &link).expect("writable");
    let link = link.to_str().expect("plain");
    let check = |directory: &str, pwd: Option<&str>, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        let text = format!("echo x > {link}/a && cd {link} && git status");
        command.args(["check", &text]).args(more);
        command.current_dir(directory).env_remove("PWD");
        if let Some(pwd) = pwd {
            command.env("PWD", pwd);
        }
        fixture.command_output(command.output().expect("it starts"))
    };

    let project = fixture.project();
    let project = project.to_str().expect("plain");
    for (directory, pwd, more, is_allowed) in [
        ("/", None, &["-p", link][..], true),
        (link, Some(link), &[], true),
        // The working directory of the shell does not lead through the link.
        (project, Some(project), &[], false),
        (project, Some("/"), &[], false),
        (project, None, &[], false),
        ("/", None, &["-p", project], false),
    ] {
        let output = check(directory, pwd, more);

        assert_eq!(
            output.stdout.starts_with("allowed"),
            is_allowed,
            "{directory} {pwd:?} {more:?}: {}",
            output.screen()
        );
    }
}

#[test]
fn a_state_folder_that_is_no_folder_is_named_with_what_to_do() {
    let file = Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe", "mine\n");
    let link = Fixture::new().file("SPEC.md", "# Shop\n");
    symlink("gone", link.project().join(".autonoe")).expect("writable");
    for (fixture, found) in [
        (file, "a file, not a folder"),
        (link, "a symlink that leads nowhere"),
    ] {
        for args in [&["status"][..], &["run"], &["log"], &["init"]] {
            let output = fixture.autonoe(args);

            let expected = format!(
                "error: [folder]/project/.autonoe is {found}\n  hint: Autonoe keeps its files in \
                 a folder of this name: move it away\n"
            );
            assert_eq!((output.code, &output.stderr), (1, &expected), "{args:?}");
        }
        let doctor = fixture.autonoe(&["doctor"]);
        assert!(doctor.stdout.contains(found), "{}", doctor.screen());
    }
}
