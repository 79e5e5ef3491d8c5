//! Fixture: a task loop on scripted agents, in a temporary folder.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::Support;
use autonoe_core::engine::{JobContext, JobRunner, RunOutcome, RunProgress, RunSpec};
use autonoe_core::event::Failure;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::time::{AgentSessionId, Clock};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, RunControl, RunId, SessionSpec,
};
use autonoe_harness::executor::FileCriterion;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::work::{Isolation, WorkEvent, WorkObserver, WorkOrder};
use autonoe_harness::{AgentExecutor, Executors, Task, TaskLoop};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use tempfile::TempDir;

/// A backend that plays one script per turn; a turn without a script fails the test.
pub(crate) struct Turns {
    agents: Vec<Arc<ScriptedBackend>>,
    next: AtomicUsize,
    resume: Support,
}

impl Turns {
    pub(crate) fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<Self> {
        Self::with_resume(Support::No, scripts)
    }

    /// Creates a backend that can resume conversations.
    pub(crate) fn resuming(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<Self> {
        Self::with_resume(Support::Yes, scripts)
    }

    fn with_resume(resume: Support, scripts: impl IntoIterator<Item = SessionScript>) -> Arc<Self> {
        let agents = scripts.into_iter().map(|script| {
            let agents = ScriptedBackend::new([script]);
            let capabilities = agents.capabilities().clone().with_resume(resume);
            Arc::new(agents.with_capabilities(capabilities))
        });
        Arc::new(Self {
            agents: agents.collect(),
            next: AtomicUsize::new(0),
            resume,
        })
    }

    /// Returns the prompts of all turns, in order.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.agents
            .iter()
            .flat_map(|agents| agents.prompts())
            .collect()
    }

    /// Returns the conversations that the turns resumed, in order.
    pub(crate) fn resumed(&self) -> Vec<Option<AgentSessionId>> {
        let received = self.agents.iter().flat_map(|agents| agents.received());
        received.map(|session| session.resume).collect()
    }

    pub(crate) fn open_clients(&self) -> usize {
        self.agents.iter().map(|agents| agents.open_clients()).sum()
    }
}

#[async_trait]
impl AgentClientFactory for Turns {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let capabilities = ScriptedBackend::new([]).probe().await?;
        Ok(capabilities.with_resume(self.resume))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let agents = self.agents.get(number);
        agents.expect("a turn that nobody expected").create(spec)
    }
}

/// Records events.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Vec<WorkEvent>>);

impl Recorder {
    pub(crate) fn events(&self) -> Vec<WorkEvent> {
        self.0.lock().expect("a lock").clone()
    }
}

#[async_trait]
impl WorkObserver for Recorder {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self.0.lock().expect("a lock").push(event.clone());
        Ok(())
    }
}

pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
    pub(crate) work: TaskLoop,
    pub(crate) control: RunControl,
    pub(crate) reports: Arc<Mutex<Vec<RunProgress>>>,
    pub(crate) clock: Arc<VirtualClock>,
    recorder: Arc<Recorder>,
}

impl Fixture {
    pub(crate) fn new(turns: &Arc<Turns>) -> Self {
        Self::with_backends([("usual", turns)])
    }

    /// Creates a loop with several backends, by name.
    pub(crate) fn with_backends<'a>(
        backends: impl IntoIterator<Item = (&'static str, &'a Arc<Turns>)>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(VirtualClock::in_real_time());
        let executors: Vec<_> = backends
            .into_iter()
            .map(|(name, turns)| {
                AgentExecutor::new(name, turns.clone(), folder.path())
                    .clock(clock.clone())
                    .sessions(|builder| builder.bash_security(|_: &str| Verdict::Allow))
            })
            .collect();
        let recorder = Arc::new(Recorder::default());
        let executor_factory = move |folder: &Path| {
            let executors = executors.iter().cloned();
            executors.fold(Executors::default(), |all, executor| {
                all.executor(Arc::new(executor.root(folder)))
            })
        };
        let work = TaskLoop::new(folder.path(), executor_factory)
            .clock(clock.clone())
            .observer(recorder.clone());
        Self {
            folder,
            work,
            control: RunControl::new(),
            reports: Arc::default(),
            clock,
            recorder,
        }
    }

    pub(crate) async fn run(&self, order: &WorkOrder) -> (RunOutcome, MemberReport) {
        let input = serde_json::to_value(order).expect("it serialises");
        let outcome = self.run_raw(input).await;
        let result = serde_json::from_value(outcome.output.clone());
        (outcome, result.expect("the output is a result"))
    }

    pub(crate) async fn run_raw(&self, input: serde_json::Value) -> RunOutcome {
        let run = RunSpec::new(RunId::new("member"), "work", input);
        let reports = self.reports.clone();
        let context = JobContext::new(self.control.clone(), move |progress| {
            reports.lock().expect("a lock").push(progress);
        });
        self.work.run(&run, &context).await
    }

    pub(crate) fn events(&self) -> Vec<WorkEvent> {
        self.recorder.events()
    }

    /// Returns the delivered messages: iteration and text.
    pub(crate) fn delivered(&self) -> Vec<(u32, String)> {
        let events = self.events().into_iter();
        let messages = events.filter_map(|event| match event {
            WorkEvent::IterationEnded {
                iteration,
                messages,
                ..
            } => Some(
                messages
                    .into_iter()
                    .map(move |message| (iteration, message.text)),
            ),
            _ => None,
        });
        messages.flatten().collect()
    }

    /// Returns the labels of the recovery steps, in order.
    pub(crate) fn recoveries(&self) -> Vec<String> {
        let events = self.events().into_iter();
        let labels = events.filter_map(|event| match event {
            WorkEvent::Recovered { step, .. } => Some(step.label),
            _ => None,
        });
        labels.collect()
    }

    pub(crate) fn scores(&self) -> Vec<f64> {
        let events = self.events().into_iter();
        let scores = events.filter_map(|event| match event {
            WorkEvent::IterationEnded { score, .. } => Some(score),
            _ => None,
        });
        scores.collect()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        let elapsed = self.clock.now().duration_since(VirtualClock::new().now());
        Duration::try_from(elapsed).unwrap_or_default()
    }
}

/// A task that is done when `out.txt` exists.
pub(crate) fn task(id: &str) -> Task {
    let task = Task::new(id, "Write out.txt.").expect("an id");
    task.success_criteria(FileCriterion::new("out.txt"))
}

pub(crate) fn order(tasks: impl IntoIterator<Item = Task>) -> WorkOrder {
    WorkOrder::new(tasks, Isolation::Shared)
}

/// A turn that prints a text and does nothing.
pub(crate) fn text_turn(text: &str) -> SessionScript {
    SessionScript::new("turn")
        .says(text)
        .waits(Duration::from_secs(60))
        .ends()
}

/// A turn that does the task.
pub(crate) fn does_it() -> SessionScript {
    SessionScript::new("turn")
        .performs(|folder| std::fs::write(folder.join("out.txt"), "done\n").expect("a file"))
        .says("I have written it.")
        .waits(Duration::from_secs(60))
        .ends()
}
