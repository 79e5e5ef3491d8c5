//! Whole runs through the public API, in the outer sandbox: planning, coding, the ledger on disk.

mod disturbed;
mod whole;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    OuterSandbox, Project, ProjectRun, RunControl, RunReport, SessionRunnerBuilder,
};
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::EventLog;
use autonoe_testkit::model_server::Turn;
use serde_json::{Value, json};

use crate::setting::{Setting, within};

/// What a model does to plan one deliverable.
fn planning() -> [Turn; 2] {
    let deliverable = json!({
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    });
    [
        Turn::tool("mcp_autonoe_create", json!({"deliverables": [deliverable]})),
        Turn::text("It is planned."),
    ]
}

/// What a model does to say that the deliverable has passed.
fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        Turn::tool("mcp_autonoe_set_status", passed),
        Turn::text("It is done."),
    ]
}

/// A run in the project of a setting, and all that its observers are told.
struct Run {
    run: ProjectRun,
    log: Arc<EventLog>,
}

impl Run {
    fn in_project_of(setting: &Setting) -> Self {
        Self::without_walls(setting).configure(|run| run.outer_sandbox(OuterSandbox::bubblewrap()))
    }

    fn without_walls(setting: &Setting) -> Self {
        fs::write(setting.file("SPEC.md"), "# A greeting\n").expect("writable");
        fs::create_dir(setting.file(".autonoe")).expect("it can be made");
        let config = json!({"mcpServers": {}}).to_string();
        fs::write(setting.file(".autonoe/agent.json"), config).expect("writable");
        let project = Project::find(&setting.project(), None).expect("a project");
        let log = Arc::new(EventLog::new());
        let observer = log.clone();
        let run = ProjectRun::new(project, Arc::new(setting.agents())).configure(|runner| {
            runner
                .pause_between_sessions(Duration::ZERO)
                .tool_server(Arc::new(HttpToolServer::new()))
                .observer(observer)
        });
        Self { run, log }
    }

    fn configure(
        self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        let run = self.run.configure(configure);
        Self { run, ..self }
    }

    /// Runs to the end, and returns the report and how each session ended.
    async fn until_it_ends(self) -> (RunReport, Vec<Value>) {
        self.controlled_by(&RunControl::new()).await
    }

    async fn controlled_by(self, control: &RunControl) -> (RunReport, Vec<Value>) {
        let report = within(self.run.start(control)).await.expect("it starts");
        let ended = self.log.json().into_iter();
        let ended = ended.filter(|event| event["event"] == "session_ended");
        (report, ended.collect())
    }
}

/// Returns the status of the only deliverable, as the ledger on disk has it.
fn status_on_disk(setting: &Setting) -> Value {
    let text = fs::read_to_string(setting.file(".autonoe/status.json")).expect("a ledger");
    let ledger: Value = serde_json::from_str(&text).expect("JSON");
    ledger["deliverables"][0].clone()
}
