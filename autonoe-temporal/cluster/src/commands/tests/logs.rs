//! Tests of `logs`: journals on other hosts.

use autonoe_core::engine::RunPhase;
use serde_json::{Value, json};

use super::fake_cluster::{FakeCluster, done, journal, session_ended, written};

#[tokio::test(start_paused = true)]
async fn lines_are_those_of_the_journal() {
    let cluster = FakeCluster::with_runs();

    let logs = cluster.run_command(&["logs", "shop-1"]).await;
    let json = cluster.run_command(&["logs", "shop-1", "--json"]).await;

    assert_eq!((logs.code, json.code), (0, 0), "{}", logs.screen());
    let end = "Run shop-1 ended: all achievable deliverables passed\n\
        1 of 1 deliverables passed; 2 iterations, 4s, $0.10\n";
    assert!(logs.stdout.ends_with(end), "{}", logs.screen());
    let denied = "[DENIED] Bash: rm -rf /";
    assert!(logs.stdout.contains(denied), "{}", logs.screen());
    assert!(!logs.stdout.contains('\u{1b}'));
    let lines = |text: &str| -> Vec<Value> {
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect()
    };
    assert_eq!(lines(&json.stdout), lines(&journal("shop-1")));
}

#[tokio::test(start_paused = true)]
async fn prints_the_follow_hint_for_a_running_run() {
    let cluster = FakeCluster::with_runs();

    let printed = cluster.run_command(&["logs", "held"]).await;

    let hint = "The run is in progress; `autonoe-cluster logs held --follow` follows it.\n";
    assert!(printed.stdout.ends_with(hint), "{}", printed.screen());
}

#[tokio::test(start_paused = true)]
async fn many_lines_are_read_in_pages() {
    let cluster = FakeCluster::with_runs();
    let long = "x".repeat(10_000);
    for number in 0..100 {
        let line = json!({"line": "denied", "session": 2, "tool": "Bash",
            "by": "test", "reason": format!("{number} {long}")});
        let line = written("held", line);
        cluster.write("build-1", "shop", &format!("{line}\n"));
    }

    let printed = cluster.run_command(&["logs", "held", "--json"]).await;

    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let numbers: Vec<usize> = printed
        .stdout
        .lines()
        .filter_map(|line| {
            line.split_once("\"reason\":\"")?
                .1
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_followed_to_its_end_on_another_host() {
    let cluster = FakeCluster::with_runs();
    let follow = ["logs", "held", "--follow"];
    let printed = cluster.run_with_script(&follow, async |running| {
        running.until("Session 2 completed").await;
        // The run moves. The unpublished part of its last session is repeated there.
        let all = journal("held");
        let published: String = all.split_inclusive('\n').take(8).collect();
        cluster.write("build-2", "shop", &published);
        cluster.change("held", |run| run.host = Some("build-2".to_owned()));
        let line = json!({"line": "verified", "session": 2, "id": "DL-001"});
        cluster.write("build-2", "shop", &format!("{}\n", written("held", line)));
        running.until("[VERIFIED] DL-001").await;
        let line = written("held", session_ended(3));
        cluster.write("build-2", "shop", &format!("{line}\n"));
        cluster.change("held", |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(done("held"));
        });
    });
    let printed = printed.await;

    let stdout = &printed.stdout;
    assert_eq!(printed.code, 0, "{}", printed.screen());
    assert!(stdout.contains("Session 3 completed"), "{stdout}");
    assert!(
        stdout.contains("Run held ended: all achievable deliverables passed"),
        "{stdout}"
    );
    assert_eq!(stdout.matches("Session 1 started").count(), 1, "{stdout}");
    assert_eq!(stdout.matches("Session 2 completed").count(), 1, "{stdout}");
}

#[tokio::test(start_paused = true)]
async fn an_unclaimed_run_has_no_journal() {
    let cluster = FakeCluster::with_runs();
    cluster
        .run_command(&["submit", "shop", "--run", "new"])
        .await;

    let printed = cluster.run_command(&["logs", "new"]).await;

    let expected = "\
exit 0\n\
--- stdout\n\
The run new has recorded nothing yet.\n\
No host has started it yet.\n\
--- stderr\n";
    assert_eq!(printed.screen(), expected);
}

#[tokio::test(start_paused = true)]
async fn the_reason_for_missing_progress_is_printed_without_a_journal() {
    let cluster = FakeCluster::with_runs();
    cluster
        .run_command(&["submit", "shop", "--run", "new"])
        .await;
    let reason = "no host has the project shop";
    cluster.change("new", |run| run.last_error = Some(reason.to_owned()));

    let text = cluster.run_command(&["logs", "new"]).await;
    let json = cluster.run_command(&["logs", "new", "--json"]).await;
    let status = cluster.run_command(&["status", "new"]).await;
    let status_json = cluster
        .run_command(&["status", "new", "--output=json"])
        .await;

    let line = format!("It makes no progress: {reason}\n");
    for printed in [&text.stdout, &json.stderr, &status.stdout] {
        assert!(printed.contains(&line), "{printed}");
    }
    assert_eq!((text.code, json.stdout.as_str()), (0, ""));
    let view: serde_json::Value = serde_json::from_str(&status_json.stdout).expect("JSON");
    assert_eq!(view["lastError"], reason);
}

#[tokio::test(start_paused = true)]
async fn a_corrupt_line_is_an_error_that_names_the_host() {
    let cluster = FakeCluster::with_runs();
    cluster.write("build-1", "shop", "rubbish\n");

    for words in [&["logs", "shop-1"][..], &["logs", "shop-1", "--follow"]] {
        let printed = cluster.run_command(words).await;

        assert_eq!((printed.code, printed.stdout.as_str()), (1, ""));
        for part in ["line 19 of the journal", "the host build-1"] {
            assert!(printed.stderr.contains(part), "{}", printed.screen());
        }
    }
}
