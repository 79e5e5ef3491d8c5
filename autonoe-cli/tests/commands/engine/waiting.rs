//! Runs that are waited for.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use autonoe_core::{
    Epoch, HostedSession, InstructionName, RunId, RunOutcome, RunPhase, SessionHost, SessionKey,
};
use autonoe_harness::{PipedProgram, ProgramSessionHost};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::cluster::{cluster, done, events, with_cluster};
use super::lines::{DEADLINE, Lines};
use crate::commands::setting::{Said, Setting};

/// A run here on scripted agents, and its report as its journal has it.
fn local_run(script: &Value, more: &[&str]) -> (Said, Value) {
    let setting = Setting::new()
        .file("SPEC.md", "# Shop\n")
        .file("agents.json", script.to_string());
    let run = ["run", "--backend", "scripted:agents.json", "--pause", "0s"];
    let said = setting.autonoe(&[&run[..], more].concat());
    let journal = setting.read(".autonoe/journal.jsonl");
    let last: Value = serde_json::from_str(journal.lines().last().expect("lines")).expect("JSON");
    assert_eq!(last["line"], "run_ended", "{}", said.screen());
    (said, last["report"].clone())
}

fn sessions(sessions: &[Value]) -> Value {
    let session = |steps: &Value| json!({"name": "a", "costUsd": "0.05", "steps": steps});
    json!({"sessions": sessions.iter().map(session).collect::<Vec<_>>()})
}

/// The call that creates a deliverable.
fn create() -> Value {
    let deliverable =
        json!({"id": "DL-001", "description": "x", "acceptanceCriteria": ["it is there"]});
    json!({"tool": "mcp__autonoe__create", "input": {"deliverables": [deliverable]}})
}

/// The call that has it pass.
fn passed() -> Value {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    json!({"tool": "mcp__autonoe__set_status", "input": passed})
}

#[test]
fn the_report_and_the_exit_code_are_those_of_a_run_here() {
    let (create, passed) = (create(), passed());
    let plans = json!([{"uses": create}, "ends"]);
    let passes = json!([{"uses": passed}, "ends"]);
    let fails = json!([{"endsWithError": "it broke"}]);
    let cases: [(Value, &[&str], i32); 4] = [
        (sessions(&[plans.clone(), passes]), &[], 0),
        (sessions(&[plans, json!(["ends"])]), &["-n", "2"], 4),
        (sessions(&[json!([{"hitsQuota": null}])]), &[], 5),
        (sessions(&[fails]), &["--max-retries", "0"], 7),
    ];
    for (script, more, code) in cases {
        let (local, report) = local_run(&script, more);
        assert_eq!(local.code, code, "{}", local.screen());
        let (setting, cluster) = cluster();
        let id = report["run"].as_str().expect("an id").to_owned();
        setting.autonoe(&["submit", "shop", "--run", &id]);
        cluster.change(&id, |run| {
            run.phase = RunPhase::Ended;
            run.outcome = Some(RunOutcome::succeeded(report.clone()));
        });

        let text = setting.autonoe_in_time(&["submit", "shop", "--run", &id, "--wait"]);
        let wait = ["submit", "shop", "--run", &id, "--wait", "--output=json"];
        let json = setting.autonoe_in_time(&wait);

        assert_eq!(text.stdout, local.stdout, "{}", text.screen());
        assert_eq!((text.code, json.code), (code, code));
        let last: Value =
            serde_json::from_str(json.stdout.lines().last().expect("events")).expect("JSON");
        assert_eq!(
            (&last["event"], &last["report"]),
            (&json!("run_ended"), &report)
        );
    }
}

