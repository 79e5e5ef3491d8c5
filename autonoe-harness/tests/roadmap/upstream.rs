//! Tests of roadmaps written for um-agent-coder.

use std::path::Path;

use autonoe_harness::{FleetOrder, Graph, Parallel, Roadmap, SuccessCriteria};

fn read(text: &str) -> Roadmap {
    Roadmap::parse(Path::new("roadmap.md"), text).expect("a roadmap")
}

fn depends(roadmap: &Roadmap) -> Vec<(&str, Vec<&str>)> {
    let tasks = roadmap.tasks.iter();
    tasks
        .map(|planned| {
            let depends = planned.depends.iter().map(|id| id.as_str());
            (planned.task.id.as_str(), depends.collect())
        })
        .collect()
}

fn warnings(roadmap: &Roadmap) -> Vec<(usize, &str)> {
    let warnings = roadmap.warnings.iter();
    warnings
        .map(|found| (found.line, found.message.as_str()))
        .collect()
}

const PHASES: &str = "\
# Roadmap: Photo Album

## Objective
An album of pictures in the browser.

## Constraints
- Max time per task: 45 min
- Max retries per task: 2

## Success Criteria
- [ ] pictures can be uploaded
- [x] the page loads

## Tasks

### Phase 1: Foundation

- [x] **store-001**: Keep pictures on disk.
  - timeout: 20min
  - depends: none
- [ ] **store-002**: Make thumbnails.

### Phase 2: Later
Nothing is planned for it yet.

### Phase 3: Pages

- [ ] **page-001**: Show an album.
  - timeout: 45min
- [ ] **page-002**: A page about the project.
  - depends: none
- [ ] **page-003**: Upload a picture.
  - depends: page-001
  - success: a picture can be uploaded

## Growth Mode
1. Find slow pages.
";

#[test]
fn phases_follow_each_other_unless_a_task_has_dependencies() {
    let roadmap = read(PHASES);

    assert_eq!(
        depends(&roadmap),
        [
            ("store-001", vec![]),
            ("store-002", vec![]),
            ("page-001", vec!["store-001", "store-002"]),
            ("page-002", vec![]),
            ("page-003", vec!["page-001"]),
        ]
    );
    assert_eq!(roadmap.title.as_deref(), Some("Photo Album"));
    assert_eq!(
        roadmap.success_criteria,
        ["pictures can be uploaded", "the page loads"]
    );
    assert_eq!(
        warnings(&roadmap),
        [(
            36,
            "this section has no effect: no tasks are added when all are done"
        )]
    );
}

#[test]
fn tasks_of_phases_cannot_all_be_done_at_once() {
    let roadmap = read(PHASES);

    let refused = FleetOrder::from_tasks("album", &roadmap, Parallel {});

    let message = refused.expect_err("page-001 has to wait").to_string();
    assert!(message.contains("page-001"), "{message}");
}

#[test]
fn tasks_before_the_first_phase_come_before_it_and_deeper_headings_are_notes() {
    let roadmap = read(
        "## Tasks\n- [ ] **a**: One.\n#### A note\n- [ ] **b**: Two.\n### Last\n- [ ] **c**: Three.\n",
    );

    assert_eq!(
        depends(&roadmap),
        [("a", vec![]), ("b", vec![]), ("c", vec!["a", "b"])]
    );
}

const AUTONOMOUS: &str = "\
# Report generator

A file without an objective.

## Tasks

- [ ] **report-001**: Write a report as HTML
  - ralph: true
  - max_iterations: 50
  - max_time: 30m
  - cli: codex, gemini,claude
  - model: gpt-5.2
  - stuck_after: 5
  - completion_promise: REPORT_DONE
  - require_tests: true
  - test_path: tests/report
  - success: the page is readable

  Goal: A module that
  1. reads the numbers
  2. writes a page

- [ ] **report-002**: Print it
  - cli: auto
  - require_tests: yes
- [ ] **report-003**: Send it
  - require_tests: false
  - test_path: tests
";

