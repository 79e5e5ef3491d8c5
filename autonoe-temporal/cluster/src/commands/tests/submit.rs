//! Tests of `submit` without `--wait`.

use autonoe_core::engine::{Placement, SessionsRun};
use serde_json::Value;

use super::fake_cluster::{FakeCluster, on_shop};

#[tokio::test(start_paused = true)]
async fn a_run_is_submitted_and_its_new_id_is_the_result() {
    let cluster = FakeCluster::new();

    let printed = cluster
        .run_command(&["submit", "shop", "-n", "7", "--host", "build-1"])
        .await;

    let id = printed.stdout.trim();
    assert_eq!((printed.code, id.len()), (0, 32), "{}", printed.screen());
    let run = cluster.run(id).expect("it is there");
    let sessions: SessionsRun = serde_json::from_value(run.spec.input).expect("sessions");
    assert_eq!(sessions.project().expect("a project").as_str(), "shop");
    assert_eq!(sessions.limits.max_iterations, Some(7));
    assert_eq!(run.place, Placement::on_host("build-1"));
    assert!(
        printed
            .stderr
            .contains(&format!("autonoe-cluster logs {id} --follow"))
    );
    assert!(
        printed
            .stderr
            .contains(&format!("autonoe-cluster cancel {id}"))
    );
}

#[tokio::test(start_paused = true)]
async fn submitting_the_same_run_twice_attaches_to_it_and_a_different_one_is_rejected() {
    let cluster = FakeCluster::new();
    let submit = ["submit", "shop", "--run", "shop-1"];

    let first = cluster.run_command(&submit).await;
    let second = cluster.run_command(&submit).await;
    let other = cluster
        .run_command(&["submit", "shop", "--run", "shop-1", "--mode", "sync"])
        .await;

    assert_eq!((first.code, first.stdout.as_str()), (0, "shop-1\n"));
    assert_eq!((second.code, second.stdout.as_str()), (0, "shop-1\n"));
    let spec = cluster.run("shop-1").expect("it is there").spec;
    assert!(spec.is_same_work(&on_shop("shop-1")), "{spec:?}");
    let expected = "\
exit 2\n\
--- stdout\n\
--- stderr\n\
error: there is already a run shop-1 with a different specification\n\
\x20 hint: repeat the original options to get that run, or omit --run to submit a new one\n";
    assert_eq!(other.screen(), expected);
}

#[tokio::test(start_paused = true)]
async fn submit_prints_the_id_as_json() {
    let cluster = FakeCluster::new();

    let printed = cluster
        .run_command(&["submit", "shop", "--run=a", "--output=json", "--quiet"])
        .await;

    let id: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    assert_eq!(id, serde_json::json!({"run": "a"}));
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
}

#[tokio::test(start_paused = true)]
async fn hints_name_the_server() {
    let cluster = FakeCluster::new();
    let server = ["--config=c.json", "--address=http://h:1", "--queue=q"];

    let printed = cluster
        .run_command(&[&["submit", "shop", "--run=a"], &server[..]].concat())
        .await;

    let follow = format!("`autonoe-cluster logs a --follow {}`", server.join(" "));
    assert!(printed.stderr.contains(&follow), "{}", printed.screen());
}

#[tokio::test(start_paused = true)]
async fn a_refused_host_is_reported() {
    let cluster = FakeCluster::new();

    let printed = cluster
        .run_command(&["submit", "shop", "--run=a", "--host=nowhere"])
        .await;

    assert_eq!((printed.code, printed.stdout.as_str()), (1, ""));
    let expected = "there is no such host";
    assert!(printed.stderr.contains(expected), "{}", printed.screen());
    assert_eq!(cluster.run("a"), None);
}

#[tokio::test(start_paused = true)]
async fn an_invalid_project_name_is_a_usage_error() {
    let printed = FakeCluster::new().run_command(&["submit", "../shop"]).await;

    assert_eq!(printed.code, 2);
    assert!(
        printed.stderr.contains("not a valid project name"),
        "{}",
        printed.stderr
    );
}

#[tokio::test(start_paused = true)]
async fn an_invalid_run_id_is_a_usage_error() {
    for id in ["../x", "-x", "a\nb", "a\u{1b}[2Jb"] {
        let cluster = FakeCluster::new();

        let printed = cluster
            .run_command(&["submit", "shop", &format!("--run={id}")])
            .await;

        assert_eq!((printed.code, printed.stdout.as_str()), (2, ""), "{id:?}");
        let words = "an id of a run has letters";
        assert!(printed.stderr.contains(words), "{}", printed.screen());
        assert!(!printed.stderr.contains('\u{1b}'), "{:?}", printed.stderr);
        assert_eq!(cluster.run(id), None);
    }
}
