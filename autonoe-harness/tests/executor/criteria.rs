//! Tests of criteria with real files and commands.

use std::fs;
use std::time::{Duration, SystemTime};

use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{
    AllOf, CRITERION_PORT, CommandCriterion, FileCriterion, TestsCriterion, Verification,
};
use autonoe_harness::{Executor, SuccessCriteria, Task};
use autonoe_testkit::conformance;
use serde_json::json;

use crate::executor::fixture::{Fixture, commands, done, task};

/// More time than any command of these tests needs.
const AMPLE: Duration = Duration::from_secs(60);

/// Verifies criteria after an agent has finished, in a folder that `prepare` has filled.
async fn verify(
    criteria: impl Into<SuccessCriteria>,
    prepare: impl FnOnce(&std::path::Path),
) -> Verification {
    let mut fixture = Fixture::new([done()]);
    fixture.executor = fixture.executor.commands(commands());
    let task = task("Do it.").success_criteria(criteria);
    let result = fixture.run(&task).await;
    assert!(result.is_success(), "{result:?}");
    prepare(fixture.path());
    let budget = VerificationBudget::default();
    let verified = fixture.executor.verify_success(&task, &result, &budget);
    tokio::time::timeout(AMPLE, verified)
        .await
        .expect("in time")
}

fn sh(script: &str) -> [String; 3] {
    ["sh", "-c", script].map(str::to_owned)
}

fn word(verification: &Verification) -> &'static str {
    match verification {
        Verification::Passed { .. } => "passed",
        Verification::Failed { .. } => "failed",
        Verification::Unverified { .. } => "unverified",
    }
}

#[tokio::test]
async fn a_command_counts_by_its_exit_code_and_not_by_its_output() {
    for (criterion, expected) in [
        (
            CommandCriterion::new(sh("echo error: failed; exit 0")),
            "passed",
        ),
        (CommandCriterion::new(sh("echo success; exit 1")), "failed"),
        (
            CommandCriterion {
                exit_code: 3,
                ..CommandCriterion::new(sh("exit 3"))
            },
            "passed",
        ),
        (CommandCriterion::new(sh("kill -9 $$")), "failed"),
        // The working directory is the folder of the task.
        (CommandCriterion::new(sh("test -f out.txt")), "passed"),
        (
            CommandCriterion::new(["there-is-no-such-program"]),
            "unverified",
        ),
        (
            CommandCriterion {
                timeout_seconds: 1,
                ..CommandCriterion::new(sh("sleep 600"))
            },
            "failed",
        ),
    ] {
        let verified = verify(criterion.clone(), |folder| {
            fs::write(folder.join("out.txt"), "x").expect("a file");
        });
        let verified = verified.await;

        assert_eq!(word(&verified), expected, "{criterion:?}: {verified}");
    }
}

#[tokio::test]
async fn an_executor_without_commands_runs_none() {
    let fixture = Fixture::new([done()]);
    let task = task("Do it.").success_criteria(CommandCriterion::new(["true"]));

    let result = fixture.run(&task).await;
    let verified = fixture
        .executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert_eq!(word(&verified), "unverified", "{verified}");
}