/// Carries out sessions on a host as a worker does, with `autonoe session-host`.
fn sessions_on_host(folder: &Path, run: &str, sessions: &[InstructionName]) {
    let program = PipedProgram::new(env!("CARGO_BIN_EXE_autonoe"), folder)
        .args(["session-host", "--backend", "scripted:agents.json"])
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let host = ProgramSessionHost::new(program);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        for (number, instruction) in (1..).zip(sessions) {
            let run = RunId::new(run);
            let key = SessionKey { run, number };
            let session = HostedSession::new(instruction.clone());
            let never = CancellationToken::new();
            let attached = host.attach_or_start(&key, Epoch(1), session, &|_| {}, never);
            attached.await.expect("it is carried out");
        }
    });
}

/// Returns events without what differs from run to run.
fn comparable(events: &str, run: &str, folder: &str) -> Vec<Value> {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let differs = ["at", "traceId", "spanId", "parentSpanId", "durationMs"];
                fields.retain(|name, _| !differs.contains(&name.as_str()));
                fields.values_mut().for_each(forget);
            }
            Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let events = events.replace(run, "RUN").replace(folder, "FOLDER");
    let event = |line| {
        let mut event = serde_json::from_str(line).expect("JSON");
        forget(&mut event);
        event
    };
    events.lines().map(event).collect()
}

#[test]
fn programs_are_told_the_same_events_as_of_a_run_here() {
    let (create, passed) = (create(), passed());
    let denied = json!({"tool": "Bash", "input": {"command": "rm -rf /"}});
    let script = sessions(&[
        json!([{"says": "I plan."}, {"uses": create}, "ends"]),
        json!([{"says": "I work."}, {"isDenied": denied}, {"uses": passed}, "ends"]),
    ]);
    let local = Setting::new()
        .file("SPEC.md", "# Shop\n")
        .file("agents.json", script.to_string());
    let run = ["run", "--backend=scripted:agents.json", "--pause=0s"];
    let said = local.autonoe(&[&run[..], &["--output=json"]].concat());
    assert_eq!(said.code, 0, "{}", said.screen());
    let last: Value =
        serde_json::from_str(said.stdout.lines().last().expect("lines")).expect("JSON");
    let report = &last["report"];
    let id = report["run"].as_str().expect("an id");

    let (setting, cluster) = cluster();
    let folder = cluster.project("build-1", "shop");
    fs::write(folder.join("SPEC.md"), "# Shop\n").expect("writable");
    fs::write(folder.join("agents.json"), script.to_string()).expect("writable");
    setting.autonoe(&["submit", "shop", "--run", id]);
    let instructions = [InstructionName::Initializer, InstructionName::Coding];
    sessions_on_host(&folder, id, &instructions);
    cluster.change(id, |run| {
        run.phase = RunPhase::Ended;
        run.host = Some("build-1".to_owned());
        run.outcome = Some(RunOutcome::succeeded(report.clone()));
    });
    let wait = ["submit", "shop", "--run", id, "--wait", "--output=json"];
    let told = setting.autonoe_in_time(&wait);

    let here = comparable(&said.stdout, id, "[folder]/project");
    let there = comparable(&told.stdout, id, "[folder]/project/cluster/build-1/shop");
    assert!(here.len() > 20, "{here:#?}");
    assert_eq!(there, here, "{}", told.screen());
}

