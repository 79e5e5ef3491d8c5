//! Tests of the mistakes that are found in roadmaps.

use std::path::Path;

use autonoe_harness::Roadmap;

/// Returns the findings for a roadmap with these tasks, each with its position; the first task is
/// on line 4.
fn mistakes(tasks: &str) -> Vec<(usize, usize, String)> {
    let text = format!("## Objective\nAll.\n## Tasks\n{tasks}");
    match Roadmap::parse(Path::new("ROADMAP.md"), &text) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let findings = error.findings().iter();
            findings
                .map(|it| (it.line, it.column, it.message.clone()))
                .collect()
        }
    }
}

#[test]
fn each_mistake_is_reported_with_its_line() {
    for (tasks, line, column, expected) in [
        ("- [ ] a task", 4, 7, "write a task as"),
        ("- **a**: text", 4, 3, "write a task as"),
        ("- [?] **a**: text", 4, 3, "write a task as"),
        (
            "- [ ] ****: text",
            4,
            9,
            "\"\" is not a valid task id: it must not be empty",
        ),
        ("- [ ] **a**:", 4, 1, "goal"),
        (
            "- [ ] **a**: b\n- [ ] **a**: c",
            5,
            1,
            "the task a already exists in line 4",
        ),
        (
            "- [ ] **a**: b\n  timeot: 5m",
            5,
            3,
            "unknown key \"timeot\"; did you mean \"timeout\"?",
        ),
        (
            "- [ ] **a**: b\n  xyz: 5m",
            5,
            3,
            "known keys: goal, context",
        ),
        (
            "- [ ] **a**: b\n  - timeout: soon",
            5,
            14,
            "\"soon\" is not a duration",
        ),
        ("- [ ] **a**: b\n  timeout: 0", 5, 12, "the timeout is 0"),
        (
            "- [ ] **a**: b\n  cli: x\n  cli: y",
            6,
            8,
            "cli is set twice",
        ),
        ("- [ ] **a**: b\n  model:", 5, 9, "model is empty"),
        (
            "- [ ] **a**: b\n  success: `if true`",
            5,
            12,
            "\"if\" is not a program",
        ),
        (
            "- [ ] **a**: b\n  success: `cargo test",
            5,
            12,
            "a backquote is not closed",
        ),
        (
            "- [ ] **a**: b\n  cwd: ../..",
            5,
            8,
            "\"../..\" is outside the project",
        ),
        (
            "- [ ] **a**: b\n  cwd: a/../../b",
            5,
            8,
            "is outside the project",
        ),
        (
            "- [ ] **a**: b\n  cwd: /etc",
            5,
            8,
            "\"/etc\" is outside the project",
        ),
        (
            "- [ ] **a**: b\n  success: {\"type\": \"magic\"}",
            5,
            12,
            "magic",
        ),
        (
            "- [ ] **a**: b\n  - max_iterations: many",
            5,
            21,
            "\"many\" is not a number of iterations",
        ),
        (
            "- [ ] **a**: b\n  max_iterations: 0",
            5,
            19,
            "write 1 or more",
        ),
        (
            "- [ ] **a**: b\n  require_tests: perhaps",
            5,
            18,
            "neither true nor false",
        ),
        (
            "- [ ] **a**: b\n  depends: parsr\n- [ ] **parser**: c",
            4,
            1,
            "which does not exist; did you mean parser?",
        ),
        (
            "- [ ] **a**: b\n  depends: a",
            4,
            1,
            "these tasks depend on each other in a cycle: a -> a",
        ),
    ] {
        let found = mistakes(tasks);
        let is_there = found
            .iter()
            .any(|(l, c, message)| (*l, *c) == (line, column) && message.contains(expected));
        assert!(is_there, "{tasks:?}: {found:?}");
    }
}

#[test]
fn lines_that_look_like_mistakes_are_accepted() {
    for below in [
        "cwd: ./a/../b",
        "success: `cargo test` passes, and `cargo doc` too",
        "success: {\"type\": \"file\", \"path\": \"a`b\"}",
        "success: `sh -c 'if true; then exit 0; fi'`",
    ] {
        let found = mistakes(&format!("- [ ] **a**: b\n  {below}"));

        assert_eq!(found, [], "{below}");
    }
}

#[test]
fn a_cycle_is_reported_once_with_its_path() {
    let found = mistakes(
        "- [ ] **z**: free\n- [ ] **a**: x\n  depends: b, z\n- [ ] **b**: x\n  depends: c\n- [ ] **c**: x\n  depends: a, z\n",
    );

    assert_eq!(
        found,
        [(
            5,
            1,
            "these tasks depend on each other in a cycle: a -> b -> c -> a".to_owned()
        )]
    );
}

#[test]
fn all_mistakes_are_reported_at_once_with_the_file() {
    let error = Roadmap::parse(
        Path::new("docs/ROADMAP.md"),
        "## Tasks\n- [ ] broken\n- broken\n",
    )
    .expect_err("it has mistakes");

    let message = error.to_string();
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 3, "{message}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("docs/ROADMAP.md:")),
        "{message}"
    );
}

#[test]
fn an_empty_file_is_no_roadmap() {
    let error = Roadmap::parse(Path::new("R"), "").expect_err("it is empty");

    assert_eq!(error.findings().len(), 1);
}

#[test]
fn twenty_thousand_tasks_in_a_row_are_no_problem() {
    let mut text = "## Objective\nAll.\n## Tasks\n- [ ] **t0**: x\n".to_owned();
    for number in 1..20_000 {
        text.push_str(&format!(
            "- [ ] **t{number}**: x\n  depends: t{}\n",
            number - 1
        ));
    }

    let roadmap = Roadmap::parse(Path::new("R"), &text).expect("a roadmap");

    assert_eq!(roadmap.tasks.len(), 20_000);
}
