//! Workers and servers that fail while the program executes runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use autonoe_core::engine::{Engine, Placement, RunEnding};
use autonoe_temporal_support::{Proxy, eventually, processes_in, wait_for_no_processes, within};
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::{ModelScript, Turn};
use serde_json::{Value, json};

use crate::cluster::{Cluster, passes, plans, run, run_on};

/// Number of runs on two workers.
const RUNS: usize = 64;

/// Scripts sessions of which the second one waits for the file `gate`.
fn waits_in_second_session(cluster: &Cluster) {
    let mut second = vec![
        json!({"writes": {"path": "half.txt", "text": "Half.\n"}}),
        json!({ "waitsForFile": cluster.path("gate") }),
    ];
    second.extend(passes());
    cluster.script(&[plans(), second]);
}

/// Returns the numbers of the sessions with a recorded end.
fn ended_sessions(project: &Path) -> Vec<u64> {
    let journal = fs::read_to_string(project.join(".autonoe/journal.jsonl")).unwrap_or_default();
    let lines = journal.lines().map(|line| -> Value {
        // A kill may leave a partial line.
        serde_json::from_str(line).unwrap_or_default()
    });
    let ends = lines.filter(|line| line["line"] == "session_ended");
    ends.filter_map(|line| line["number"].as_u64()).collect()
}

#[tokio::test]
async fn session_that_ends_during_a_server_outage_is_not_repeated() {
    let mut cluster = Cluster::start().await;
    waits_in_second_session(&cluster);
    let worker = cluster.worker("here", &[]);
    let project = cluster.shop_on("here");
    let engine = cluster.engine().await;
    let run = run("greeting");
    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("it is accepted");
    eventually("the second session", || project.join("half.txt").exists()).await;

    cluster.server.kill();
    fs::write(cluster.path("gate"), "").expect("writable");
    eventually("the record", || ended_sessions(&project).len() == 2).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    cluster.server.restart().await;
    let engine = cluster.engine().await;
    let outcome = within("the end of the run", engine.wait(&run.id)).await;

    let outcome = outcome.expect("it ends");
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["sessions"], 2);
    assert_eq!(ended_sessions(&project), [1, 2]);
    assert_eq!(worker.stop(), Some(0));
}

#[tokio::test]
async fn session_of_a_worker_that_is_cut_off_is_taken_over() {
    let cluster = Cluster::start().await;
    waits_in_second_session(&cluster);
    let script = format!("scripted:{}", cluster.path("agents.json").display());
    let root = cluster.path("shared");
    let project = cluster.shop_on("shared");
    let proxy = Proxy::to(cluster.server.port()).await;
    let address = proxy.address();
    let options = ["--backend", &script, "--address", &address];
    let _one = cluster.worker_at("one", &root, &options, &[]);
    let engine = cluster.engine().await;
    let run = run("greeting");
    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("it is accepted");
    eventually("the second session", || project.join("half.txt").exists()).await;

    proxy.cut();
    let two = cluster.worker_at("two", &root, &["--backend", &script], &[]);
    let moved = async {
        loop {
            let view = engine.status(&run.id).await.expect("it is known");
            if view.host.as_deref() == Some("two") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    within("the other host", moved).await;
    fs::write(cluster.path("gate"), "").expect("writable");
    let outcome = within("the end of the run", engine.wait(&run.id)).await;

    let outcome = outcome.expect("it ends");
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["sessions"], 2);
    // The cost of the abandoned session is unknown.
    assert!(
        outcome.spent.cost.to_string().contains("unknown"),
        "{outcome:?}"
    );
    assert_eq!(ended_sessions(&project), [1, 2]);
    assert_eq!(two.stop(), Some(0));
}

#[tokio::test]
async fn cancellation_during_a_tool_call_leaves_no_process() {
    let cluster = Cluster::start().await;
    // The tool and what it starts ignore signals.
    let command = "trap '' INT TERM HUP; echo started > started.txt; sleep 3600";
    let turns = [Turn::tool("Bash", json!({ "command": command }))];
    let server = AnthropicServer::start(ModelScript::new(turns)).unverified();
    let project = cluster.shop_on("here");
    let provider = json!({"type": "anthropic", "key": {"env": "THE_KEY"}, "baseUrl": server.url()});
    let models = json!({"providers": {"scripted": provider}});
    fs::create_dir_all(project.join(".autonoe")).expect("a folder");
    fs::write(project.join(".autonoe/models.json"), models.to_string()).expect("writable");
    let agent = json!({"backend": "model:scripted/claude-sonnet-4-5", "mcpServers": {}});
    fs::write(project.join(".autonoe/agent.json"), agent.to_string()).expect("writable");
    let root = cluster.path("here");
    let worker = cluster.worker_at("here", &root, &["--no-sandbox"], &[("THE_KEY", "secret")]);
    let engine = cluster.engine().await;
    let run = run("greeting");
    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("it is accepted");
    eventually("the tool", || project.join("started.txt").exists()).await;
    let processes = processes_in(&project);
    assert!(!processes.is_empty(), "the tool is not a process");

    engine
        .cancel(&run.id, "enough")
        .await
        .expect("it is accepted");
    let outcome = within("the end of the run", engine.wait(&run.id)).await;

    let reason = "enough".to_owned();
    let outcome = outcome.expect("it ends");
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    // The worker is alive.
    wait_for_no_processes(&project).await;
    assert_eq!(worker.stop(), Some(0));
}

#[tokio::test]
async fn of_two_workers_with_many_runs_one_is_killed_and_no_session_counts_twice() {
    let cluster = Cluster::start().await;
    cluster.script(&[plans(), passes()]);
    let script = format!("scripted:{}", cluster.path("agents.json").display());
    let root = cluster.path("shared");
    let names: Vec<_> = (0..RUNS).map(|number| format!("run-{number:02}")).collect();
    for name in &names {
        let project = root.join(name);
        fs::create_dir_all(&project).expect("a folder");
        fs::write(project.join("SPEC.md"), "# A greeting\n").expect("writable");
    }
    let options = ["--backend", &script, "--slots", "16"];
    let mut one = cluster.worker_at("one", &root, &options, &[]);
    let two = cluster.worker_at("two", &root, &options, &[]);
    let engine = cluster.engine().await;
    for name in &names {
        let submitted = engine
            .submit(run_on(name, name), Placement::anywhere())
            .await;
        submitted.expect("it is accepted");
    }
    let done = || {
        let done = names
            .iter()
            .filter(|name| root.join(name).join("greeting.txt").exists());
        done.count()
    };
    eventually("some work", || done() >= 8).await;
    assert!(done() < RUNS, "all runs ended before the kill");

    one.kill();
    let mut hosts = BTreeSet::new();
    for name in &names {
        let run = run_on(name, name).id;
        let outcome = within(name, engine.wait(&run)).await.expect("it ends");
        assert!(outcome.is_success(), "{name}: {outcome:?}");
        assert_eq!(outcome.output["sessions"], 2, "{name}");
        assert_eq!(outcome.output["deliverablesPassedCount"], 1, "{name}");
        assert_eq!(ended_sessions(&root.join(name)), [1, 2], "{name}");
        hosts.extend(engine.status(&run).await.expect("it is known").host);
    }

    assert_eq!(hosts, BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    assert_eq!(two.stop(), Some(0));
}
