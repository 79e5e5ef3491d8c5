//! Tests of `autonoe run --dry-run` and `autonoe sync --dry-run`.

use serde_json::Value;

use crate::commands::fixture::Fixture;

const ONE_PENDING: &str = r#"{"deliverables": [{"id": "A", "description": "x",
    "acceptanceCriteria": ["y"], "passed": false, "blocked": false}]}"#;
const ONE_PASSED: &str = r#"{"deliverables": [{"id": "A", "description": "x",
    "acceptanceCriteria": ["y"], "passed": true, "blocked": false}]}"#;

/// Without the browser, whose tools would fill a screen.
fn fixture() -> Fixture {
    Fixture::new()
        .file("SPEC.md", "# Shop\n")
        .file(".autonoe/agent.json", "{\"mcpServers\": {}}")
}

#[test]
fn a_dry_run_without_a_ledger_prints_the_first_step_and_the_source_of_each_setting() {
    let fixture = fixture().file(
        ".autonoe/agent.json",
        "{\n  \"profile\": \"rust\",\n  \"allowCommands\": [\"docker\"],\n  \"mcpServers\": {}\n}",
    );
    let before = fixture.files();

    let output = fixture.autonoe(&[
        "run",
        "--dry-run",
        "-n",
        "5",
        "--max-cost",
        "2.50",
        "-m",
        "sonnet",
        "--plan-model",
        "opus",
        "-D",
        "--thinking",
    ]);

    insta::assert_snapshot!(output.screen());
    assert_eq!(fixture.files(), before);
}

#[test]
fn a_dry_run_of_sync_prints_the_sync_instruction() {
    let fixture = fixture()
        .file(".autonoe/status.json", ONE_PASSED)
        .file(".autonoe/sync.md", "Compare.\nThen list.\n");

    let output = fixture.autonoe(&["sync", "--dry-run", "--no-sandbox"]);

    insta::assert_snapshot!(output.screen());
}

#[test]
fn the_built_in_browser_is_there_in_run_mode_only() {
    let fixture = Fixture::new().file("SPEC.md", "# Shop\n");

    let run = fixture.autonoe(&["run", "--dry-run"]).stdout;
    let sync = fixture.autonoe(&["sync", "--dry-run"]).stdout;

    assert!(run.contains("@playwright/mcp") && run.contains("mcp__playwright__browser_navigate"));
    assert!(sync.contains("(off in sync mode)") && !sync.contains("browser_navigate"));
}

#[test]
fn json_output_matches_snapshot() {
    let fixture = fixture().file(".autonoe/status.json", ONE_PENDING);

    let output = fixture.autonoe(&["run", "--dry-run", "--output", "json"]);

    let json: Value = serde_json::from_str(&output.stdout).expect("JSON");
    insta::assert_json_snapshot!(json);
}

#[test]
fn a_dry_run_shows_the_model_that_the_backend_names() {
    let config =
        r#"{"backend": {"type": "gemini", "model": "gemini-2.5-flash"}, "mcpServers": {}}"#;
    let fixture = fixture().file(".autonoe/agent.json", config);

    for (args, model) in [
        (&["run", "--dry-run"][..], "gemini-2.5-flash"),
        (
            &["run", "--dry-run", "-m", "gemini-2.5-pro"],
            "gemini-2.5-pro",
        ),
    ] {
        let output = fixture.autonoe(args);
        let row = format!("  model        {model}\n");
        assert!(output.stdout.contains(&row), "{}", output.screen());
    }
}

#[test]
fn a_finished_project_would_end_at_once() {
    let fixture = fixture().file(".autonoe/status.json", ONE_PASSED);

    let output = fixture.autonoe(&["run", "--dry-run"]);

    let line = "ends immediately  all achievable deliverables passed";
    assert!(output.stdout.contains(line), "{}", output.screen());
}

#[test]
fn dry_run_reports_errors_that_prevent_a_run() {
    for (name, fixture) in [
        ("no_specification", Fixture::new()),
        (
            "broken_configuration",
            fixture().file(".autonoe/agent.json", "{\n  \"profile\": \"cobol\"\n}"),
        ),
        ("broken_ledger", fixture().file(".autonoe/status.json", "{")),
        (
            "broken_journal",
            fixture().file(".autonoe/journal.jsonl", "{}\n"),
        ),
        (
            "blank_instruction",
            fixture().file(".autonoe/initializer.md", " "),
        ),
    ] {
        let output = fixture.autonoe(&["run", "--dry-run"]);

        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{name}");
        insta::assert_snapshot!(name, output.stderr);
    }
}

// Shows: spec/8.3/sync-options
#[test]
fn a_dry_run_prints_the_run_to_resume_with_the_passed_limits() {
    let journal = include_str!("fixtures/broken_off_sync.jsonl");
    let fixture = fixture()
        .file(".autonoe/journal.jsonl", journal)
        .file(
            ".autonoe/status.json",
            r#"{"deliverables": [
                {"id": "DL-001", "description": "x", "acceptanceCriteria": ["y"], "passed": true, "blocked": false},
                {"id": "DL-002", "description": "x", "acceptanceCriteria": ["y"], "passed": false, "blocked": true,
                 "deprecatedAt": "2026-02-01"}]}"#,
        );

    let output = fixture.autonoe(&["sync", "--dry-run", "--max-retries", "9"]);

    insta::assert_snapshot!(output.screen());
    // A run does not resume a sync.
    let run = fixture.autonoe(&["run", "--dry-run"]);
    assert!(!run.stdout.contains("resumes "), "{}", run.screen());
}

// Shows: spec/8.3/sync-options
#[test]
fn a_sync_still_refuses_to_be_destructive() {
    assert_eq!(fixture().autonoe(&["sync", "--dry-run", "-D"]).code, 2);
}
