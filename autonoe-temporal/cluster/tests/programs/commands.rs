//! End-to-end tests of the commands that submit, watch and control runs.

use std::fs;

use autonoe_temporal_support::eventually;
use serde_json::{Value, json};

use crate::cluster::{Cluster, passes, plans};

/// Scripts sessions of which the second one waits for a file.
fn waits_in_second_session(cluster: &Cluster) {
    let mut second = vec![
        json!({"writes": {"path": "half.txt", "text": "Half.\n"}}),
        json!({ "waitsForFile": cluster.path("gate") }),
    ];
    second.extend(passes());
    cluster.script(&[plans(), second]);
}

fn phase(cluster: &Cluster, run: &str) -> Value {
    let (code, output) = cluster.output_of(&["status", run, "--output", "json"]);
    assert_eq!(code, Some(0), "{output}");
    let view: Value = serde_json::from_str(&output).expect("JSON");
    assert_eq!(view["host"], "here", "{output}");
    assert_eq!(view["spec"]["input"]["work"]["project"], "shop", "{output}");
    view["phase"].clone()
}

#[tokio::test]
async fn a_run_is_submitted_followed_paused_and_resumed_with_commands() {
    let cluster = Cluster::start().await;
    waits_in_second_session(&cluster);
    // Reading the journal needs no slot: the only one is taken.
    let worker = cluster.worker("here", &["--slots", "1"]);
    let half = cluster.shop_on("here").join("half.txt");
    let submit = ["submit", "shop", "--run", "greeting", "--pause", "0s"];

    let waiting = cluster.start_command(&[&submit[..], &["--wait"]].concat(), "wait.txt");
    eventually("the second session", || half.exists()).await;
    assert_eq!(phase(&cluster, "greeting"), "running");
    let (code, so_far) = cluster.output_of(&["logs", "greeting"]);
    assert_eq!(code, Some(0), "{so_far}");
    assert!(so_far.contains("Session 2 started (coding)"), "{so_far}");
    assert!(so_far.contains("The run is in progress"), "{so_far}");
    let following =
        cluster.start_command(&["logs", "greeting", "--follow", "--json"], "follow.txt");
    eventually("what was written before", || {
        following.written().contains("session_started")
    })
    .await;
    let (code, output) = cluster.output_of(&["pause", "greeting"]);
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(phase(&cluster, "greeting"), "paused");
    let (code, output) = cluster.output_of(&["resume", "greeting"]);
    assert_eq!(code, Some(0), "{output}");
    assert_eq!(phase(&cluster, "greeting"), "running");
    fs::write(cluster.path("gate"), "").expect("writable");
    let (code, waited) = waiting.end().await;
    let (followed_code, followed) = following.end().await;

    assert_eq!(code, Some(0), "{waited}");
    for line in [
        "Run greeting was submitted",
        "Session 1 completed",
        "[PASS] A greeting (DL-001)",
        "Run greeting ended: all achievable deliverables passed",
        "1 of 1 deliverables passed; 2 iterations",
    ] {
        assert!(waited.contains(line), "{line:?}: {waited}");
    }
    assert_eq!(followed_code, Some(0), "{followed}");
    let project = cluster.path("here/shop/.autonoe/journal.jsonl");
    let journal = fs::read_to_string(project).expect("readable");
    assert_eq!(followed, journal);

    let (code, list) = cluster.output_of(&["list"]);
    assert_eq!(code, Some(0), "{list}");
    assert!(list.contains("ended    greeting"), "{list}");

    // After the end everything can be queried, and no instruction is accepted.
    assert_eq!(phase(&cluster, "greeting"), "ended");
    let (code, after) = cluster.output_of(&["logs", "greeting"]);
    assert_eq!(code, Some(0), "{after}");
    assert!(after.contains("Session 2 completed"), "{after}");
    let ends = after.matches("Run greeting ended:").count();
    assert_eq!(ends, 1, "{after}");
    let (code, repeated) = cluster.output_of(&[&submit[..], &["--wait"]].concat());
    assert_eq!(code, Some(0), "{repeated}");
    let (code, ended) = cluster.output_of(&["pause", "greeting"]);
    assert_eq!(code, Some(1), "{ended}");
    assert!(ended.contains("the run greeting has ended"), "{ended}");
    let (code, other) = cluster.output_of(&[&submit[..], &["-n", "1"]].concat());
    assert_eq!(code, Some(2), "{other}");
    let (code, unknown) = cluster.output_of(&["logs", "nobody"]);
    assert_eq!(code, Some(2), "{unknown}");

    assert_eq!(worker.stop(), Some(0));
    let (code, unreachable) = cluster.output_of(&["logs", "greeting"]);
    assert_eq!(code, Some(1), "{unreachable}");
    assert!(
        unreachable.contains("the host here does not answer"),
        "{unreachable}"
    );
}

#[tokio::test]
async fn a_run_is_cancelled_with_a_command() {
    let cluster = Cluster::start().await;
    waits_in_second_session(&cluster);
    let _worker = cluster.worker("here", &[]);
    let half = cluster.shop_on("here").join("half.txt");
    let submit = ["submit", "shop", "--run", "greeting", "--pause", "0s"];
    let (code, id) = cluster.output_of(&[&submit[..], &["--quiet"]].concat());
    assert_eq!((code, id.as_str()), (Some(0), "greeting\n"));
    eventually("the second session", || half.exists()).await;

    let (code, output) = cluster.output_of(&["cancel", "greeting", "--reason", "enough"]);
    let waited = cluster.start_command(&[&submit[..], &["--wait"]].concat(), "wait.txt");
    let (waited_code, waited) = waited.end().await;

    assert_eq!(code, Some(0), "{output}");
    assert_eq!(waited_code, Some(130), "{waited}");
    assert!(waited.contains("the run was cancelled: enough"), "{waited}");
    assert!(waited.contains("Run greeting ended:"), "{waited}");
    let (code, repeated) = cluster.output_of(&["cancel", "greeting"]);
    assert_eq!(code, Some(1), "{repeated}");
    let (_, status) = cluster.output_of(&["status", "greeting"]);
    assert!(status.contains("It was cancelled: enough"), "{status}");
    let (_, logs) = cluster.output_of(&["logs", "greeting"]);
    assert!(logs.contains("It was cancelled: enough"), "{logs}");
    assert_eq!(logs.matches("Run greeting ended:").count(), 1, "{logs}");
}

#[tokio::test]
async fn a_program_gets_the_journal_and_the_report_as_json() {
    let cluster = Cluster::start().await;
    cluster.shop_on("here");
    cluster.script(&[plans(), passes()]);
    let _worker = cluster.worker("here", &[]);

    let submit = ["submit", "shop", "--run", "greeting", "--pause", "0s"];
    let output = cluster
        .command(&[&submit[..], &["--wait", "--output", "json"]].concat())
        .output()
        .expect("it can be started");

    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaints}");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let (report, journal) = lines.split_last().expect("lines");
    assert_eq!(report["report"]["exitReason"], "all_passed", "{report}");
    let sessions = journal
        .iter()
        .filter(|line| line["line"] == "session_ended");
    assert_eq!(sessions.count(), 2, "{journal:#?}");
}
