//! What was recorded once is played again, and fails when we decide differently.

use std::error::Error as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClientFactory, AgentErrorKind, CostUsd, DeliverableRepository, ExitReason,
    FixedInstructions, HookDecision, InstructionName, LedgerState, MemoryRepository,
    PreToolUseHook, RunControl, RunReport, SeededIds, SessionRunner, hook_fn,
};
use autonoe_testkit::conformance::{AgentHarness, Scenario, agent_client};
use autonoe_testkit::{
    Cassette, CassetteError, EventLog, Fault, FaultyAgents, Recorder, Replayer, ScriptedAgents,
    SessionScript, ToolUse, VirtualClock,
};
use serde_json::{Value, json};

const SECRET: &str = "sk-hunter2";
const TOKEN: &str = "the \"quoted\" token";

fn scripts() -> [SessionScript; 3] {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    let unknown = json!({"deliverableId": "DL-404", "status": "passed"});
    [
        SessionScript::new("plans")
            .thinks("what is asked?")
            .uses_tool("mcp__autonoe__create", plan)
            .costs(CostUsd::from_cents(10))
            .ends(),
        SessionScript::new("breaks").fails(AgentErrorKind::Overloaded, "too much to do"),
        SessionScript::new("builds")
            .is_denied("Bash", json!({"command": "rm -rf /"}))
            .calls_at_once([
                ToolUse::new("Read", json!({"file_path": "SPEC.md"})).answering("Do it."),
                ToolUse::new("Write", json!({"file_path": "key", "content": SECRET})),
            ])
            .fails_tool("mcp__autonoe__set_status", unknown)
            .says(json!({"token": TOKEN}).to_string())
            .uses_tool("mcp__autonoe__set_status", passed)
            .ends(),
    ]
}

/// What a run leaves behind.
#[derive(Debug)]
struct Left {
    report: RunReport,
    ledger: Option<LedgerState>,
    log: String,
}

async fn run_with(agents: Arc<dyn AgentClientFactory>, hook: Arc<dyn PreToolUseHook>) -> Left {
    let repository = Arc::new(MemoryRepository::new());
    let texts = InstructionName::BUILT_IN.map(|name| (name, format!("Do it with {SECRET}.")));
    let log = Arc::new(EventLog::new());
    let report = SessionRunner::builder("/srv/project")
        .agents(agents)
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .ids(Arc::new(SeededIds::new(1)))
        .environment("TOKEN", TOKEN)
        .environment("CI", "1")
        .hook(hook)
        .observer(log.clone())
        .max_iterations(5)
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await;
    let saved = repository.load().await.expect("it is in memory");
    Left {
        report,
        ledger: saved.map(|saved| saved.state),
        log: log.render(),
    }
}

async fn run(agents: Arc<dyn AgentClientFactory>) -> Left {
    run_with(agents, hook_fn("nothing", |_| HookDecision::Pass)).await
}

async fn recorded() -> (Cassette, Left) {
    let agents = Arc::new(ScriptedAgents::new(scripts()));
    let recorder = Arc::new(Recorder::new(agents).with_secrets([SECRET]));
    let left = run(recorder.clone()).await;
    (recorder.cassette(), left)
}

