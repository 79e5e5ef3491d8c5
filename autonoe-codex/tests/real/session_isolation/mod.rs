//! Sessions of one run: each has its own program, and nothing of a session reaches the next.

mod attacks;
mod settings;

use std::ops::Deref;

use autonoe_codex::CodexBackend;
use autonoe_core::gate::{Gate, Grants, ProjectPaths};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, SessionSpec, StreamEvent};
use autonoe_testkit::model_server::ModelScript;

use crate::fixture::{Fixture, collect_events, within};

/// A run whose sessions are played one by one.
struct Run {
    agents: CodexBackend,
    fixture: Fixture,
}

impl Run {
    fn new(script: impl Into<ModelScript>) -> Self {
        Self::with_fixture(Fixture::new(script))
    }

    fn with_fixture(fixture: Fixture) -> Self {
        Self {
            agents: CodexBackend::new(fixture.options()),
            fixture,
        }
    }

    /// Returns a session in which everything is granted.
    fn spec(&self) -> SessionSpec {
        self.fixture.spec([])
    }

    /// Returns a session in which no tool is granted.
    fn strict_spec(&self) -> SessionSpec {
        let mut spec = self.spec();
        spec.gate = Gate::new(ProjectPaths::new(self.project()), Grants::none());
        spec
    }

    /// Plays a session with one turn. Asserts that nothing of it is left.
    async fn play(&self, spec: SessionSpec) -> Vec<StreamEvent> {
        let mut client = self.agents.create(spec).expect("it can be made");
        let (events, error) = collect_events(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");
        assert!(error.is_none(), "{error:?} {events:?}");
        self.assert_nothing_is_left();
        events
    }
}

impl Deref for Run {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.fixture
    }
}

/// Returns the status and the output of each tool call.
fn answers(events: &[StreamEvent]) -> Vec<(ToolStatus, String)> {
    let answers = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { output, status, .. } => Some((*status, output.clone())),
        _ => None,
    });
    answers.collect()
}
