//! Flows on scripted agents, in virtual time, through the public interface.

mod completion;
mod ends;
mod escalations;
mod killed;
mod lifecycle;
mod project;
mod sessions;
mod steps;

use std::sync::{Arc, Mutex};

use autonoe_core::gate::policy::Verdict;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::time::SeededIds;
use autonoe_core::{RunControl, SessionRunner, Sessions};
use autonoe_flow::machine::SessionChoice;
use autonoe_flow::run::Created;
use autonoe_flow::{
    Flow, FlowDefinition, FlowError, FlowEvent, FlowFactory, FlowObserver, FlowOptions, FlowResult,
    ParameterValues, StartOptions,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::Value;

/// Fixture: a flow on a scripted agent, with its parts for assertions.
pub(crate) struct Fixture {
    pub(crate) agents: Arc<ScriptedBackend>,
    pub(crate) clock: Arc<VirtualClock>,
    pub(crate) events: Arc<RecordedEvents>,
    pub(crate) repository: Arc<MemoryRepository>,
    pub(crate) control: RunControl,
}

impl Fixture {
    pub(crate) fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::with(ScriptedBackend::new(scripts))
    }

    pub(crate) fn with(agents: ScriptedBackend) -> Self {
        Self {
            agents: Arc::new(agents),
            clock: Arc::new(VirtualClock::new()),
            events: Arc::new(RecordedEvents::default()),
            repository: Arc::new(MemoryRepository::new()),
            control: RunControl::new(),
        }
    }

    pub(crate) fn builder(&self) -> SessionRunnerBuilder {
        SessionRunner::builder("/srv/project")
            .agents(self.agents.clone())
            .bash_security(|_: &str| Verdict::Allow)
            .clock(self.clock.clone())
            .ids(Arc::new(SeededIds::new(7)))
    }

    pub(crate) fn options_of(&self, sessions: Sessions) -> FlowOptions {
        FlowOptions::new(sessions, "/srv/project")
            .clock(self.clock.clone())
            .observer(self.events.clone())
    }

    pub(crate) fn options(&self) -> FlowOptions {
        self.options_of(self.builder().build_sessions().expect("parts fit"))
    }

    pub(crate) fn start(&self) -> StartOptions {
        StartOptions {
            control: self.control.clone(),
            ..StartOptions::new(ParameterValues::default())
        }
    }

    /// Runs a flow to its end.
    pub(crate) async fn run(&self, definition: FlowDefinition) -> FlowResult {
        self.run_with(definition, self.options()).await
    }

    pub(crate) async fn run_with(
        &self,
        definition: FlowDefinition,
        options: FlowOptions,
    ) -> FlowResult {
        let created = build(definition, options).expect("everything is there");
        let mut started = created.start(self.start()).await.expect("it starts");
        started.run().await;
        let result = started.stop();
        assert_eq!(
            self.agents.open_clients(),
            0,
            "a client was not disposed of"
        );
        result
    }
}

/// Builds a flow from a definition that must be valid.
pub(crate) fn build(
    definition: FlowDefinition,
    options: FlowOptions,
) -> Result<Flow<Created>, FlowError> {
    let valid = definition
        .validated()
        .unwrap_or_else(|report| panic!("{report}"));
    FlowFactory::build(valid, options)
}

/// Records events of prompts, as text.
#[derive(Debug, Default)]
pub(crate) struct RecordedEvents(Mutex<Vec<String>>);

impl RecordedEvents {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics").clone()
    }
}

impl FlowObserver for RecordedEvents {
    fn on_event(&self, event: &FlowEvent<'_>) {
        let line = match event {
            FlowEvent::PromptSent {
                iteration,
                at,
                session,
            } => {
                let session = match session {
                    SessionChoice::Continue(id) => format!("continues {id}"),
                    SessionChoice::Fresh => "fresh".to_owned(),
                };
                format!(
                    "{iteration}: {} visit {} retry {}, {session}",
                    at.step, at.visit, at.retry
                )
            }
            FlowEvent::Undefined { step, variables } => {
                let names: Vec<&str> = variables.iter().map(|name| name.as_str()).collect();
                format!("{step}: nothing sets {}", names.join(", "))
            }
            _ => return,
        };
        self.0.lock().expect("nobody panics").push(line);
    }
}

/// A session that answers with `text`.
pub(crate) fn text_session(text: &str) -> SessionScript {
    SessionScript::new(text).says(text).ends()
}

/// A judge that gives its verdict.
pub(crate) fn judges(passed: bool) -> SessionScript {
    SessionScript::new("judges")
        .uses_tool(
            "mcp__autonoe__verdict",
            serde_json::json!({"passed": passed, "reason": "I looked"}),
        )
        .ends()
}

/// Splits the prompt of a judge into its task and the response to judge.
pub(crate) fn evidence(prompt: &str) -> (&str, Value) {
    let (task, rest) = prompt.split_once("\n\n").expect("a task and its evidence");
    let json = rest.find("\n\n{").expect("JSON");
    let evidence = serde_json::from_str(&rest[json..]).expect("JSON");
    (task, evidence)
}

/// Returns the codes of a flow's failure and of its causes.
pub(crate) fn codes(result: &FlowResult) -> Vec<&'static str> {
    let mut codes = Vec::new();
    let mut failure = result.end.failure();
    while let Some(found) = failure {
        codes.push(found.kind.code());
        failure = found.cause.as_deref();
    }
    codes
}

/// Adds the texts of prompts beside `prompts/a.md`.
pub(crate) fn with_prompts(definition: FlowDefinition, prompts: &[(&str, &str)]) -> FlowDefinition {
    let add = |definition: FlowDefinition, (path, text): &(&str, &str)| {
        definition.with_prompt(*path, text)
    };
    prompts.iter().fold(definition, add)
}

/// A step with a check, which leads to `next`.
pub(crate) fn checked(next: &str, check: Value) -> Value {
    let mut step = serde_json::json!({"prompt": "prompts/a.md", "check": check});
    step["check"]["onPass"] = serde_json::json!({"next": next});
    step
}
