//! Tests of parsing valid roadmaps.

use std::path::{Path, PathBuf};

use autonoe_harness::Roadmap;
use proptest::prelude::*;

const WHOLE: &str = "\
# A calculator

Some words before the first section.

## Objective
A calculator for the terminal.

It reads one line at a time.

## Constraints
- no dependencies
- stable Rust,
  edition 2024

## Background
Nobody asks for this section.

## Success Criteria
- all tests pass

## Tasks
- [x] **setup**: Make the crate.
- [ ] **parser**: Read sums and products.
  Numbers are whole.
  - timeout: 20m
  - success: `cargo test parser`
  - context: see docs/grammar.md: it has the rules
  ```text
  depends: nothing, this is an example
  ```

A note between tasks.

* [ ] **shell:** Ask for a line, print what it comes to.
  depends: parser, **setup**
  cli: codex
  model: gpt-5.5
  cwd: shell
  goal: A loop that reads and prints.
  success: a person can use it
";

fn read(text: &str) -> Roadmap {
    Roadmap::parse(Path::new("ROADMAP.md"), text).expect("a roadmap")
}

#[test]
fn a_whole_roadmap_is_parsed() {
    let roadmap = read(WHOLE);

    assert_eq!(roadmap.title.as_deref(), Some("A calculator"));
    assert_eq!(
        roadmap.objective,
        "A calculator for the terminal.\n\nIt reads one line at a time."
    );
    assert_eq!(
        roadmap.constraints,
        ["no dependencies", "stable Rust,\nedition 2024"]
    );
    assert_eq!(roadmap.success_criteria, ["all tests pass"]);
    let ids: Vec<_> = roadmap.tasks.iter().map(|it| it.task.id.as_str()).collect();
    assert_eq!(ids, ["setup", "parser", "shell"]);
    let lines: Vec<_> = roadmap.tasks.iter().map(|it| it.line).collect();
    assert_eq!(lines, [22, 23, 34]);
}

#[test]
fn lines_below_a_task_belong_to_it() {
    let roadmap = read(WHOLE);
    let [setup, parser, shell] = roadmap.tasks.as_slice() else {
        panic!("{:?}", roadmap.tasks)
    };

    assert!(setup.is_done);
    assert!(!parser.is_done);
    assert_eq!(parser.task.timeout_seconds, 20 * 60);
    assert_eq!(
        parser.task.context.as_deref(),
        Some("see docs/grammar.md: it has the rules")
    );
    assert!(
        parser
            .task
            .goal
            .starts_with("Read sums and products.\nNumbers are whole.")
    );
    assert!(
        parser.task.goal.contains("depends: nothing"),
        "code is text"
    );
    assert_eq!(parser.depends, []);
    let criteria = serde_json::to_value(&parser.task.success_criteria).expect("data");
    assert_eq!(criteria["type"], "command");

    let depends: Vec<_> = shell.depends.iter().map(|id| id.as_str()).collect();
    assert_eq!(depends, ["parser", "setup"]);
    assert_eq!(shell.task.goal, "A loop that reads and prints.");
    assert_eq!(
        shell.task.description,
        "Ask for a line, print what it comes to."
    );
    assert_eq!(shell.task.cli.as_deref(), Some("codex"));
    assert_eq!(shell.task.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(shell.task.cwd, Some(PathBuf::from("shell")));
    let criteria = serde_json::to_value(&shell.task.success_criteria).expect("data");
    assert_eq!(criteria, "a person can use it");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = Roadmap::parse(Path::new("R"), &text);
    }

    #[test]
    fn no_roadmap_makes_it_panic(lines in prop::collection::vec(
        prop_oneof![
            Just("## Tasks".to_owned()),
            Just("## Objective".to_owned()),
            Just("```".to_owned()),
            Just("- [ ] **a**: b".to_owned()),
            "- \\[.\\] \\*\\*[a-c:]{0,3}\\*{0,2}.{0,4}",
            "  -? ?(depends|timeout|success|goa|x): [a-c,`{} 0-9hms]{0,8}",
            "\\PC{0,12}",
        ],
        0..30,
    )) {
        let _ = Roadmap::parse(Path::new("R"), &lines.join("\n"));
    }
}
