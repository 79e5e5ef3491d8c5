//! Tests of `--run` in `autonoe log` and `autonoe report`, which accept the same values.

use crate::commands::fixture::{CommandOutput, Fixture};

/// Two runs that were started.
fn two_runs() -> Fixture {
    let lines: String = ["01run-a", "01run-b"]
        .map(|run| {
            format!(
                "{{\"v\":1,\"run\":\"{run}\",\"at\":\"2026-01-31T12:00:00Z\",\
                 \"line\":\"run_started\",\"limits\":{LIMITS},\"epoch\":1}}\n"
            )
        })
        .concat();
    Fixture::new().file(".autonoe/journal.jsonl", lines)
}

const LIMITS: &str =
    r#"{"mode":"run","maxIterations":null,"maxRetries":3,"maxStalledSessions":5,"onQuota":"stop"}"#;

fn both(fixture: &Fixture, id: &str) -> [CommandOutput; 2] {
    [
        fixture.autonoe(&["log", "--run", id]),
        fixture.autonoe(&["report", "--output=-", "--run", id]),
    ]
}

#[test]
fn log_and_report_print_the_same_error_for_an_unknown_run() {
    let (some, none) = (two_runs(), Fixture::new());
    for (fixture, id, name) in [
        (&some, "no-such", "unknown"),
        (&some, "", "blank"),
        (&some, "01run", "not_clear"),
        (&none, "no-such", "no_runs"),
        (&none, " ", "no_runs_and_blank"),
    ] {
        let [log, report] = both(fixture, id);

        insta::assert_snapshot!(name, log.screen());
        assert_eq!(log.screen(), report.screen());
        assert_eq!((log.code, log.stdout.as_str()), (2, ""));
    }
}

#[test]
fn log_and_report_accept_an_id_prefix() {
    for id in ["01run-a", "01run-b"] {
        for output in both(&two_runs(), id) {
            assert_eq!(output.code, 0, "{}", output.screen());
            assert!(output.stdout.contains(id), "{}", output.screen());
        }
    }
}

#[test]
fn log_and_report_find_runs_in_rotated_journals() {
    let fixture = two_runs();
    let journal = fixture.read(".autonoe/journal.jsonl");
    let (first, second) = journal.split_once('\n').expect("two lines");
    let fixture = fixture
        .file(".autonoe/journal.1.jsonl", format!("{first}\n"))
        .file(".autonoe/journal.jsonl", second);

    for output in both(&fixture, "01run-a") {
        assert_eq!(output.code, 0, "{}", output.screen());
        assert!(output.stdout.contains("01run-a"), "{}", output.screen());
    }
}
