//! Runs in projects with unusual paths, with the guards and the sandbox of every run.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use autonoe_claude::ClaudeBackend;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentClientFactory, ExitReason};
use autonoe_testkit::model_server::anthropic::{ModelScript, ScriptedMessage, Turn};
use autonoe_testkit::program::WatchedRun;
use serde_json::{Value, json};

use super::{passing, run_planned_in};
use crate::build::{Build, on_both_builds};
use crate::fixture::Fixture;

/// Returns a script that makes each of `calls`, and passes the deliverable.
fn script(calls: &[(&str, Value)]) -> ModelScript {
    let calls = calls.iter().enumerate().map(|(number, (name, input))| {
        let id = format!("call-{number}");
        Turn::from(ScriptedMessage::new().uses_tool_as(id, *name, input.clone()))
    });
    ModelScript::new(calls.chain(passing()))
}

/// Returns the failed calls of a script.
fn failed(fixture: &Fixture) -> Vec<(usize, String)> {
    let requests = fixture.server.log().main_requests();
    let results = requests.last().expect("there are some").tool_results();
    let failed = results.into_iter().filter(|result| result.is_error);
    let number = |id: &str| id.strip_prefix("call-")?.parse().ok();
    failed
        .filter_map(|result| Some((number(&result.tool_use_id)?, result.text.clone())))
        .collect()
}

fn bash(command: &str) -> (&'static str, Value) {
    let input = json!({"command": command, "description": "as the script says"});
    ("Bash", input)
}

/// Returns all file operations of an agent, with paths that start with `root`.
fn work(root: &str) -> Vec<(&'static str, Value)> {
    let file = format!("{root}/hello.txt");
    vec![
        ("Write", json!({"file_path": file, "content": "hello\n"})),
        ("Read", json!({"file_path": file})),
        (
            "Edit",
            json!({"file_path": file, "old_string": "hello", "new_string": "hello, world"}),
        ),
        ("Glob", json!({"pattern": "*.txt", "path": root})),
        ("Grep", json!({"pattern": "world", "path": root})),
        bash("cat hello.txt && echo more > relative.txt"),
        bash(&format!("echo more > '{root}/absolute.txt'")),
        bash(&format!("cd '{root}' && cat hello.txt > copy.txt")),
    ]
}

const FILES: [&str; 5] = [
    "SPEC.md",
    "absolute.txt",
    "copy.txt",
    "hello.txt",
    "relative.txt",
];

/// A backslash is an ordinary character.
async fn spaces_and_special_characters_in_a_project_path_work(build: Build) {
    let name = "a  shop/Größe & co, (x) [y] {z} #1: $a *? back\\slash";
    let fixture = Fixture::in_project(build, name, |root| script(&work(&root.to_string_lossy())));

    let (report, ended) = run_planned_in(&fixture).run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    assert_eq!(failed(&fixture), []);
    assert_eq!(fixture.files(), FILES);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn a_path_that_the_program_refuses_is_refused_before_the_first_session(build: Build) {
    let backslash = (build == Build::OLDER).then_some(("back\\slash", "with a backslash"));
    let names = [
        ("blank ", "\"blank \" ends with whitespace"),
        ("dot./shop", "\"dot.\" ends with a dot"),
        ("shop~1", "\"shop~1\" has a digit after a tilde"),
        (".vscode/shop", "in a folder \".vscode\""),
    ];
    for (name, reason) in names.into_iter().chain(backslash) {
        let fixture = Fixture::in_project(build, name, |_| ModelScript::new::<Turn>([]));
        let mut options = fixture.options();
        options.directory = Some(fixture.project());
        let agents = Arc::new(ClaudeBackend::new(options));

        let run = WatchedRun::in_project(&fixture.project(), agents);
        let (report, ended) = run.run().await;

        let ExitReason::Failed { error } = &report.exit else {
            panic!("{name:?}: {report}");
        };
        assert!(
            error.message.contains(reason),
            "{name:?}: {}",
            error.message
        );
        let remedy = error.remedy.as_deref().expect("there is one");
        assert!(remedy.contains("rename or move the project"), "{remedy}");
        assert_eq!(ended, Vec::<Value>::new(), "{name:?}");
        fixture.assert_nothing_is_left();
    }
}

async fn a_path_that_every_build_refuses_is_refused_by_each_session(build: Build) {
    let fixture = Fixture::in_project(build, "blank ", |_| ModelScript::new::<Turn>([]));

    let error = fixture.agents().create(fixture.spec([])).err();

    let error = error.expect("it is refused");
    assert_eq!(error.kind(), AgentErrorKind::Configuration, "{error}");
}

/// The symlink is not in `/tmp`, where agents may write anyway.
async fn paths_through_a_link_to_the_project_work(build: Build) {
    let other_folder = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let link = other_folder.path().join("link");
    let link_text = link.display().to_string();
    let outside = other_folder.path().join("outside");
    fs::create_dir(&outside).expect("it can be made");
    let mut calls = work(&link_text);
    let allowed = calls.len();
    let write = |path: &str| json!({"file_path": format!("{link_text}/{path}"), "content": "x"});
    calls.extend([
        ("Write", write("out/trace.txt")),
        ("Write", write("../trace.txt")),
        bash(&format!("echo x > {link_text}/out/trace.txt")),
        bash(&format!("cd {link_text}/out && echo x > trace.txt")),
        bash(&format!("echo x > {link_text}/../trace.txt")),
    ]);
    let refused: Vec<_> = (allowed..calls.len()).collect();
    let fixture = Fixture::new(build, script(&calls));
    symlink(fixture.project(), &link).expect("it can be made");
    symlink(&outside, fixture.file("out")).expect("it can be made");

    let run = WatchedRun::in_planned_project(&link, fixture.agents());
    let (report, ended) = run.run().await;

    assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
    let failed = failed(&fixture);
    let numbers: Vec<_> = failed.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, refused, "{failed:?}");
    for name in FILES {
        assert!(fixture.file(name).exists(), "{name}");
    }
    let names = fs::read_dir(other_folder.path()).expect("readable").count();
    assert_eq!(names, 2, "nothing was written beside the link");
    assert_eq!(fs::read_dir(&outside).expect("readable").count(), 0);
    fixture.server.verify();
    fixture.assert_nothing_is_left();
}

async fn folders_of_the_program_are_removed_from_the_project(build: Build) {
    for (name, is_repository) in [("project", false), ("repository/project", true)] {
        let fixture = Fixture::in_project(build, name, |_| script(&[bash("echo x > made.txt")]));
        let repository = fixture.folder.join("repository");
        let settings = fixture.file(".claude/skills/mine/SKILL.md");
        if is_repository {
            fs::create_dir(repository.join(".git")).expect("it can be made");
            fs::create_dir_all(settings.parent().expect("it has one")).expect("it can be made");
            fs::write(&settings, "Be kind.").expect("writable");
        }

        let (report, ended) = run_planned_in(&fixture).run().await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{report} {ended:?}");
        assert!(fixture.file("made.txt").exists());
        assert!(!fixture.file(".claude/.cc-writes").exists());
        assert_eq!(fixture.file(".claude").exists(), is_repository);
        assert_eq!(settings.exists(), is_repository);
        assert!(!repository.join(".claude").exists());
    }
}

on_both_builds![
    a_path_that_the_program_refuses_is_refused_before_the_first_session,
    a_path_that_every_build_refuses_is_refused_by_each_session;
    newer_only:
    spaces_and_special_characters_in_a_project_path_work,
    paths_through_a_link_to_the_project_work,
    folders_of_the_program_are_removed_from_the_project,
];
