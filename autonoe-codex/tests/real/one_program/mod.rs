//! One program for the sessions of a run, and nothing of a session for the next.

mod attacks;
mod endings;
mod lives;
mod settings;
mod whole_run;

use std::ops::Deref;
use std::path::PathBuf;

use autonoe_codex::{CodexAgents, CodexOptions};
use autonoe_core::{
    AgentClient, AgentClientFactory, Gate, Grants, KeptForRun, ProjectPaths, SessionSpec,
    StreamEvent, ToolStatus,
};
use autonoe_process::SessionParent;
use autonoe_testkit::model_server::Script;

use crate::setting::{Setting, events_of, within};

/// A run whose sessions are played by hand.
struct Run {
    agents: CodexAgents,
    kept: KeptForRun,
    setting: Setting,
}

impl Run {
    fn new(script: impl Into<Script>) -> Self {
        Self::of(Setting::new(script))
    }

    fn of(setting: Setting) -> Self {
        let options = setting.options();
        Self::with(setting, options)
    }

    fn with(setting: Setting, options: CodexOptions) -> Self {
        Self {
            agents: CodexAgents::new(options),
            kept: KeptForRun::default(),
            setting,
        }
    }

    /// A session in which everything is granted.
    fn spec(&self) -> SessionSpec {
        let mut spec = self.setting.spec([]);
        spec.keeping = self.kept.keeping();
        spec
    }

    /// A session in which no tool is granted.
    fn strict_spec(&self) -> SessionSpec {
        let mut spec = self.spec();
        spec.gate = Gate::new(ProjectPaths::new(self.project()), Grants::none());
        spec
    }

    fn client(&self, spec: SessionSpec) -> Box<dyn AgentClient> {
        self.agents.create(spec).expect("it can be made")
    }

    /// Plays a session with one turn to its end.
    async fn play(&self, spec: SessionSpec) -> Vec<StreamEvent> {
        let mut client = self.client(spec);
        let (events, error) = events_of(client.as_mut(), "Do it.").await;
        within(client.dispose()).await.expect("it ends");
        assert!(error.is_none(), "{error:?} {events:?}");
        events
    }

    /// Returns the number of the program that is kept; there must be one, and nothing else.
    fn kept_program(&self) -> u32 {
        let programs = self.programs();
        assert_eq!(programs.len(), 1, "{:?}", self.processes());
        let others = self.processes();
        let others = others.iter().filter(|it| !programs.contains(&it.pid));
        let others: Vec<_> = others.filter(|it| it.name != "bwrap").collect();
        assert!(others.is_empty(), "{others:?}");
        programs[0]
    }

    /// Returns a path in the folder of the program.
    fn in_folder(&self, name: &str) -> PathBuf {
        let folders = self.session_folders();
        assert_eq!(folders.len(), 1, "{folders:?}");
        let parent = SessionParent::in_directory(&self.folder.join("tmp"));
        parent.sessions().join(&folders[0]).join(name)
    }

    /// Returns the folder for temporary files of the program.
    fn temporary(&self) -> PathBuf {
        self.folder.join("tmp").join(&self.session_folders()[0])
    }

    /// Ends the run, and looks whether anything is left.
    async fn end(&self) {
        within(self.kept.end()).await;
        self.assert_nothing_is_left();
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
