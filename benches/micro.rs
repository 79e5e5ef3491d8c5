//! Cost of one scripted session, of one event and of one gate decision.
//!
//! `cargo bench -p autonoe-benches --bench micro`

use std::sync::Arc;

use autonoe_core::event::{Events, InstructionName};
use autonoe_core::gate::policy::Verdict;
use autonoe_core::gate::{AutonoeGuard, BashGuard, FileScope, Gate, Grants, ProjectPaths};
use autonoe_core::ledger::{LedgerStore, LedgerView, MemoryRepository, deliverable_tools};
use autonoe_core::run::{RunFact, RunLimits, RunMachine, Session, SessionLimits};
use autonoe_core::time::{Epoch, SeededIds, SessionKey, SystemClock};
use autonoe_core::tool::Toolbox;
use autonoe_core::{
    AgentClientFactory, HookDecision, Mode, RunEvent, RunEventKind, RunId, RunObserver,
    SessionSpec, StreamEvent, ToolCall, hook_fn,
};
use autonoe_testkit::ScriptedBackend;
use divan::Bencher;
use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
}

fn gate(project_paths: ProjectPaths) -> Gate {
    Gate::new(
        project_paths.clone(),
        Grants::baseline(Mode::Run).with_tool("mcp__autonoe__list"),
    )
    .with_guard(Arc::new(BashGuard::new(Arc::new(|_: &str| Verdict::Allow))))
    .with_guard(Arc::new(FileScope::new(project_paths.clone())))
    .with_guard(Arc::new(AutonoeGuard::new(project_paths)))
    .with_hook(hook_fn("user", |_, _| HookDecision::Pass))
}

/// One session of a dozen events with three tool calls, client and disposal included.
#[divan::bench]
fn scripted_session(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let store = LedgerStore::new(
        Arc::new(MemoryRepository::new()),
        Arc::new(SystemClock),
        Epoch(1),
    );
    bencher
        .with_inputs(|| ScriptedBackend::new([autonoe_benches::work()]))
        .bench_values(|agents| {
            runtime.block_on(async {
                let key = SessionKey {
                    run: RunId::new("run"),
                    number: 1,
                };
                let tools = Toolbox::new(deliverable_tools(&store, &InstructionName::Coding));
                let spec = SessionSpec::new(
                    key,
                    "/srv/project",
                    gate(ProjectPaths::new("/srv/project")),
                    tools,
                );
                let client = agents.create(spec).expect("there is a script");
                let session = Session::new(Arc::new(SystemClock), SessionLimits::default());
                let stop = CancellationToken::new();
                session.run(client, "go".into(), &stop, &mut |_| {}).await
            })
        });
}

/// A complete run of ten sessions, per run: planning, eight working sessions, the end.
#[divan::bench]
fn run_of_ten_sessions(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    bencher.bench(|| runtime.block_on(autonoe_benches::whole_run(8)));
}

/// One event to `observers` observers.
#[divan::bench(args = [0, 1, 4])]
fn event_to_observers(bencher: Bencher<'_, '_>, observers: usize) {
    let watch: Arc<dyn RunObserver> = Arc::new(|event: &RunEvent<'_>| {
        divan::black_box(event.at);
    });
    let events = Events::new(
        vec![watch; observers],
        Arc::new(SystemClock),
        Arc::new(SeededIds::new(1)),
    );
    let stream = StreamEvent::text("hello");
    bencher.bench(|| events.emit(RunEventKind::Agent { stream: &stream }));
}

/// One decision of a gate with all guards, a hook and the baseline grants. Neither the project nor a
/// home directory exists.
#[divan::bench(args = ["Bash", "Write", "Read", "mcp__autonoe__list"])]
fn gate_decision(bencher: Bencher<'_, '_>, tool: &str) {
    bench_decision(bencher, ProjectPaths::new("/srv/project"), tool);
}

/// The same decision in a project below a home directory, as in a real run: the guards also resolve
/// the credential paths of the home directory.
#[divan::bench(args = ["Bash", "Write", "Read", "mcp__autonoe__list"])]
fn gate_decision_with_home(bencher: Bencher<'_, '_>, tool: &str) {
    let home = tempfile::tempdir().expect("a home directory");
    let project = home.path().join("code/project");
    for folder in [&project.join("src"), &home.path().join(".ssh")] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    for folder in [".config/gh", ".cargo", ".claude", ".cache"] {
        std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
    }
    for file in ["code/project/src/main.rs", ".npmrc", ".claude.json"] {
        std::fs::write(home.path().join(file), "").expect("a file");
    }
    bench_decision(
        bencher,
        ProjectPaths::new(project).with_home(home.path()),
        tool,
    );
}

fn bench_decision(bencher: Bencher<'_, '_>, project_paths: ProjectPaths, tool: &str) {
    let runtime = runtime();
    let call = ToolCall::new(
        tool,
        json!({"command": "ls -la src", "file_path": "src/main.rs"}),
    )
    .in_dir(&project_paths.project);
    let gate = gate(project_paths);
    bencher.bench(|| runtime.block_on(gate.decide(&call)));
}

/// One decision of the run machine.
#[divan::bench]
fn machine_step(bencher: Bencher<'_, '_>) {
    let at = autonoe_core::time::Clock::now(&SystemClock);
    bencher
        .with_inputs(|| RunMachine::new(RunLimits::new(Mode::Run)))
        .bench_values(|mut machine| {
            machine.apply(RunFact::Started {
                at,
                ledger: LedgerView::default(),
            })
        });
}
