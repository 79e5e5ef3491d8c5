//! A backend whose every part can be made to misbehave.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, HookCoverage,
    MessageStream, Prompt, RunControl, RunReport, SessionControl, SessionOutcome,
    SessionRunnerBuilder, SessionSpec, StreamEvent, Support, ToolContext,
};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::Value;

use crate::behaviour::support::create;

pub(crate) type Item = Result<StreamEvent, AgentError>;
type Script = Arc<dyn Fn(SessionSpec) -> BoxStream<'static, Item> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct OwnBackend {
    script: Script,
    pub(crate) probe_takes: Duration,
    pub(crate) control_panics: bool,
    pub(crate) steer_panics: bool,
    /// How long the answer to a message takes; the agent has it at once.
    pub(crate) steer_takes: Duration,
    /// Whether the agent never hears what it is told.
    pub(crate) is_deaf: bool,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) specs: Vec<SessionSpec>,
    pub(crate) prompts: Vec<String>,
    pub(crate) steered: Vec<String>,
    pub(crate) disposed: usize,
}

impl OwnBackend {
    pub(crate) fn new(
        script: impl Fn(SessionSpec) -> BoxStream<'static, Item> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            probe_takes: Duration::ZERO,
            control_panics: false,
            steer_panics: false,
            steer_takes: Duration::ZERO,
            is_deaf: false,
            seen: Arc::default(),
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().expect("not poisoned")
    }
}

/// Says something after `first`, then carries `rest`.
pub(crate) fn says_after(
    first: impl Future<Output = ()> + Send + 'static,
    rest: Vec<Item>,
) -> BoxStream<'static, Item> {
    let said = stream::once(async move {
        first.await;
        Ok(StreamEvent::text("working"))
    });
    said.chain(stream::iter(rest)).boxed()
}

/// Calls one of our tools in a session.
pub(crate) async fn call(spec: SessionSpec, tool: &str, input: Value) {
    let context = ToolContext::new(spec.key.clone());
    spec.tools
        .call(tool, input, context)
        .await
        .expect("the tool works");
}

pub(crate) fn done() -> Item {
    Ok(StreamEvent::end(
        SessionOutcome::Completed,
        Some(CostUsd::ZERO),
    ))
}

struct OwnClient {
    backend: OwnBackend,
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for OwnClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        self.backend.lock().prompts.push(prompt.text);
        (self.backend.script)(self.spec.clone())
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        assert!(!self.backend.control_panics, "the control panics");
        Arc::new(OwnControl(self.backend.clone()))
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.backend.lock().disposed += 1;
        Ok(())
    }
}

struct OwnControl(OwnBackend);

#[async_trait]
impl SessionControl for OwnControl {
    async fn interrupt(&self) -> Result<(), AgentError> {
        Ok(())
    }

    async fn steer(&self, text: &str) -> Result<(), AgentError> {
        assert!(!self.0.steer_panics, "steering panics");
        self.0.lock().steered.push(text.to_owned());
        tokio::time::sleep(self.0.steer_takes).await;
        Ok(())
    }

    fn unheard(&self) -> Vec<String> {
        match self.0.is_deaf {
            true => std::mem::take(&mut self.0.lock().steered),
            false => Vec::new(),
        }
    }
}

#[async_trait]
impl AgentClientFactory for OwnBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        tokio::time::sleep(self.probe_takes).await;
        Ok(Capabilities::new("own backend")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_in_process_tools(Support::Yes)
            .with_steering(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.lock().specs.push(spec.clone());
        let backend = self.clone();
        Ok(Box::new(OwnClient { backend, spec }))
    }
}

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// Runs while `person` acts.
pub(crate) async fn run_with(
    runner: SessionRunnerBuilder,
    person: impl AsyncFnOnce(RunControl),
) -> RunReport {
    let runner = runner.build().expect("parts fit");
    let control = RunControl::new();
    let (report, ()) = tokio::join!(runner.run(&control), person(control.clone()));
    report
}

/// Plans in session 1, then does what `rest` says.
pub(crate) fn planner(
    takes: Duration,
    rest: impl Fn(u32) -> Vec<Item> + Send + Sync + 'static,
) -> OwnBackend {
    OwnBackend::new(move |spec| {
        let number = spec.key.number;
        let work = async move {
            if number == 1 {
                call(spec, "create", create(&["A"])).await;
            }
            tokio::time::sleep(takes).await;
        };
        says_after(work, rest(number))
    })
}

/// Makes a client outside of any run.
pub(crate) fn client_of(agents: &Arc<OwnBackend>) -> Box<dyn autonoe_core::AgentClient> {
    use autonoe_core::{
        AgentClientFactory, Gate, Grants, ProjectPaths, RunId, SessionKey, SessionSpec, Toolbox,
    };
    let key = SessionKey {
        run: RunId::new("run"),
        number: 1,
    };
    let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
    agents
        .create(SessionSpec::new(
            key,
            "/srv/project",
            gate,
            Toolbox::new([]),
        ))
        .expect("it always makes one")
}
