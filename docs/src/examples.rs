//! Checks that the examples of extension points stay small enough to copy.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Lines of code that an example may have.
const MOST_LINES: usize = 60;

/// The extension points, and the example of each.
const EXTENSION_POINTS: [(&str, &str); 12] = [
    ("hook", "custom_hook"),
    ("hook from JSON", "hooks_from_json"),
    ("observer", "custom_observer"),
    ("repository", "custom_repository"),
    ("backend", "own_backend"),
    ("typed tool", "custom_tool"),
    ("instructions", "custom_instructions"),
    ("Bash policy", "bash_policy"),
    ("validator of Bash commands", "custom_validator"),
    ("clock", "custom_clock"),
    ("job of an engine", "custom_job"),
    ("flow", "flow"),
];

/// Examples that may be longer, and why.
const LONGER: [(&str, &str); 11] = [
    (
        "quickstart",
        "a whole project from its specification to the report",
    ),
    (
        "cassette_test",
        "a test file with a recorder and its replay",
    ),
    ("chaos_test", "a test file with faults and kills"),
    ("integration_test", "a test file of a tool that embeds runs"),
    ("mocking", "a mock of every port"),
    (
        "model_agent",
        "an agent on a model, with its server, tools and prices",
    ),
    (
        "real_claude_offline",
        "Claude Code with a scripted model, printed step by step",
    ),
    ("executors", "the same task on several backends"),
    ("fleet", "a fleet from its order to its result"),
    ("dashboard", "a fleet that is drawn in a terminal"),
    ("rates", "a measurement"),
];

/// Counts the lines of a program that are neither blank nor comments nor part of a `use`.
fn own_lines(program: &str) -> usize {
    let mut in_use = false;
    let is_own = |line: &&str| {
        let starts_use = line.starts_with("use ");
        let is_use = in_use || starts_use;
        in_use = is_use && !line.ends_with(';');
        !is_use && !line.is_empty() && !line.starts_with("//")
    };
    program.lines().map(str::trim).filter(is_own).count()
}

/// Returns the lines of code of each example in the workspace.
fn examples() -> BTreeMap<String, usize> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = fs::read_dir(&workspace).expect("the workspace can be listed");
    let folders = crates.map(|entry| entry.expect("an entry").path().join("examples"));
    let mut lines = BTreeMap::new();
    for folder in folders.chain([workspace.join("examples")]) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.file_stem().expect("a name").to_string_lossy();
                let program = fs::read_to_string(&path).expect("a program");
                let is_new = lines
                    .insert(name.into_owned(), own_lines(&program))
                    .is_none();
                assert!(is_new, "two examples are called {}", path.display());
            }
        }
    }
    lines
}

#[test]
fn every_extension_point_has_an_example_of_at_most_60_lines() {
    let examples = examples();

    for (point, name) in EXTENSION_POINTS {
        let lines = *examples
            .get(name)
            .unwrap_or_else(|| panic!("{point}: no {name}.rs"));
        assert!(
            lines <= MOST_LINES,
            "{point}: {name}.rs has {lines} lines of code"
        );
    }
}

#[test]
fn an_example_is_longer_than_60_lines_only_with_a_reason() {
    let examples = examples();
    let reasons = BTreeMap::from(LONGER);

    for (name, lines) in &examples {
        let is_longer = *lines > MOST_LINES;
        assert!(
            !is_longer || reasons.contains_key(name.as_str()),
            "{name}.rs has {lines} lines of code; shorten it, or list it with a reason"
        );
    }
    for name in reasons.keys() {
        let lines = examples.get(*name).copied();
        let lines = lines.unwrap_or_else(|| panic!("there is no {name}.rs"));
        assert!(
            lines > MOST_LINES,
            "{name}.rs is short enough; remove it from the list"
        );
    }
}

#[test]
fn the_list_of_examples_names_all_of_them() {
    let list = include_str!("../../examples/src/lib.rs");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let here = |name: &String| folder.join(format!("{name}.rs")).is_file();
    let names = EXTENSION_POINTS.map(|(_, name)| name.to_owned());

    for name in examples().into_keys().filter(here).chain(names) {
        assert!(
            list.contains(&format!("`{name}`")),
            "examples/src/lib.rs lacks {name}"
        );
    }
}

#[test]
fn comments_blank_lines_and_imports_are_not_counted() {
    let program = "\
//! A program.
use std::fmt;
use std::{
    fs, io,
};

/// Starts it.
fn main() {
    // Does nothing.
    drop(\"use this\");
}
";

    assert_eq!(own_lines(program), 3);
}
