//! Tests of `submit --wait`.

use std::fs;

use autonoe_core::engine::{RunOutcome, RunPhase};
use serde_json::{Value, json};

use super::fake_cluster::{FakeCluster, done, journal};

const WAIT: [&str; 5] = ["submit", "shop", "--run", "shop-1", "--wait"];

#[tokio::test(start_paused = true)]
async fn the_report_and_the_exit_code_are_those_of_a_local_run() {
    let error = json!({"code": "broken", "message": "it broke", "retry": "retryable"});
    for (reason, code) in [
        (json!({"exitReason": "all_passed"}), 0),
        (json!({"exitReason": "all_blocked"}), 3),
        (json!({"exitReason": "max_iterations"}), 4),
        (json!({"exitReason": "quota_exceeded"}), 5),
        (
            json!({"exitReason": "max_retries_exceeded", "error": error}),
            7,
        ),
    ] {
        let cluster = FakeCluster::new();
        cluster
            .run_command(&["submit", "shop", "--run", "shop-1"])
            .await;
        let mut outcome = done("shop-1");
        let report = outcome.output.as_object_mut().expect("a report");
        report.extend(reason.as_object().expect("an object").clone());
        let report = outcome.output.clone();
        cluster.change("shop-1", |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(RunOutcome::succeeded(report.clone()));
        });

        let text = cluster.run_command(&WAIT).await;
        let json = cluster
            .run_command(&[&WAIT[..], &["--output=json"]].concat())
            .await;

        assert_eq!((text.code, json.code), (code, code), "{}", text.screen());
        let summary = "1 of 1 deliverables passed; 2 iterations, 4s, $0.10\n";
        assert!(
            text.stdout.starts_with("Run shop-1 ended: "),
            "{}",
            text.screen()
        );
        assert!(text.stdout.ends_with(summary), "{}", text.screen());
        let last = json.stdout.lines().last().expect("lines");
        let last: Value = serde_json::from_str(last).expect("JSON");
        assert_eq!(last, json!({"run": "shop-1", "report": report}));
    }
}

#[tokio::test(start_paused = true)]
async fn json_output_is_the_journal_and_then_the_report() {
    let cluster = FakeCluster::with_runs();

    let printed = cluster
        .run_command(&[&WAIT[..], &["--output=json"]].concat())
        .await;

    assert_eq!(printed.code, 0, "{}", printed.screen());
    let logs = cluster.run_command(&["logs", "shop-1", "--json"]).await;
    let report = printed
        .stdout
        .strip_prefix(&logs.stdout)
        .expect("the journal");
    assert_eq!(report.lines().count(), 1, "{report}");
    let report: Value = serde_json::from_str(report).expect("JSON");
    let expected = done("shop-1").output;
    assert_eq!(report, json!({"run": "shop-1", "report": expected}));
    assert!(logs.stdout.lines().count() > 5, "{}", logs.stdout);
}