/// Returns the lines of a log without the secrets, sorted: calls that were made
/// at once are replayed one after the other.
fn lines(log: &str) -> Vec<String> {
    let [token, hidden] =
        [TOKEN, "[redacted]"].map(|text| format!("{:?}", json!({"token": text}).to_string()));
    let log = log.replace(SECRET, "[redacted]").replace(&token, &hidden);
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[tokio::test(start_paused = true)]
async fn a_replay_leaves_what_the_recorded_run_left() {
    let (cassette, before) = recorded().await;

    let replayer = Arc::new(Replayer::new(cassette));
    let after = run(replayer.clone()).await;

    replayer.verify();
    assert_eq!(before.report.exit, ExitReason::AllPassed);
    assert_eq!(lines(&after.log), lines(&before.log));
    assert_eq!((after.report, after.ledger), (before.report, before.ledger));
}

#[tokio::test(start_paused = true)]
async fn another_decision_fails_with_what_was_and_what_is() {
    let (cassette, _) = recorded().await;
    let hook = hook_fn("careful", |call| match call.name.as_str() {
        "Write" => HookDecision::block("nothing is written today"),
        _ => HookDecision::Pass,
    });

    let replayer = Arc::new(Replayer::new(cassette).unverified());
    run_with(replayer.clone(), hook).await;

    insta::assert_snapshot!(replayer.mismatches().join("\n"), @r#"
    session 3 (coding), call 3: Write {"content":"[redacted]","file_path":"key"}
      - recorded ok: "done"
      + now denied: "denied by careful: nothing is written today"
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_differently_is_a_mismatch() {
    let (cassette, _) = recorded().await;
    // As if an earlier version of the tool had let unknown deliverables pass.
    let text = json!(cassette).to_string();
    let lenient = text.replace(r#""status":"error""#, r#""status":"ok""#);
    let lenient: Cassette = serde_json::from_str(&lenient).expect("it is a cassette");

    let replayer = Arc::new(Replayer::new(lenient).unverified());
    run(replayer.clone()).await;

    insta::assert_snapshot!(replayer.mismatches().join("\n"), @r#"
    session 3 (coding), call 4: mcp__autonoe__set_status {"deliverableId":"DL-404","status":"passed"}
      - recorded ok: "NOT_FOUND: there is no deliverable DL-404"
      + now failed: "NOT_FOUND: there is no deliverable DL-404"
    "#);
}

#[tokio::test(start_paused = true)]
async fn sessions_on_one_side_only_are_mismatches() {
    let (cassette, _) = recorded().await;
    let mut shorter = json!(cassette);
    shorter["sessions"][2]["number"] = json!(7);
    let shorter: Cassette = serde_json::from_value(shorter).expect("it is a cassette");

    let replayer = Arc::new(Replayer::new(shorter).unverified());
    let left = run(replayer.clone()).await;

    assert!(
        matches!(left.report.exit, ExitReason::Failed { .. }),
        "{left:?}"
    );
    assert_eq!(
        replayer.mismatches(),
        [
            "session 3 (coding) is not on the cassette",
            "session 7 (coding) was never played",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_drop_tells_of_mismatches_that_nobody_looked_at() {
    let (cassette, _) = recorded().await;
    let replayer = Replayer::new(cassette);

    let dropped = catch_unwind(AssertUnwindSafe(|| drop(replayer)));

    let message = dropped.expect_err("nothing was played");
    let message = message.downcast_ref::<String>().expect("it says why");
    assert!(
        message.starts_with("the replay is not what was recorded:\nsession 1 "),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_backend_did_wrong_is_replayed() {
    for seed in 0..40 {
        let scripted = ScriptedAgents::new(scripts()).unverified();
        let faults = [Fault::MissingEnd, Fault::ErrorAfterEnd, Fault::WrongCost];
        let faulty = FaultyAgents::new(Arc::new(scripted), seed).with_faults(faults);
        let recorder = Arc::new(Recorder::new(Arc::new(faulty)));
        let before = run(recorder.clone()).await;

        let after = run(Arc::new(Replayer::new(recorder.cassette()))).await;

        assert_eq!(after.report, before.report, "seed {seed}");
        assert_eq!(after.ledger, before.ledger, "seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silence_is_replayed_as_a_silence() {
    let scripts = [SessionScript::new("sleeps").says("wait").hangs()];
    let recorder = Arc::new(Recorder::new(Arc::new(
        ScriptedAgents::new(scripts).unverified(),
    )));
    let run_once = async |agents: Arc<dyn AgentClientFactory>| {
        let texts = FixedInstructions::new([(InstructionName::Initializer, "Plan.")]);
        let runner = SessionRunner::builder("/srv/project")
            .agents(agents)
            .repository(Arc::new(MemoryRepository::new()))
            .instructions(Arc::new(texts))
            .clock(Arc::new(VirtualClock::new()))
            .ids(Arc::new(SeededIds::new(1)))
            .max_retries(0);
        runner
            .build()
            .expect("parts fit")
            .run(&RunControl::new())
            .await
    };

    let before = run_once(recorder.clone()).await;
    let after = run_once(Arc::new(Replayer::new(recorder.cassette()))).await;

    assert_eq!(after, before);
    assert!(after.elapsed.as_secs() >= 30 * 60, "{after}");
}

#[tokio::test(start_paused = true)]
async fn secrets_and_the_environment_are_not_in_the_file() {
    let (cassette, _) = recorded().await;
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("run.json");

    cassette.save(&path).expect("it is saved");

    let text = fs::read_to_string(&path).expect("it is there");
    for secret in [SECRET, "quoted", "TOKEN"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    assert!(text.contains("Do it with [redacted]."), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_cassette_is_the_same_bytes_each_time() {
    let dir = tempfile::tempdir().expect("there is room");
    let [one, two] = ["one.json", "two.json"].map(|name| dir.path().join(name));
    let (cassette, _) = recorded().await;
    cassette.save(&one).expect("it is saved");

    let loaded = Cassette::load(&one).expect("it is a cassette");
    loaded.save(&two).expect("it is saved");

    let (again, _) = recorded().await;
    assert_eq!(loaded, cassette);
    assert_eq!(again, cassette);
    assert_eq!(fs::read(&one).ok(), fs::read(&two).ok());
}

#[tokio::test(start_paused = true)]
async fn the_shape_of_a_session_is_what_it_was() {
    let script = SessionScript::new("asks")
        .is_denied("mcp__autonoe__verify", json!({}))
        .fails(AgentErrorKind::Crashed, "it broke");
    let agents = ScriptedAgents::new([script]).unverified();
    let recorder = Arc::new(Recorder::new(Arc::new(agents)).with_secrets([SECRET]));
    run(recorder.clone()).await;

    let shape = json!(recorder.cassette());

    let why = "denied by grants: nothing grants this use of mcp__autonoe__verify; work without it";
    assert_eq!(shape["version"], 1);
    assert_eq!(
        shape["sessions"][0],
        json!({
            "number": 1,
            "instruction": "initializer",
            "tools": ["create"],
            "turns": [{
                "prompt": "Do it with [redacted].",
                "stream": [
                    {"event": {"type": "stream_started", "session": "scripted-1"}},
                    {"event": {
                        "type": "stream_tool_invocation",
                        "callId": "call-1-1",
                        "name": "mcp__autonoe__verify",
                        "input": {},
                    }},
                    {"event": {
                        "type": "stream_tool_response",
                        "callId": "call-1-1",
                        "output": why,
                        "status": "denied",
                    }},
                    {"error": {"code": "crashed", "message": "it broke"}},
                ],
                "end": "left_open",
            }],
        })
    );
}

/// Loads `text` as a cassette and returns what is said about it.
fn refusal(text: &str) -> (CassetteError, String) {
    let dir = tempfile::tempdir().expect("there is room");
    let path = dir.path().join("run.json");
    fs::write(&path, text).expect("there is room");

    let error = Cassette::load(&path).expect_err("it is no cassette");

    assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(text));
    let message = error
        .to_string()
        .replace(&dir.path().display().to_string(), "..");
    (error, message)
}

#[test]
fn another_version_is_refused_and_kept() {
    let (error, message) = refusal(r#"{"version": 9, "reels": []}"#);

    assert!(matches!(error, CassetteError::Version { found: 9, .. }));
    assert_eq!(
        message,
        "the cassette ../run.json has version 9, and only version 1 is understood; record it again"
    );
}

#[test]
fn what_is_no_cassette_is_refused_and_kept() {
    for text in [
        "",
        "{",
        "[]",
        r#"{"version": 1}"#,
        r#"{"version": 1, "sessions": [], "x": 1}"#,
    ] {
        let (error, message) = refusal(text);

        assert_eq!(
            message, "../run.json does not hold a valid cassette",
            "{text}"
        );
        assert!(error.source().is_some(), "{text}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Cassette::load(Path::new("/nowhere/run.json")).expect_err("it is not there");

    assert_eq!(
        error.to_string(),
        "the cassette /nowhere/run.json cannot be read"
    );
}

/// Plays the scenarios of the conformance suite from cassettes.
struct Replays;

#[async_trait]
impl AgentHarness for Replays {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        let completed = json!({"event": {"type": "stream_end", "outcome": "completed"}});
        let says = |text: &str| json!({"event": {"type": "stream_text", "text": text}});
        let mut stream = vec![json!({"event": {"type": "stream_started", "session": "taped"}})];
        match scenario {
            Scenario::Says { text } => stream.extend([says(text), completed]),
            Scenario::RunsCommand { command } => {
                stream.extend(calls([("Bash".to_owned(), json!({ "command": command }))]));
                stream.push(completed);
            }
            Scenario::UsesTools { calls: all } => {
                let all = all.iter();
                stream.extend(calls(all.map(|it| (it.qualified_name(), it.input.clone()))));
                stream.push(completed);
            }
            Scenario::Hangs => stream.push(says("working on it")),
            Scenario::Fails => {
                stream.push(json!({"error": {"code": "crashed", "message": "it is gone"}}));
            }
            Scenario::HitsQuota { resets_at } => stream.push(json!({"event": {
                "type": "stream_end",
                "outcome": "quota_exceeded",
                "message": "You've hit your limit",
                "resetsAt": resets_at,
            }})),
            _ => return None,
        }
        let turn = json!({"prompt": "", "stream": stream, "end": "left_open"});
        let session = json!({"number": 1, "instruction": "coding", "tools": [], "turns": [turn]});
        let sessions: Vec<Value> = (1..=3)
            .map(|number| {
                let mut session = session.clone();
                session["number"] = json!(number);
                session
            })
            .collect();
        let backend = ScriptedAgents::new([]).capabilities().clone();
        let cassette = json!({"version": 1, "backend": backend, "sessions": sessions});
        let cassette = serde_json::from_value(cassette).expect("it is a cassette");
        // The suite breaks off many sessions on purpose.
        Some(Arc::new(Replayer::new(cassette).unverified()))
    }
}

/// Makes the events of calls that were all made at once.
fn calls(all: impl IntoIterator<Item = (String, Value)>) -> Vec<Value> {
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    for (number, (name, input)) in all.into_iter().enumerate() {
        let id = format!("call-{number}");
        asked.push(json!({"event": {
            "type": "stream_tool_invocation", "callId": id, "name": name, "input": input,
        }}));
        answered.push(json!({"event": {
            "type": "stream_tool_response", "callId": id, "output": "done", "status": "ok",
        }}));
    }
    [asked, answered].concat()
}

#[tokio::test(start_paused = true)]
async fn replayed_sessions_conform() {
    let report = agent_client(&Replays).await;

    report.assert();
    assert_eq!(report.skipped(), []);
}

/// Records what a replay plays.
struct RecordsReplays;

#[async_trait]
impl AgentHarness for RecordsReplays {
    async fn agents(&self, scenario: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        Some(Arc::new(Recorder::new(Replays.agents(scenario).await?)))
    }
}

#[tokio::test(start_paused = true)]
async fn recorded_sessions_conform() {
    agent_client(&RecordsReplays).await.assert();
}
