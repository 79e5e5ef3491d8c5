//! Loading of definitions.

use std::fs;

use autonoe_flow::load::flows_in;
use autonoe_flow::prompt::{PromptResolver, Variables};
use autonoe_flow::validate::FindingKind;
use autonoe_flow::{FlowErrorKind, load, validate};
use serde_json::json;

use crate::support::{Folder, agent, full_folder, step};

#[test]
fn a_flow_with_every_field_is_loaded_and_valid() {
    let definition = load(&full_folder()).expect("it can be loaded");

    let report = validate(&definition);

    assert!(report.is_valid(), "{report}");
    insta::assert_snapshot!(report);
}

#[test]
fn missing_parts_are_reported_with_their_file() {
    let folder = Folder::new();
    let error_text = |folder: &Folder| {
        let error = load(&folder.dir).expect_err("something is missing");
        assert_eq!(error.finding().kind, FindingKind::NotFound);
        folder.without_place(&error.to_string())
    };

    fs::remove_file(folder.dir.join("steps_registry.json")).expect("it was there");
    let no_steps = error_text(&folder);
    fs::remove_file(folder.dir.join("agent.json")).expect("it was there");
    let no_agent = error_text(&folder);
    fs::remove_dir_all(&folder.dir).expect("it was there");
    let no_folder = error_text(&folder);
    fs::write(&folder.dir, "").expect("writable");
    let a_file = error_text(&folder);

    insta::assert_snapshot!([no_steps, no_agent, no_folder, a_file].join("\n"), @r#"
    review/steps_registry.json: the file does not exist; create it with the steps, or set `prompts.registry` in agent.json to the file that has them
    review/agent.json: the file does not exist; the folder of a flow contains agent.json and steps_registry.json
    review: the folder does not exist; a flow is a folder that contains agent.json
    review: it is not a folder; a flow is a folder that contains agent.json
    "#);
}

#[test]
fn a_file_that_is_not_text_or_too_large_is_reported() {
    let folder = Folder::new();
    let error_text = |folder: &Folder| {
        let error = load(&folder.dir).expect_err("it cannot be read");
        assert_eq!(error.finding().kind, FindingKind::Unreadable);
        folder.without_place(&error.to_string())
    };

    fs::write(folder.dir.join("agent.json"), b"{\n\"name\": \"\xff\"}").expect("writable");
    let no_text = error_text(&folder);
    let huge = fs::File::create(folder.dir.join("agent.json")).expect("writable");
    huge.set_len(1 << 40).expect("a hole takes no room");
    let too_large = error_text(&folder);
    fs::remove_file(folder.dir.join("agent.json")).expect("it was there");
    fs::create_dir(folder.dir.join("agent.json")).expect("writable");
    let a_folder = error_text(&folder);

    insta::assert_snapshot!([no_text, too_large, a_folder].join("\n"), @r#"
    review/agent.json: the file is not UTF-8 from line 2 on; save it as UTF-8
    review/agent.json: the file is larger than 1 MiB; check that this is the right file
    review/agent.json: it is a folder; replace it with a regular file
    "#);
}

#[cfg(unix)]
#[test]
fn no_file_outside_the_folder_is_read_also_not_through_a_symlink() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let outside = folder.outer.path().join("outside");
    fs::create_dir(&outside).expect("writable");
    fs::write(outside.join("secret.md"), "secret {uv-secret}").expect("writable");
    fs::copy(
        folder.dir.join("steps_registry.json"),
        outside.join("steps.json"),
    )
    .expect("copied");

    // A prompt behind a symlink to a file, and one behind a symlink to a folder.
    fs::remove_file(folder.dir.join("prompts/a.md")).expect("it was there");
    symlink(outside.join("secret.md"), folder.dir.join("prompts/a.md")).expect("writable");
    symlink(&outside, folder.dir.join("prompts/up")).expect("writable");
    let steps = json!({
        "entryStep": "a",
        "steps": {"a": step("b"), "b": {"prompt": "prompts/up/secret.md", "transition": {"next": "end"}}},
    });
    folder.write("steps_registry.json", &steps.to_string());
    let definition = load(&folder.dir).expect("its JSON files are inside");
    let report = validate(&definition);
    let resolver = PromptResolver::new(&definition);
    let reference = serde_json::from_value(json!("prompts/a.md")).expect("a reference");
    let resolved = resolver.resolve(&reference, &Variables::new());

    let kinds: Vec<_> = report.errors.iter().map(|it| it.kind).collect();
    assert_eq!(
        kinds,
        [FindingKind::PromptText, FindingKind::PromptText],
        "{report}"
    );
    assert!(
        report.errors[0].message.contains("outside the folder"),
        "{report}"
    );
    assert!(!format!("{report:?} {definition:?}").contains("uv-secret"));
    assert_eq!(
        resolved.expect_err("refused").kind(),
        FlowErrorKind::PromptParse
    );

    // The steps behind a symlink.
    fs::remove_file(folder.dir.join("steps_registry.json")).expect("it was there");
    symlink(
        outside.join("steps.json"),
        folder.dir.join("steps_registry.json"),
    )
    .expect("writable");
    let refused = load(&folder.dir).expect_err("it leads out");
    assert_eq!(refused.finding().kind, FindingKind::OutsideFolder);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    let path = folder.dir.join("agent.json");
    fs::remove_file(&path).expect("it was there");
    let created = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(created.expect("mkfifo is there").success());

    let error = load(&folder.dir).expect_err("no file");

    assert!(
        error
            .to_string()
            .ends_with("it is a pipe; replace it with a regular file"),
        "{error}"
    );
}

#[test]
fn steps_may_be_in_another_file_of_the_folder() {
    let folder = Folder::new();
    let steps = fs::read_to_string(folder.dir.join("steps_registry.json")).expect("readable");
    fs::remove_file(folder.dir.join("steps_registry.json")).expect("it was there");
    folder.write("steps/all.json", &steps);
    let named = agent(json!({"prompts": {"registry": "steps/all.json"}}));
    folder.write("agent.json", &named.to_string());

    let report = validate(&load(&folder.dir).expect("it can be loaded"));

    assert!(report.is_valid(), "{report}");
}

// Shows: flows/load/valid
#[test]
fn a_finding_knows_the_line_in_the_file() {
    let folder = Folder::new();
    folder.write(
        "steps_registry.json",
        "{\n  \"entryStep\": \"a\",\n  \"steps\": {\n    \"a\": {\n      \"prompt\": \"prompts/a.md\",\n      \"transition\": {\"next\": \"b\"}\n    }\n  }\n}\n",
    );

    let report = validate(&load(&folder.dir).expect("it can be loaded"));

    assert_eq!(
        report.to_string(),
        "error: steps_registry.json:6:30: /steps/a/transition/next: there is no step `b`; the \
         only known one is `a`"
    );
}

#[test]
fn loading_and_validating_change_nothing() {
    let folder = Folder::new();
    let tree = || {
        let files = ["agent.json", "steps_registry.json", "prompts/a.md"];
        files.map(|file| fs::read(folder.dir.join(file)).expect("it is there"))
    };
    let before = tree();

    let first = validate(&load(&folder.dir).expect("it can be loaded"));
    let second = validate(&load(&folder.dir).expect("it can be loaded"));

    assert_eq!(first, second);
    assert_eq!(tree(), before);
    assert_eq!(fs::read_dir(&folder.dir).expect("readable").count(), 3);
}

#[test]
fn flows_are_listed_by_name_and_other_folders_are_not() {
    let folder = Folder::new();
    let outer = folder.outer.path();
    fs::create_dir(outer.join("empty")).expect("writable");
    fs::create_dir(outer.join("Odd name")).expect("writable");
    fs::write(outer.join("Odd name/agent.json"), "{}").expect("writable");

    let found = flows_in(outer).expect("readable");
    let none = flows_in(&outer.join("nowhere")).expect("no folder, no flows");

    assert_eq!(found, ["review".parse().expect("a name")]);
    assert!(none.is_empty());
}