#[tokio::test(start_paused = true)]
async fn sentences_are_those_of_the_journal() {
    let cluster = FakeCluster::new();
    let printed = cluster.run_with_script(&WAIT, async |running| {
        running.until("Run shop-1 was submitted").await;
        cluster.write("build-1", "shop", &journal("shop-1"));
        cluster.change("shop-1", |run| {
            run.phase = RunPhase::Running;
            run.host = Some("build-1".to_owned());
        });
        running.until("Session 2 completed").await;
        cluster.change("shop-1", |run| run.phase = RunPhase::Paused);
        running.until("Paused").await;
        cluster.change("shop-1", |run| run.phase = RunPhase::Running);
        running.until("Resumed").await;
        cluster.change("shop-1", |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(done("shop-1"));
        });
    });
    let printed = printed.await;

    assert_eq!(printed.code, 0, "{}", printed.screen());
    let expected = "\
Run shop-1 was submitted\n\
2026-01-01 00:00:00Z  Flow hosted started (shop-1)\n\
2026-01-01 00:00:00Z  Session 1 started (initializer)\n\
2026-01-01 00:00:00Z    [PENDING] A greeting [2J (DL-001)\n\
2026-01-01 00:00:00Z  Session 1 completed (2s, $0.05, 1 change)\n\
2026-01-01 00:00:00Z  Resumed\n\
2026-01-01 00:00:00Z  Session 2 started (coding)\n\
2026-01-01 00:00:00Z    [DENIED] Bash: rm -rf /\n\
2026-01-01 00:00:00Z      bash-security: rm is not allowed\n\
2026-01-01 00:00:00Z    [PASS] A greeting (DL-001)\n\
2026-01-01 00:00:00Z  Session 2 completed (2s, $0.05, 1 change, 1 call denied)\n\
Paused\n\
Resumed\n";
    assert_eq!(printed.stderr, expected);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_wait_leaves_the_run_at_work() {
    let cluster = FakeCluster::new();
    let printed = cluster.run_with_script(&WAIT, async |running| {
        running.until("Run shop-1 was submitted").await;
        running.interrupt();
    });
    let printed = printed.await;

    assert_eq!(printed.code, 130, "{}", printed.screen());
    let ways = "the run shop-1 continues; `autonoe-cluster logs shop-1 --follow` follows it, \
        `autonoe-cluster cancel shop-1` ends it\n";
    assert!(printed.stderr.ends_with(ways), "{}", printed.screen());
    let run = cluster.run("shop-1").expect("it is there");
    assert_eq!((run.outcome, run.instructions), (None, Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_before_the_answer_is_reported() {
    let cluster = FakeCluster::new();
    let words = [&WAIT[..], &["--host=silent"]].concat();
    let printed = cluster.run_with_script(&words, async |running| running.interrupt());
    let printed = printed.await;

    assert_eq!(printed.code, 130, "{}", printed.screen());
    let words = "it is unknown whether the run shop-1 was submitted; if it was, `autonoe-cluster";
    assert!(printed.stderr.starts_with(words), "{}", printed.screen());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_without_a_report_ends_as_an_interrupted_one() {
    let cluster = FakeCluster::new();
    cluster
        .run_command(&["submit", "shop", "--run", "shop-1"])
        .await;
    cluster.change("shop-1", |run| {
        run.outcome = Some(RunOutcome::cancelled("enough"));
    });

    let printed = cluster.run_command(&WAIT).await;

    assert_eq!(
        (printed.code, printed.stdout.as_str()),
        (130, ""),
        "{}",
        printed.screen()
    );
    let expected = "It was cancelled: enough";
    assert!(printed.stderr.contains(expected), "{}", printed.screen());
}

#[tokio::test(start_paused = true)]
async fn the_reason_for_missing_progress_is_printed_once() {
    let cluster = FakeCluster::new();
    let printed = cluster.run_with_script(&WAIT, async |running| {
        running.until("Run shop-1 was submitted").await;
        for reason in ["no host has the project", "the disk is full"] {
            cluster.change("shop-1", |run| run.last_error = Some(reason.to_owned()));
            let line = format!("The run makes no progress: {reason}");
            running.until(&line).await;
        }
        cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));
    });
    let printed = printed.await;

    assert_eq!(printed.code, 0, "{}", printed.screen());
    let count = printed.stderr.matches("makes no progress").count();
    assert_eq!(count, 2, "{}", printed.screen());
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_journal_does_not_end_the_wait() {
    let cluster = FakeCluster::new();
    let printed = cluster.run_with_script(&WAIT, async |running| {
        running.until("Run shop-1 was submitted").await;
        let folder = cluster.project("build-1", "shop").join(".autonoe");
        fs::create_dir_all(folder.join("journal.jsonl")).expect("writable");
        cluster.change("shop-1", |run| run.host = Some("build-1".to_owned()));
        running
            .until("warning: cannot read the journal for now")
            .await;
        cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));
    });
    let printed = printed.await;

    assert_eq!(printed.code, 0, "{}", printed.screen());
    let count = printed.stderr.matches("cannot read the journal").count();
    assert_eq!(count, 1, "{}", printed.screen());
}
