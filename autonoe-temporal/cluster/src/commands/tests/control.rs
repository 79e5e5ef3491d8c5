//! Tests of `status`, `pause`, `resume`, `send` and `cancel`.

use autonoe_core::engine::{RunInstruction, RunPhase, RunView};

use super::fake_cluster::FakeCluster;

#[tokio::test(start_paused = true)]
async fn status_prints_the_state_of_a_run_as_text() {
    let cluster = FakeCluster::with_runs();

    let held = cluster.run_command(&["status", "held"]).await;
    let ended = cluster.run_command(&["status", "shop-1"]).await;

    let expected = "\
exit 0\n\
--- stdout\n\
Run held: running\n\
\x20 project   shop (run)\n\
\x20 host      build-1\n\
\x20 progress  0%, session 0\n\
\x20 spent     $0.00, 0s\n\
--- stderr\n";
    assert_eq!(held.screen(), expected);
    let expected = "\
exit 0\n\
--- stdout\n\
Run shop-1: ended\n\
\x20 project   shop (run)\n\
\x20 host      build-1\n\
\x20 spent     $0.00, 0s\n\
Run shop-1 ended: all achievable deliverables passed\n\
1 of 1 deliverables passed; 2 iterations, 4s, $0.10\n\
--- stderr\n";
    assert_eq!(ended.screen(), expected);
}

#[tokio::test(start_paused = true)]
async fn status_prints_the_state_of_a_run_as_json() {
    let cluster = FakeCluster::with_runs();

    let printed = cluster
        .run_command(&["status", "shop-1", "--output", "json"])
        .await;

    let view: RunView = serde_json::from_str(&printed.stdout).expect("a view");
    assert_eq!(view.phase, RunPhase::Ended);
    assert_eq!(view.host.as_deref(), Some("build-1"));
    assert!(view.outcome.expect("it has ended").is_success());
}

#[tokio::test(start_paused = true)]
async fn a_run_is_paused_instructed_resumed_and_cancelled() {
    let cluster = FakeCluster::with_runs();
    let run = || cluster.run("held").expect("it is there");

    let paused = cluster.run_command(&["pause", "held"]).await;
    let phase = run().phase;
    let printed = cluster.run_command(&["send", "held", "Use tabs."]).await;
    let resumed = cluster.run_command(&["resume", "held"]).await;
    let cancelled = cluster
        .run_command(&["cancel", "held", "--reason", "enough"])
        .await;

    for done in [&paused, &printed, &resumed, &cancelled] {
        assert_eq!(done.code, 0, "{}", done.screen());
        assert!(done.stdout.contains("held"), "{}", done.screen());
    }
    assert_eq!(phase, RunPhase::Paused);
    let instructions = [
        RunInstruction::Pause,
        RunInstruction::Message("Use tabs.".to_owned()),
        RunInstruction::Resume,
    ];
    assert_eq!(run().instructions, instructions);
    let outcome = autonoe_core::engine::RunOutcome::cancelled("enough");
    assert_eq!(run().outcome, Some(outcome));
    let after = cluster.run_command(&["status", "held"]).await;
    assert!(
        after.stdout.contains("It was cancelled: enough\n"),
        "{}",
        after.screen()
    );
}

#[tokio::test(start_paused = true)]
async fn an_ended_run_rejects_commands_and_stays_unchanged() {
    let cluster = FakeCluster::with_runs();
    let before = cluster.run("shop-1");

    for words in [
        &["pause", "shop-1"][..],
        &["resume", "shop-1"],
        &["send", "shop-1", "Hello."],
        &["cancel", "shop-1"],
    ] {
        let printed = cluster.run_command(words).await;

        assert_eq!(
            (printed.code, printed.stdout.as_str()),
            (1, ""),
            "{words:?}"
        );
        let error =
            "error: the run shop-1 has ended\n  hint: `autonoe-cluster status shop-1` shows";
        assert!(printed.stderr.starts_with(error), "{}", printed.screen());
    }

    assert_eq!(cluster.run("shop-1"), before);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_run_is_a_usage_error() {
    let cluster = FakeCluster::with_runs();

    for words in [
        &["status", "nobody"][..],
        &["logs", "nobody"],
        &["logs", "nobody", "--follow"],
        &["pause", "nobody"],
        &["resume", "nobody"],
        &["send", "nobody", "Hello."],
        &["cancel", "nobody"],
    ] {
        let printed = cluster.run_command(words).await;

        assert_eq!(
            (printed.code, printed.stdout.as_str()),
            (2, ""),
            "{words:?}"
        );
        let error = "error: there is no run nobody\n  hint: run `autonoe-cluster list` to list";
        assert!(printed.stderr.starts_with(error), "{}", printed.screen());
    }
    let nothing = cluster.run_command(&["send", "held", " "]).await;
    assert_eq!(nothing.code, 2);
}
