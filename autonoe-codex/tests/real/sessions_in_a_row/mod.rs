//! Sessions of one run: each has its own program, and nothing of a session reaches the next.

mod attacks;
mod settings;

use std::ops::Deref;

use autonoe_codex::CodexAgents;
use autonoe_core::{
    AgentClientFactory, Gate, Grants, ProjectPaths, SessionSpec, StreamEvent, ToolStatus,
};
use autonoe_testkit::model_server::Script;

use crate::setting::{Setting, events_of, within};

/// A run whose sessions are played by hand.
struct Run {
    agents: CodexAgents,
    setting: Setting,
}

impl Run {
    fn new(script: impl Into<Script>) -> Self {
        Self::of(Setting::new(script))
    }

    fn of(setting: Setting) -> Self {
        Self {
            agents: CodexAgents::new(setting.options()),
            setting,
        }
    }

    /// A session in which everything is granted.
    fn spec(&self) -> SessionSpec {
        self.setting.spec([])
    }

    /// A session in which no tool is granted.
    fn strict_spec(&self) -> SessionSpec {
        let mut spec = self.spec();
        spec.gate = Gate::new(ProjectPaths::new(self.project()), Grants::none());
        spec
    }

    /// Plays a session with one turn to its end. Nothing of it may be left then.
    async fn play(&self, spec: SessionSpec) -> Vec<StreamEvent> {
        let mut client = self.agents.create(spec).expect("it can be made");
        let (events, error) = events_of(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");
        assert!(error.is_none(), "{error:?} {events:?}");
        self.assert_nothing_is_left();
        events
    }
}

impl Deref for Run {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}

/// Returns what tools answered, and whether they were content.
fn answers(events: &[StreamEvent]) -> Vec<(ToolStatus, String)> {
    let answers = events.iter().filter_map(|event| match event {
        StreamEvent::ToolResponse { output, status, .. } => Some((*status, output.clone())),
        _ => None,
    });
    answers.collect()
}
