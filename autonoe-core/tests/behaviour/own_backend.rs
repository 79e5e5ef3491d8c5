//! [`OwnBackend`], a backend with configurable faults.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{HookCoverage, Prompt, SessionControl, SessionOutcome, Support};
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, MessageStream, RunControl,
    RunReport, SessionSpec, StreamEvent, ToolContext,
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
    /// The delay of the answer to a message; the agent receives the message immediately.
    pub(crate) steer_takes: Duration,
    /// Whether the agent never reads its messages.
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

/// Emits a text after `first`, then `rest`.
pub(crate) fn text_after(
    first: impl Future<Output = ()> + Send + 'static,
    rest: Vec<Item>,
) -> BoxStream<'static, Item> {
    let text = stream::once(async move {
        first.await;
        Ok(StreamEvent::text("working"))
    });
    text.chain(stream::iter(rest)).boxed()
}

/// Calls one of Autonoe's tools in a session.
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

    fn take_unread(&self) -> Vec<String> {
        if self.0.is_deaf {
            std::mem::take(&mut self.0.lock().steered)
        } else {
            Vec::new()
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

/// Plans in session 1, then emits the items of `rest`.
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
        text_after(work, rest(number))
    })
}

/// Creates a client outside of any run.
pub(crate) fn client_of(agents: &Arc<OwnBackend>) -> Box<dyn autonoe_core::AgentClient> {
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;
    use autonoe_core::{AgentClientFactory, RunId, SessionSpec};
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
