//! A run that continues on another host through a git repository.

use std::fs;

use autonoe_core::engine::{Engine, Placement};
use autonoe_temporal_support::{eventually, within};
use autonoe_testkit::program::git;
use serde_json::json;

use crate::cluster::{Cluster, passes, plans, run};

#[tokio::test]
async fn a_run_of_a_killed_host_continues_on_another_host_from_the_pushed_branch() {
    let cluster = Cluster::start().await;
    let (remotes, first) = (cluster.path("remotes"), cluster.path("first"));
    fs::create_dir_all(&first).expect("a folder");
    fs::write(first.join("SPEC.md"), "# A greeting\n").expect("writable");
    git(&first, &["init", "--quiet", "--initial-branch=main"]);
    git(&first, &["add", "--all"]);
    git(&first, &["commit", "--quiet", "-m", "first"]);
    fs::create_dir_all(&remotes).expect("a folder");
    let shop = remotes.join("shop.git");
    let shop_name = shop.to_str().expect("text");
    git(&first, &["clone", "--quiet", "--bare", ".", shop_name]);
    let main = git(&shop, &["rev-parse", "main"]);
    // The second session starts on one host and waits there.
    let gate = cluster.path("gate");
    let mut second = vec![
        json!({"writes": {"path": "half.txt", "text": "Half.\n"}}),
        json!({ "waitsForFile": gate }),
    ];
    second.extend(passes());
    cluster.script(&[plans(), second]);
    let root = remotes.to_str().expect("text");
    let mut one = cluster.worker("one", &["--remote-root", root]);
    let engine = cluster.engine().await;
    let run = run("greeting");
    let submitted = engine.submit(run.clone(), Placement::anywhere()).await;
    submitted.expect("it is taken");
    let half = cluster.path("one/shop/greeting/project/half.txt");
    eventually("the second session", || half.exists()).await;

    one.kill();
    fs::write(&gate, "").expect("writable");
    let two = cluster.worker("two", &["--remote-root", root]);
    let outcome = within("the end of the run", engine.wait(&run.id))
        .await
        .expect("it ends");

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(outcome.output["deliverablesPassedCount"], 1);
    assert_eq!(
        git(&shop, &["show", "autonoe/greeting:greeting.txt"]),
        "Hello."
    );
    assert_eq!(git(&shop, &["rev-parse", "main"]), main);
    let (code, logs) = cluster.output_of(&["logs", "greeting"]);
    assert_eq!(code, Some(0), "{logs}");
    // The first session ran on the killed host.
    assert!(logs.contains("Session 1 completed"), "{logs}");
    assert!(logs.contains("Session 2 completed"), "{logs}");
    let (_, status) = cluster.output_of(&["status", "greeting"]);
    assert!(status.contains("host      two\n"), "{status}");
    assert_eq!(two.stop(), Some(0));
}
