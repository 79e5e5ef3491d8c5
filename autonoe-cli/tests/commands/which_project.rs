//! `--project-dir`, and what is said about a wrong one.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::commands::setting::Setting;

#[test]
fn what_is_no_project_directory_is_told_once_and_with_what_it_is() {
    let setting = Setting::new().file("notes.txt", "");
    symlink("gone", setting.project().join("link")).expect("writable");
    for (dir, name) in [
        ("missing", "missing_directory"),
        ("notes.txt", "file_and_no_directory"),
        ("link", "symlink_that_leads_nowhere"),
    ] {
        let told = setting.autonoe(&["status", "-p", dir]);

        insta::assert_snapshot!(name, told.screen());
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
            let said = setting.autonoe(&[args, &["-p", dir]].concat());
            assert_eq!((said.code, &said.stderr), (1, &told.stderr), "{args:?}");
        }
        let doctor = setting.autonoe(&["doctor", "-p", dir]);
        let line = told.stderr.lines().next().expect("it is told");
        let words = line.trim_start_matches("error: ");
        assert!(doctor.stdout.contains(words), "{}", doctor.screen());
    }
}

#[test]
fn a_missing_specification_comes_with_a_way_to_begin_one() {
    let said = Setting::new().autonoe(&["run"]);

    insta::assert_snapshot!(said.screen());
}

#[test]
fn a_working_directory_that_is_gone_is_told() {
    let setting = Setting::new();
    let project = setting.project();
    let gone = project.join("gone");
    fs::create_dir(&gone).expect("writable");
    let in_it = |args: &[&str]| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "cd \"$0\" && rmdir \"$0\" && exec \"$@\""]);
        command
            .arg(&gone)
            .arg(env!("CARGO_BIN_EXE_autonoe"))
            .args(args);
        setting.said(command.output().expect("it starts"))
    };

    let said = in_it(&["status"]);
    fs::create_dir(&gone).expect("writable");
    let elsewhere = in_it(&["status", "-p", project.to_str().expect("plain")]);

    assert_eq!(said.code, 1, "{}", said.screen());
    assert!(
        said.stderr
            .starts_with("error: the working directory is gone"),
        "{}",
        said.screen()
    );
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.screen());
}

#[test]
fn a_project_that_is_named_by_a_link_has_the_paths_of_the_link_too() {
    let setting = Setting::new();
    // Not in `/tmp`, where commands may write anyway.
    let elsewhere = tempfile::tempdir_in("/var/tmp").expect("a folder");
    let link = elsewhere.path().join("link");
    symlink(setting.project(), &link).expect("writable");
    let link = link.to_str().expect("plain");
    let check = |directory: &str, shown: Option<&str>, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autonoe"));
        let text = format!("echo x > {link}/a && cd {link} && git status");
        command.args(["check", &text]).args(more);
        command.current_dir(directory).env_remove("PWD");
        if let Some(shown) = shown {
            command.env("PWD", shown);
        }
        setting.said(command.output().expect("it starts"))
    };

    let project = setting.project();
    let project = project.to_str().expect("plain");
    for (directory, shown, more, is_allowed) in [
        ("/", None, &["-p", link][..], true),
        (link, Some(link), &[], true),
        // The working directory of the shell does not lead through the link.
        (project, Some(project), &[], false),
        (project, Some("/"), &[], false),
        (project, None, &[], false),
        ("/", None, &["-p", project], false),
    ] {
        let said = check(directory, shown, more);

        assert_eq!(
            said.stdout.starts_with("allowed"),
            is_allowed,
            "{directory} {shown:?} {more:?}: {}",
            said.screen()
        );
    }
}
