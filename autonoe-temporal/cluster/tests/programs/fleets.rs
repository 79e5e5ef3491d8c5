//! Fleets on one repository, whose tasks are done and merged by several workers.

use std::fs;
use std::path::PathBuf;

use autonoe_core::RunId;
use autonoe_core::engine::Engine;
use autonoe_temporal_support::eventually;
use autonoe_testkit::program::git;
use serde_json::json;

use crate::cluster::{Cluster, RunningCommand, WorkerProcess, passes_with, plans};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// A cluster with the repository `shop.git` below its remote root.
struct Fixture {
    cluster: Cluster,
}

impl Fixture {
    async fn start(roadmap: &str) -> Self {
        let cluster = Cluster::start().await;
        let (seed, remotes) = (cluster.path("seed"), cluster.path("remotes"));
        fs::create_dir_all(&seed).expect("a folder");
        fs::create_dir_all(&remotes).expect("a folder");
        fs::write(seed.join("SPEC.md"), "# A shop\n").expect("writable");
        git(&seed, &["init", "--quiet", "--initial-branch=main"]);
        git(&seed, &["add", "--all"]);
        git(&seed, &["commit", "--quiet", "-m", "first"]);
        let fixture = Self { cluster };
        let shop = fixture.shop();
        let shop = shop.to_str().expect("text");
        git(&seed, &["clone", "--quiet", "--bare", ".", shop]);
        fs::write(fixture.cluster.path("ROADMAP.md"), roadmap).expect("writable");
        fixture
    }

    fn shop(&self) -> PathBuf {
        self.cluster.path("remotes/shop.git")
    }

    /// Starts a worker whose agents write `text` into `file` in the second session, and then wait
    /// for the file `gate`.
    fn worker(&self, host: &str, file: &str, text: &str) -> WorkerProcess {
        self.script(host, file, text);
        self.start_worker(host)
    }

    /// Writes the script of such agents, and returns its path.
    fn script(&self, host: &str, file: &str, text: &str) -> PathBuf {
        let mut second = passes_with(file, text);
        second.insert(1, json!({ "waitsForFile": self.cluster.path("gate") }));
        let script = format!("{host}.json");
        self.cluster.script_named(&script, &[plans(), second]);
        self.cluster.path(&script)
    }

    fn start_worker(&self, host: &str) -> WorkerProcess {
        let script = self.cluster.path(&format!("{host}.json"));
        let backend = format!("scripted:{}", script.display());
        let remotes = self.cluster.path("remotes");
        let remotes = remotes.to_str().expect("text");
        // The commands of criteria wait for files outside of their folder.
        let options = [
            "--backend",
            &backend,
            "--remote-root",
            remotes,
            "--no-sandbox",
        ];
        let options = [&options[..], &["--slots", "1"]].concat();
        let root = self.cluster.path(host);
        self.cluster.worker_at(host, &root, &options, &[])
    }

    fn open_gate(&self) {
        fs::write(self.cluster.path("gate"), "").expect("writable");
    }

    fn submit(&self) -> RunningCommand {
        let shop = self.shop();
        let words = [
            "submit",
            "--roadmap=ROADMAP.md",
            "--repository",
            shop.to_str().expect("text"),
            "--run=night",
            "--pause=0s",
            "--wait",
        ];
        self.cluster.start_command(&words, "wait.txt")
    }

    /// Waits until an agent of a host has written a file.
    async fn written(&self, host: &str, file: &str) {
        let projects = self.cluster.path(host).join("shop");
        eventually(&format!("{file} on {host}"), || {
            let runs = fs::read_dir(&projects).into_iter().flatten().flatten();
            runs.into_iter()
                .any(|run| run.path().join("project").join(file).exists())
        })
        .await;
    }

    fn on_branch(&self, arguments: &[&str]) -> String {
        git(&self.shop(), arguments)
    }

