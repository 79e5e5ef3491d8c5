//! Whatever goes wrong with a backend: a run ends with a report, and the ledger tells no lies.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentSessionId, Capabilities, CostUsd,
    DeliverableRepository, DeliverableStatus, FixedInstructions, Gate, Grants, HookCoverage,
    InstructionName, MemoryRepository, MessageStream, NoControl, OnQuota, Places, Prompt,
    RunControl, RunId, RunReport, SeededIds, SessionControl, SessionKey, SessionOutcome,
    SessionRunner, SessionSpec, StreamEvent, Support, ToolContext, ToolStatus, Toolbox,
};
use autonoe_testkit::{Fault, FaultHit, FaultyAgents, ScriptedAgents, SessionScript, VirtualClock};
use futures::{FutureExt, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};

/// A backend that works on whatever it finds, and never minds.
#[derive(Clone, Default)]
struct Diligent {
    notes: Arc<Notes>,
}

#[derive(Default)]
struct Notes {
    created: AtomicUsize,
    disposed: AtomicUsize,
    /// The deliverables that some call asked to pass.
    passed: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl AgentClientFactory for Diligent {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("diligent")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.notes.created.fetch_add(1, Ordering::Relaxed);
        let notes = self.notes.clone();
        Ok(Box::new(Worker { notes, spec }))
    }
}

struct Worker {
    notes: Arc<Notes>,
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for Worker {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let (events, received) = mpsc::unbounded_channel();
        let work = tokio::spawn(work(self.notes.clone(), self.spec.clone(), events));
        let guard = AbortOnDrop(work);
        stream::unfold((received, guard), |(mut received, guard)| async move {
            let event = received.recv().await?;
            Some((Ok(event), (received, guard)))
        })
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.notes.disposed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Plans four deliverables, of which it works on three.
async fn work(notes: Arc<Notes>, spec: SessionSpec, events: UnboundedSender<StreamEvent>) {
    let number = spec.key.number;
    let session = AgentSessionId::new(format!("diligent-{number}"));
    let _ = events.send(StreamEvent::started(session, None));
    let _ = events.send(StreamEvent::text("I begin."));
    if spec.instruction == InstructionName::Initializer {
        let plan: Vec<Value> = (1..=4)
            .map(|n| json!({"id": format!("DL-{n}"), "description": "It", "acceptanceCriteria": ["it works"]}))
            .collect();
        call(&spec, &events, 1, "create", json!({"deliverables": plan})).await;
    } else {
        call(&spec, &events, 1, "list", json!({})).await;
        let id = format!("DL-{}", 1 + number % 3);
        notes
            .passed
            .lock()
            .expect("not poisoned")
            .insert(id.clone());
        let passed = json!({"deliverableId": id, "status": "passed"});
        call(&spec, &events, 2, "set_status", passed).await;
    }
    let cost = Some(CostUsd::from_cents(25));
    let _ = events.send(StreamEvent::end(SessionOutcome::Completed, cost));
}

async fn call(
    spec: &SessionSpec,
    events: &UnboundedSender<StreamEvent>,
    number: u32,
    tool: &str,
    input: Value,
) {
    let (id, name) = (format!("call-{number}"), Toolbox::qualified_name(tool));
    let _ = events.send(StreamEvent::tool_invocation(&id, &name, input.clone()));
    tokio::task::yield_now().await;
    let call = spec.tool_call(&id, name, input.clone());
    let (output, status) = if spec.gate.decide(&call).await.is_allowed() {
        let context = ToolContext::new(spec.key.clone()).with_call_id(&id);
        match spec.tools.call(tool, input, context).await {
            Ok(output) => (output.output, ToolStatus::Ok),
            Err(error) => (error.to_string(), ToolStatus::Error),
        }
    } else {
        ("no".to_owned(), ToolStatus::Denied)
    };
    let _ = events.send(StreamEvent::tool_response(id, output, status));
}

const MAX_ITERATIONS: u32 = 12;

/// What is left after a run.
struct Aftermath {
    report: RunReport,
    hits: Vec<FaultHit>,
    passed: BTreeSet<String>,
    asked: BTreeSet<String>,
    created: usize,
    disposed: usize,
}

async fn run(seed: u64) -> Aftermath {
    let backend = Diligent::default();
    let agents = FaultyAgents::new(Arc::new(backend.clone()), seed).with_rate_percent(60);
    let agents = Arc::new(agents);
    let repository = Arc::new(MemoryRepository::new());
    let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));
    let on_quota = match seed % 2 {
        0 => OnQuota::Wait,
        _ => OnQuota::Stop,
    };

    let report = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .ids(Arc::new(SeededIds::new(seed)))
        .on_quota(on_quota)
        .max_iterations(MAX_ITERATIONS)
        .max_retries(if seed.is_multiple_of(3) { 2 } else { 100 })
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await;

    let saved = repository.load().await.expect("it is in memory");
    let passed = saved
        .iter()
        .flat_map(|saved| saved.state.ledger.deliverables());
    let passed = passed.filter(|deliverable| deliverable.status() == DeliverableStatus::Passed);
    let asked = backend.notes.passed.lock().expect("not poisoned").clone();
    assert_eq!(
        agents.created(),
        backend.notes.created.load(Ordering::Relaxed)
    );
    assert_eq!(
        agents.disposed(),
        backend.notes.disposed.load(Ordering::Relaxed)
    );
    Aftermath {
        report,
        hits: agents.hits(),
        passed: passed
            .map(|deliverable| deliverable.id().to_string())
            .collect(),
        asked,
        created: agents.created(),
        disposed: agents.disposed(),
    }
}