#[test]
fn a_template_of_the_autonomous_loop_is_parsed_with_warnings() {
    let roadmap = read(AUTONOMOUS);
    let [first, second, third] = roadmap.tasks.as_slice() else {
        panic!("{:?}", roadmap.tasks)
    };

    assert_eq!(roadmap.objective, "Report generator");
    assert_eq!(first.max_iterations, Some(50));
    assert_eq!(first.task.cli.as_deref(), Some("codex"));
    assert_eq!(first.fallbacks, ["gemini", "claude"]);
    assert_eq!(first.task.model.as_deref(), Some("gpt-5.2"));
    assert_eq!(
        first.task.goal,
        "A module that\n1. reads the numbers\n2. writes a page"
    );
    assert_eq!(
        json(&first.task.success_criteria),
        serde_json::json!({"type": "all", "criteria": [
            "the page is readable",
            {"type": "command", "command": ["python3", "-m", "pytest", "tests/report"]},
        ]})
    );
    assert_eq!((&second.task.cli, second.fallbacks.len()), (&None, 0));
    assert_eq!(
        json(&second.task.success_criteria),
        serde_json::json!(
            {"type": "command", "command": ["python3", "-m", "pytest", "tests"]}
        )
    );
    assert_eq!(third.task.success_criteria, None);
    assert_eq!(
        warnings(&roadmap),
        [
            (
                8,
                "ralph has no effect: every task is retried until it is verified; see \
                 max_iterations"
            ),
            (10, "max_time has no effect: write `timeout`"),
            (
                13,
                "stuck_after has no effect: stuck agents are always detected"
            ),
            (
                14,
                "completion_promise has no effect: an agent cannot complete a task by saying so; \
                 write `success`"
            ),
            (
                15,
                "require_tests runs `python3 -m pytest tests/report`: for other tests, write \
                 their command as `success` instead"
            ),
            (
                25,
                "require_tests runs `python3 -m pytest tests`: for other tests, write their \
                 command as `success` instead"
            ),
            (28, "test_path has no effect without `require_tests: true`"),
        ]
    );
}

const DESCRIBED: &str = "\
## Tasks
- [ ] **auth-001**: Log users in.
  - timeout: 30min
  - max_iterations: unlimited
  - success: a user can log in

  Requirements:
  - passwords are hashed
  - a session ends after a day
  Focus:
  - few dependencies
- [ ] **auth-002**: Log users out.
";

#[test]
fn a_word_with_a_colon_and_no_value_is_part_of_the_description() {
    let roadmap = read(DESCRIBED);
    let [first, second] = roadmap.tasks.as_slice() else {
        panic!("{:?}", roadmap.tasks)
    };

    assert_eq!(
        first.task.goal,
        "Log users in.\nRequirements:\npasswords are hashed\na session ends after a day\nFocus:\n\
         few dependencies"
    );
    assert_eq!(first.task.timeout_seconds, 1800);
    assert_eq!(second.task.goal, "Log users out.");
}

#[test]
fn unlimited_iterations_are_those_of_the_order_with_a_warning() {
    let roadmap = read(DESCRIBED);

    assert_eq!(roadmap.tasks[0].max_iterations, None);
    assert_eq!(
        warnings(&roadmap),
        [(
            4,
            "max_iterations: unlimited has no effect: the limit of all tasks applies; see \
             --max-iterations"
        )]
    );
}

fn json(criteria: &Option<SuccessCriteria>) -> serde_json::Value {
    serde_json::to_value(criteria).expect("criteria are data")
}

#[test]
fn every_key_of_the_upstream_format_is_accepted_or_listed() {
    let keys = [
        ("ralph", "true"),
        ("max_iterations", "7"),
        ("completion_promise", "DONE"),
        ("require_tests", "false"),
        ("goal_validate", "true"),
        ("goal_threshold", "0.9"),
        ("daemon_url", "https://example.com"),
        ("scoring_interval", "3"),
        ("inject_checklist", "true"),
        ("oscillation_detection", "true"),
        ("worktree", "true"),
        ("worktree_base", "main"),
        ("auto_merge", "false"),
        ("issue", "#12"),
        ("sync_github", "true"),
        ("depends", "none"),
        ("timeout", "30"),
        ("success", "it works"),
        ("cwd", "./"),
        ("cli", "codex"),
        ("model", "gpt-5.2"),
    ];
    let own_keys = [
        "max_iterations",
        "require_tests",
        "depends",
        "timeout",
        "success",
        "cwd",
        "cli",
        "model",
    ];
    for (key, value) in keys {
        let roadmap = read(&format!(
            "## Tasks\n- [ ] **a**: One.\n  - {key}: {value}\n"
        ));

        let listed: Vec<_> = warnings(&roadmap).into_iter().map(|it| it.0).collect();
        let expected = Vec::from_iter((!own_keys.contains(&key)).then_some(3));
        assert_eq!(listed, expected, "{key}");
        assert_eq!(roadmap.tasks[0].task.goal, "One.", "{key}");
    }
}

#[test]
fn prompts_without_an_objective_do_not_mention_one() {
    let roadmap = read("## Tasks\n- [ ] **a**: One.\n");

    let order = FleetOrder::from_tasks("x", &roadmap, Graph::default()).expect("an order");

    assert_eq!(order.objective, "");
    assert_eq!(order.members[0].work.tasks[0].task.context, None);
}