    fn files(&self, branch: &str) -> Vec<String> {
        let files = self.on_branch(&["ls-tree", "-r", "--name-only", branch]);
        files.lines().map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn dependent_tasks_on_two_workers_end_on_the_integration_branch() {
    let both = r#"{"type": "all", "criteria": [{"type": "file", "path": "one.txt"}, {"type": "file", "path": "two.txt"}]}"#;
    let fixture = Fixture::start(&format!(
        "## Objective\nA shop.\n## Tasks\n- [ ] **parser**: Read.\n- [ ] **shell**: Ask.\n\
         - [ ] **docs**: Write.\n  - depends: parser, shell\n  - success: {both}\n"
    ))
    .await;
    let main = fixture.on_branch(&["rev-parse", "main"]);
    let one = fixture.worker("one", "one.txt", "One.\n");
    let two = fixture.worker("two", "two.txt", "Two.\n");

    let submitted = fixture.submit();
    fixture.written("one", "one.txt").await;
    fixture.written("two", "two.txt").await;
    fixture.open_gate();
    let (code, printed) = submitted.end().await;

    assert_eq!(code, Some(0), "{printed}");
    let summary = "Fleet night ended: 3 of 3 tasks are on the branch autonoe/night";
    assert!(printed.contains(summary), "{printed}");
    let files = fixture.files("autonoe/night");
    assert_eq!(files, ["SPEC.md", "one.txt", "two.txt"]);
    assert_eq!(
        fixture.on_branch(&["show", "autonoe/night:SPEC.md"]),
        "# A shop"
    );
    assert_eq!(fixture.on_branch(&["rev-parse", "main"]), main);
    // The dependent task began with the merged work of the others.
    let files = fixture.files("autonoe/night.docs");
    for file in ["one.txt", "two.txt", ".autonoe/status.json"] {
        assert!(files.iter().any(|found| found == file), "{files:?}");
    }
    let specification = fixture.on_branch(&["show", "autonoe/night.docs:SPEC.md"]);
    assert!(specification.starts_with("# Task docs"), "{specification}");
    let (code, status) = fixture.cluster.output_of(&["status", "night"]);
    assert_eq!(code, Some(0), "{status}");
    assert!(status.contains("merged       docs"), "{status}");
    let (code, logs) = fixture.cluster.output_of(&["logs", "night.docs"]);
    assert_eq!(code, Some(0), "{logs}");
    assert!(logs.contains("Session 2 completed"), "{logs}");
    // Submitting the same fleet again attaches to it, although its trace differs.
    let (code, repeated) = fixture.submit().end().await;
    assert_eq!(code, Some(0), "{repeated}");
    assert!(repeated.contains(summary), "{repeated}");
    assert_eq!((one.stop(), two.stop()), (Some(0), Some(0)));
}

#[tokio::test]
async fn merge_of_a_killed_worker_is_repeated_by_another() {
    let fixture = Fixture::start("").await;
    let (mark, gate) = (fixture.cluster.path("mark"), fixture.cluster.path("merge"));
    let (mark_name, gate_name) = (mark.display(), gate.display());
    let command = format!("touch {mark_name}; until [ -e {gate_name} ]; do sleep 0.1; done");
    let success = json!({"type": "command", "command": ["bash", "-c", command]});
    let roadmap = format!("## Tasks\n- [ ] **parser**: Read.\n  - success: {success}\n");
    fs::write(fixture.cluster.path("ROADMAP.md"), roadmap).expect("writable");
    fixture.open_gate();
    let mut one = fixture.worker("one", "one.txt", "One.\n");
    let shop = fixture.shop();
    let arguments = [
        "submit",
        "--roadmap=ROADMAP.md",
        "--repository",
        shop.to_str().expect("text"),
        "--run=night",
        "--pause=0s",
        "--wait",
    ];
    let submit = fixture
        .cluster
        .command(&arguments)
        .env("TRACEPARENT", format!("00-{TRACE}-b7ad6b7169203331-01"))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it can be started");
    eventually("the merge", || mark.exists()).await;

    one.kill();
    let two = fixture.worker("two", "two.txt", "Two.\n");
    fs::write(&gate, "").expect("writable");
    let ended = tokio::task::spawn_blocking(|| submit.wait_with_output().expect("ours"));
    let ended = ended.await.expect("it ends");

    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(fixture.files("autonoe/night"), ["SPEC.md", "one.txt"]);
    let engine = fixture.cluster.engine().await;
    let view = engine.status(&RunId::new("night.parser")).await;
    let spec = view.expect("it is known").spec.expect("it is there");
    let parent = spec.input["trace"]["traceparent"].to_string();
    assert!(parent.contains(TRACE), "{spec:?}");
    assert_eq!(two.stop(), Some(0));
}

#[tokio::test]
async fn merge_conflict_fails_one_task_and_keeps_its_branch() {
    let fixture =
        Fixture::start("## Tasks\n- [ ] **parser**: Read.\n- [ ] **shell**: Ask.\n").await;
    let _one = fixture.worker("one", "greeting.txt", "One.\n");
    let _two = fixture.worker("two", "greeting.txt", "Two.\n");

    let submitted = fixture.submit();
    fixture.written("one", "greeting.txt").await;
    fixture.written("two", "greeting.txt").await;
    fixture.open_gate();
    let (code, printed) = submitted.end().await;

    assert_eq!(code, Some(1), "{printed}");
    for text in ["1 of 2 tasks are on", "conflicts in greeting.txt"] {
        assert!(printed.contains(text), "{printed}");
    }
    assert_eq!(fixture.files("autonoe/night"), ["SPEC.md", "greeting.txt"]);
    let texts = ["parser", "shell"]
        .map(|task| fixture.on_branch(&["show", &format!("autonoe/night.{task}:greeting.txt")]));
    let mut texts = texts.to_vec();
    texts.sort();
    assert_eq!(texts, ["One.", "Two."]);
}

#[tokio::test]
async fn statement_is_judged_in_a_session_before_the_merge() {
    let fixture = Fixture::start(
        "## Tasks\n- [ ] **parser**: Read.\n  - success: It greets.\n- [ ] **shell**: Ask.\n  \
         - success: It asks.\n",
    )
    .await;
    // The judges of both tasks are scripted, and only one is content.
    let judge = |task: &str, passed: bool| {
        let input = json!({"passed": passed, "reason": "It was read."});
        let verdict = json!({"tool": "mcp__autonoe__verdict", "input": input});
        json!({
            "name": "judges", "instruction": format!("task-{task}-judge"), "costUsd": "0.01",
            "steps": [{"uses": verdict}, "ends"],
        })
    };
    let script = fixture.script("one", "greeting.txt", "Hello.\n");
    let text = fs::read(&script).expect("readable");
    let mut agents: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let sessions = agents["sessions"].as_array_mut().expect("sessions");
    sessions.extend([judge("parser", true), judge("shell", false)]);
    fs::write(&script, agents.to_string()).expect("writable");
    let _one = fixture.start_worker("one");
    fixture.open_gate();

    let (code, printed) = fixture.submit().end().await;

    assert_eq!(code, Some(1), "{printed}");
    for text in [
        "1 of 2 tasks are on",
        "merged       parser",
        "failed       shell",
    ] {
        assert!(printed.contains(text), "{printed}");
    }
    assert_eq!(fixture.files("autonoe/night"), ["SPEC.md", "greeting.txt"]);
    let engine = fixture.cluster.engine().await;
    let outcome = engine.wait(&RunId::new("night.parser.merge")).await;
    let outcome = outcome.expect("it has ended");
    assert_eq!(outcome.spent.cost.to_string(), "$0.01");
}

#[tokio::test]
async fn failed_criterion_fails_the_task_and_holds_its_dependents() {
    let fixture = Fixture::start(
        "## Tasks\n- [ ] **parser**: Read.\n  - success: {\"type\": \"file\", \"path\": \"missing\"}\n\
         - [ ] **shell**: Ask.\n  - depends: parser\n",
    )
    .await;
    let _one = fixture.worker("one", "greeting.txt", "One.\n");
    fixture.open_gate();

    let (code, printed) = fixture.submit().end().await;

    assert_eq!(code, Some(1), "{printed}");
    for text in [
        "0 of 2 tasks are on",
        "failed       parser",
        "not started  shell",
    ] {
        assert!(printed.contains(text), "{printed}");
    }
    assert_eq!(fixture.files("autonoe/night"), ["SPEC.md"]);
    let work = fixture.on_branch(&["show", "autonoe/night.parser:greeting.txt"]);
    assert_eq!(work, "One.");
}

#[tokio::test]
async fn repository_outside_of_the_remote_root_is_refused() {
    let fixture = Fixture::start("## Tasks\n- [ ] **parser**: Read.\n").await;
    let foreign = fixture.cluster.path("foreign.git");
    let shop = fixture.shop();
    git(
        &fixture.cluster.path("seed"),
        &[
            "clone",
            "--quiet",
            "--bare",
            ".",
            foreign.to_str().expect("text"),
        ],
    );
    let _one = fixture.worker("one", "greeting.txt", "One.\n");
    let words = [
        "submit",
        "--roadmap=ROADMAP.md",
        "--repository",
        foreign.to_str().expect("text"),
        "--run=night",
        "--wait",
    ];

    let (code, printed) = fixture
        .cluster
        .start_command(&words, "wait.txt")
        .end()
        .await;

    assert_eq!(code, Some(1), "{printed}");
    let reason = "the repository is not below the remote root of this worker";
    assert!(printed.contains(reason), "{printed}");
    for repository in [&foreign, &shop] {
        assert_eq!(git(repository, &["branch", "--list", "autonoe/*"]), "");
    }
}