#[tokio::test(start_paused = true)]
async fn every_run_ends_with_a_report_and_an_honest_ledger() {
    let mut met = BTreeSet::new();

    for seed in 0..300 {
        let after = run(seed).await;

        let report = &after.report;
        assert!(report.iterations <= MAX_ITERATIONS, "seed {seed}: {report}");
        assert_eq!(after.created, after.disposed, "seed {seed}");
        assert_eq!(after.created, report.sessions as usize, "seed {seed}");
        assert!(
            after.passed.is_subset(&after.asked),
            "seed {seed}: {:?} passed, but only {:?} was asked for",
            after.passed,
            after.asked
        );
        assert_eq!(report.passed, after.passed.len(), "seed {seed}");
        met.extend(after.hits.into_iter().map(|hit| hit.fault));
    }

    assert_eq!(met, BTreeSet::from(Fault::ALL));
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run() {
    for seed in [1, 2, 3, 4] {
        let (one, two) = (run(seed).await, run(seed).await);

        assert_eq!(one.hits, two.hits);
        assert_eq!(one.report, two.report);
    }
}

/// Lets `fault` into a session that talks, calls a tool and ends.
async fn disturbed(fault: Fault) -> (FaultyAgents, Vec<String>) {
    let script = SessionScript::new("works")
        .uses_tool("Task", json!({}))
        .says("done")
        .costs(CostUsd::from_cents(5))
        .ends();
    let agents = FaultyAgents::new(Arc::new(ScriptedAgents::new([script]).unverified()), 5)
        .with_faults([fault])
        .with_rate_percent(100);
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(
        Places::new("/srv/project"),
        Grants::none().with_tool("Task"),
    );
    let spec = SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]));
    let mut client = agents.create(spec).expect("there is a script");
    let mut lines = Vec::new();
    let mut stream = client.query("go".into());
    loop {
        let next = std::panic::AssertUnwindSafe(stream.next()).catch_unwind();
        lines.push(
            match tokio::time::timeout(Duration::from_secs(3600), next).await {
                Err(_) => "silence".to_owned(),
                Ok(Err(_)) => "panic".to_owned(),
                Ok(Ok(None)) => "over".to_owned(),
                Ok(Ok(Some(Err(error)))) => {
                    lines.push(format!("error: {error}"));
                    continue;
                }
                Ok(Ok(Some(Ok(event)))) => {
                    lines.push(line(&event));
                    continue;
                }
            },
        );
        break;
    }
    drop(stream);
    client.dispose().await.expect("it disposes");
    (agents, lines)
}

fn line(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Started { .. } => "started".to_owned(),
        StreamEvent::Text { text, .. } => text.clone(),
        StreamEvent::ToolInvocation { call_id, .. } => format!("{call_id}?"),
        StreamEvent::ToolResponse { call_id, .. } => format!("{call_id}!"),
        StreamEvent::End { outcome, cost, .. } => {
            let cost = cost.map_or("unknown".to_owned(), |cost| cost.to_string());
            match outcome {
                SessionOutcome::Completed => format!("completed for {cost}"),
                SessionOutcome::QuotaExceeded { .. } => "quota".to_owned(),
                other => format!("{other:?}"),
            }
        }
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_shows_as_it_says() {
    let call = ["started", "call-1-1?", "call-1-1!", "done"];
    let undisturbed = [&call[..], &["completed for $0.05", "over"]].concat();
    let cases = [
        (Fault::MissingEnd, [&call[..], &["over"]].concat()),
        (
            Fault::ErrorAfterEnd,
            vec![
                "started",
                "call-1-1?",
                "call-1-1!",
                "done",
                "completed for $0.05",
                "error: the fault injector fails after the end",
                "over",
            ],
        ),
        (
            Fault::QuotaInTool,
            vec!["started", "call-1-1?", "quota", "over"],
        ),
        (
            Fault::DuplicateCallIds,
            vec![
                "started",
                "call-1-1?",
                "call-1-1?",
                "call-1-1!",
                "call-1-1!",
                "done",
                "completed for $0.05",
                "over",
            ],
        ),
        (Fault::SlowDrip, undisturbed),
    ];
    for (fault, expected) in cases {
        let (agents, lines) = disturbed(fault).await;

        assert_eq!(lines, expected, "{fault}");
        assert_eq!(agents.hits().len(), 1, "{fault}");
        assert_eq!((agents.created(), agents.disposed()), (1, 1), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_in_the_middle_end_there() {
    let cases = [
        (Fault::CutStream, "over"),
        (Fault::Silence, "silence"),
        (Fault::Panic, "panic"),
    ];
    for (fault, last) in cases {
        let (agents, lines) = disturbed(fault).await;

        assert_eq!(lines.last().map(String::as_str), Some(last), "{lines:?}");
        assert!(!lines.iter().any(|line| line.starts_with("completed")));
        assert_eq!(agents.hits()[0].fault, fault);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_drip_takes_time() {
    let started = tokio::time::Instant::now();

    disturbed(Fault::SlowDrip).await;

    assert!(
        started.elapsed() >= Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_wrong_cost_is_told_at_the_end() {
    let (agents, lines) = disturbed(Fault::WrongCost).await;

    assert_eq!(agents.hits()[0].to_string(), "session 1: wrong cost");
    assert!(
        !lines.contains(&"completed for $0.05".to_owned()),
        "{lines:?}"
    );
}