#[test]
fn what_happens_is_told_as_of_a_run_here() {
    let (setting, cluster) = cluster();
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    cluster.events("build-1", "shop", &events("shop-1"));
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Running;
        run.host = Some("build-1".to_owned());
    });
    lines.until("Session 2 completed");
    cluster.change("shop-1", |run| run.phase = RunPhase::Paused);
    lines.until("Paused");
    cluster.change("shop-1", |run| run.phase = RunPhase::Running);
    lines.until("Resumed");
    cluster.change("shop-1", |run| {
        run.phase = RunPhase::Ended;
        run.outcome = Some(done("shop-1"));
    });

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    insta::assert_snapshot!(told, @r"
    Run shop-1 was submitted
    Run shop-1 started (run)
    Session 1 started (initializer)
    [PENDING] A greeting [2J (DL-001)
    Session 1 completed (2s, $0.05, 0 tools)
    Session 2 started (coding)
    [PASS] A greeting (DL-001)
    Session 2 completed (2s, $0.05, 0 tools)
    Paused
    Resumed
    ");
}

#[test]
fn who_interrupts_the_wait_leaves_the_run_at_work_and_is_told_how_to_reach_it() {
    for signal in ["-INT", "-TERM"] {
        let (setting, cluster) = cluster();
        let child = setting
            .command(&["submit", "shop", "--run", "shop-1", "--wait"])
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let mut lines = Lines::of(child.expect("it starts"));
        lines.until("Run shop-1 was submitted");

        lines.signal(signal);
        let (code, told) = lines.end();

        assert_eq!(code, Some(130), "{told}");
        let ways = "the run shop-1 goes on; `autonoe engine logs shop-1 --follow` tells it, \
            `autonoe engine cancel shop-1` ends it\n";
        assert!(told.ends_with(ways), "{told}");
        let run = cluster.run("shop-1").expect("it is there");
        assert_eq!((run.outcome, run.told), (None, Vec::new()));
    }
}

#[test]
fn who_interrupts_before_there_is_an_answer_is_told_so() {
    let script = r#"echo '{"hello":{"protocol":"autonoe-engine","version":1}}'; read a; read b; echo > asked; read c"#;
    let setting = Setting::new().program("autonoe-worker", script);
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let lines = Lines::of(child.expect("it starts"));
    let deadline = Instant::now() + DEADLINE;
    while !setting.project().join("asked").exists() {
        assert!(Instant::now() < deadline, "it does not ask");
        thread::sleep(Duration::from_millis(5));
    }

    lines.signal("-INT");
    let (code, told) = lines.end();

    assert_eq!(code, Some(130), "{told}");
    let words = "nobody has said yet whether the run shop-1 is taken; if it is, `autonoe";
    assert!(told.starts_with(words), "{told}");
}

#[test]
fn a_run_that_was_cancelled_ends_as_one_that_was_interrupted() {
    let (setting, cluster) = cluster();
    setting.autonoe(&["submit", "shop", "--run", "shop-1"]);
    cluster.change("shop-1", |run| {
        run.outcome = Some(RunOutcome::cancelled("enough"));
    });

    let said = setting.autonoe_in_time(&["submit", "shop", "--run", "shop-1", "--wait"]);

    assert_eq!(
        (said.code, said.stdout.as_str()),
        (130, ""),
        "{}",
        said.screen()
    );
    assert!(
        said.stderr.contains("It was cancelled: enough"),
        "{}",
        said.screen()
    );
}

#[test]
fn why_a_run_does_not_come_on_is_told_once() {
    let (setting, cluster) = cluster();
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    let stuck = |why: Option<&str>| {
        cluster.change("shop-1", |run| run.trouble = why.map(ToOwned::to_owned));
    };
    stuck(Some("no host has the project"));
    lines.until("The run does not come on: no host has the project");
    stuck(Some("the disk is full"));
    lines.until("The run does not come on: the disk is full");
    cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("does not come on").count(), 2, "{told}");
}

#[test]
fn that_what_happens_cannot_be_told_does_not_end_the_wait() {
    let setting = with_cluster(Setting::new());
    let cluster = super::cluster::Cluster::of(&setting);
    let child = setting
        .command(&["submit", "shop", "--run", "shop-1", "--wait"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn();
    let mut lines = Lines::of(child.expect("it starts"));
    lines.until("Run shop-1 was submitted");
    let folder = cluster.project("build-1", "shop").join(".autonoe");
    fs::create_dir(&folder).expect("writable");
    fs::write(folder.join("events"), "no folder").expect("writable");
    cluster.change("shop-1", |run| run.host = Some("build-1".to_owned()));
    lines.until("warning: what happens cannot be told for now");
    cluster.change("shop-1", |run| run.outcome = Some(done("shop-1")));

    let (code, told) = lines.end();

    assert_eq!(code, Some(0), "{told}");
    assert_eq!(told.matches("cannot be told").count(), 1, "{told}");
}