#[tokio::test]
async fn file_criterion_checks_existence_content_and_hash() {
    // The SHA-256 of "hello".
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let file = FileCriterion::new;
    for (criterion, expected) in [
        (file("hello.txt"), "passed"),
        (file("./hello.txt"), "passed"),
        (file("hello.txt").contains("ell"), "passed"),
        (file("hello.txt").contains("Hello"), "failed"),
        (file("hello.txt").sha256(hello), "passed"),
        (file("hello.txt").sha256(hello.to_uppercase()), "passed"),
        (file("hello.txt").sha256("0".repeat(64)), "failed"),
        (file("empty.txt"), "failed"),
        (file("missing.txt"), "failed"),
        (file("folder"), "failed"),
        (file("outside"), "failed"),
    ] {
        let verified = verify(criterion.clone(), |folder| {
            fs::write(folder.join("hello.txt"), "hello").expect("a file");
            fs::write(folder.join("empty.txt"), "").expect("a file");
            fs::create_dir(folder.join("folder")).expect("a folder");
            std::os::unix::fs::symlink("/etc/hostname", folder.join("outside")).expect("a link");
        });
        let verified = verified.await;

        assert_eq!(word(&verified), expected, "{criterion:?}: {verified}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_from_before_the_task_is_not_its_work() {
    for (age, expected) in [
        (Duration::from_secs(10), "failed"),
        (Duration::ZERO, "passed"),
    ] {
        let fixture = Fixture::new([done()]);
        let task = task("Do it.").success_criteria(FileCriterion::new("out.txt").modified());
        let result = fixture.run(&task).await;
        fs::write(fixture.path().join("out.txt"), "x").expect("a file");
        let written = SystemTime::from(result.started_at) - age;
        let file = fs::File::options()
            .write(true)
            .open(fixture.path().join("out.txt"));
        let file = file.expect("a file");
        file.set_modified(written).expect("a time");

        let verified = fixture
            .executor
            .verify_success(&task, &result, &VerificationBudget::default())
            .await;

        assert_eq!(word(&verified), expected, "{age:?}: {verified}");
    }
}

#[tokio::test]
async fn tests_count_by_the_report_that_was_written_now() {
    let suite = |cases: &str| format!("<testsuite name='s'>{cases}</testsuite>");
    let writes =
        |report: &str, then: &str| sh(&format!("cat > junit.xml <<'END'\n{report}\nEND\n{then}"));
    let two = suite("<testcase name='a'/><testcase name='b'/>");
    let none = suite("");
    let red = suite("<testcase name='a'/><testcase name='b'><failure/></testcase>");
    let skipped = suite("<testcase name='a'><skipped/></testcase>");
    for (command, at_least, expected) in [
        (writes(&two, "exit 0"), 2, "passed"),
        (writes(&two, "exit 0"), 3, "failed"),
        (writes(&two, "exit 1"), 1, "failed"),
        // No test ran, which is not a success.
        (writes(&none, "exit 0"), 1, "failed"),
        (writes(&skipped, "exit 0"), 1, "failed"),
        // It exits with 0 and reports a failure.
        (writes(&red, "exit 0"), 1, "failed"),
        // The old report is not about these tests.
        (sh("exit 0"), 1, "failed"),
        (sh("rm junit.xml"), 1, "failed"),
        (writes("5 passed", "exit 0"), 1, "unverified"),
    ] {
        let criterion = TestsCriterion {
            at_least,
            ..TestsCriterion::new(command.clone(), "junit.xml")
        };
        let verified = verify(criterion, |folder| {
            fs::write(folder.join("junit.xml"), &two).expect("a report");
        });
        let verified = verified.await;

        assert_eq!(word(&verified), expected, "{command:?}: {verified}");
    }
}

#[tokio::test]
async fn tests_that_passed_are_counted() {
    let mut fixture = Fixture::new([done()]);
    fixture.executor = fixture.executor.commands(commands());
    let script =
        "echo '<testsuite><testcase name=\"a\"/><testcase name=\"b\"/></testsuite>' >junit.xml";
    let task = task("Do it.").success_criteria(TestsCriterion::new(sh(script), "junit.xml"));
    let result = fixture.run(&task).await;

    let verified = fixture
        .executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert_eq!(verified.tests_passed(), Some(2), "{verified}");
}

#[tokio::test]
async fn every_failed_criterion_is_reported() {
    let criteria = AllOf::new([
        FileCriterion::new("a.txt").into(),
        CommandCriterion::new(["true"]).into(),
        FileCriterion::new("b.txt").into(),
    ]);

    let verified = verify(criteria, |_| {}).await;

    let both = "the file a.txt does not exist; the file b.txt does not exist";
    assert_eq!(verified, Verification::failed(both));
}

#[test]
fn criteria_are_validated_before_anything_starts() {
    for (criteria, is_right) in [
        (json!("It works."), true),
        (json!(" "), false),
        (json!({"type": "judge", "statement": ""}), false),
        (json!({"type": "command", "command": []}), false),
        (
            json!({"type": "command", "command": ["true"], "timeoutSeconds": 0}),
            false,
        ),
        (json!({"type": "file", "path": "../a"}), false),
        (json!({"type": "file", "path": "/etc/passwd"}), false),
        (json!({"type": "file", "path": "a", "sha256": "abc"}), false),
        (json!({"type": "file", "path": "a", "contains": ""}), false),
        (
            json!({"type": "tests", "command": ["t"], "report": "r.xml"}),
            true,
        ),
        (
            json!({"type": "tests", "command": ["t"], "report": "r.xml", "atLeast": 0}),
            false,
        ),
        (json!({"type": "all", "criteria": []}), false),
        (
            json!({"type": "any", "criteria": ["ok", {"type": "all", "criteria": [" "]}]}),
            false,
        ),
    ] {
        let json = json!({"id": "T-1", "goal": "Do it.", "successCriteria": criteria});
        let task: Task = serde_json::from_value(json.clone()).expect("it can be read");

        assert_eq!(task.validate().is_ok(), is_right, "{criteria}");
        let mut written = serde_json::to_value(&task).expect("it serialises");
        written
            .as_object_mut()
            .map(|fields| fields.remove("timeoutSeconds"));
        let parsed: Task = serde_json::from_value(written).expect("it can be read");
        assert_eq!(parsed, task);
    }
}

#[test]
fn every_criterion_has_a_schema_and_an_example() {
    conformance::specs().assert();
    let tags: Vec<_> = autonoe_core::spec::registered_specs(CRITERION_PORT)
        .iter()
        .map(|spec| spec.tag)
        .collect();
    assert_eq!(tags, ["all", "any", "command", "file", "judge", "tests"]);
}

#[test]
fn the_schema_of_a_task_names_every_criterion() {
    let schema = schemars::schema_for!(Task).to_value().to_string();
    for tag in ["all", "any", "command", "file", "judge", "tests"] {
        assert!(
            schema.contains(&format!(r#"{{"const":"{tag}"}}"#)),
            "{tag}: {schema}"
        );
    }
}
