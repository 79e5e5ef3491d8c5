//! A flow in its own process, which is killed in the middle.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use autonoe_core::{Project, RunControl};
use autonoe_flow::{FlowEvent, FlowObserver, FlowResult, FlowRun};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};

use super::project::{project, review, steps};
use super::{RecordedEvents, text_session};

/// Environment variables that turn this test program into a flow: its project, and the session in
/// which it hangs.
const PROJECT: &str = "AUTONOE_TEST_FLOW_PROJECT";
const HANGS_IN: &str = "AUTONOE_TEST_FLOW_HANGS_IN";
const TEST: &str = "driver::killed::child_process_runs_a_flow";

/// Time limit for a process until it hangs.
const LIMIT: Duration = Duration::from_secs(60);

fn scripts(hangs_in: usize) -> Vec<SessionScript> {
    let mut scripts = vec![
        text_session("one"),
        text_session("no"),
        text_session("no"),
        text_session("OK"),
    ];
    if let Some(script) = scripts.get_mut(hangs_in) {
        *script = SessionScript::new("hangs").hangs();
    }
    scripts
}

/// Prints each prompt on standard output.
struct PromptPrinter;

impl FlowObserver for PromptPrinter {
    fn on_event(&self, event: &FlowEvent<'_>) {
        if let FlowEvent::PromptSent { iteration, .. } = event {
            let mut out = std::io::stdout().lock();
            let printed = writeln!(out, "\nprompt {iteration}").and_then(|()| out.flush());
            printed.expect("somebody listens");
        }
    }
}

/// Runs in its own process: a flow that hangs in one of its sessions.
#[test]
fn child_process_runs_a_flow() {
    let (Some(dir), Ok(hangs_in)) = (std::env::var_os(PROJECT), std::env::var(HANGS_IN)) else {
        return;
    };
    // Standard input is closed when the parent has ended.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::abort();
    });
    let hangs_in = hangs_in.parse().expect("a number");
    let result = run(
        Path::new(&dir),
        scripts(hangs_in),
        1,
        Arc::new(PromptPrinter),
    );
    panic!("it was to hang: {result:?}");
}

fn run(
    dir: &Path,
    scripts: Vec<SessionScript>,
    first: u32,
    observer: Arc<dyn FlowObserver>,
) -> FlowResult {
    let project = Project::find(dir, None).expect("it is there");
    let agents = ScriptedBackend::resuming_at(first, scripts).unverified();
    let flow = FlowRun::new(project.clone(), review(&project), Arc::new(agents))
        .options(|options| options.observer(observer));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let result = runtime.block_on(flow.run(&RunControl::new()));
    result.expect("it begins")
}

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the journal contains this number of started sessions.
fn wait_for_sessions(project: &TempProject, sessions: usize) {
    let deadline = Instant::now() + LIMIT;
    while project.journal_text().matches("session_started").count() < sessions {
        assert!(Instant::now() < deadline, "its session did not begin");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Runs the flow in its own process, and kills it in the middle of a session.
fn run_and_kill(project: &TempProject, hangs_in: usize) {
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args([TEST, "--exact", "--nocapture"])
        .env(PROJECT, project.path())
        .env(HANGS_IN, hangs_in.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = Killed(child.expect("it starts"));
    let output = child.0.stdout.take().expect("it has an output");
    let (sender, receiver) = mpsc::channel();
    let expected = format!("prompt {}", hangs_in + 1);
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let _ = sender.send(lines.any(|line| line == expected));
    });
    assert_eq!(
        receiver.recv_timeout(LIMIT),
        Ok(true),
        "it did not come to its session"
    );
    wait_for_sessions(project, hangs_in + 1);
    child.0.kill().expect("it lives");
    let status = child.0.wait().expect("it is gone");
    assert!(!status.success(), "it was to be killed: {status}");
}

#[test]
fn a_killed_flow_resumes_at_its_step_with_visits_and_retries_intact() {
    for (hangs_in, expected) in [
        (0, "1: a visit 1 retry 0, fresh"),
        (1, "2: b visit 1 retry 0, fresh"),
        (2, "3: b visit 1 retry 1, fresh"),
        (3, "4: b visit 1 retry 2, fresh"),
    ] {
        let project = project(&steps());
        run_and_kill(&project, hangs_in);
        let events = Arc::new(RecordedEvents::default());

        // The lost session is repeated under its number.
        let first = u32::try_from(hangs_in).expect("small") + 1;
        let result = run(project.path(), scripts(usize::MAX), first, events.clone());

        assert!(result.is_success(), "{result:?}");
        assert_eq!(events.lines()[0], expected);
        assert_eq!(result.iterations(), 4);
        assert_eq!(result.spent.cost.unknown_parts, 1);
        let visits: Vec<u32> = result.steps.values().map(|step| step.visits).collect();
        assert_eq!(visits, [1, 1]);
        let retries: Vec<u32> = result.summaries.iter().map(|it| it.at.retry).collect();
        assert_eq!(retries, [0, 0, 1, 2]);
    }
}
