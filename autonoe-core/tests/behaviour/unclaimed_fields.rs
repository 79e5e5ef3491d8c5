//! Session fields that a backend does not claim, on a backend that would ignore them.

use std::time::Duration;

use autonoe_core::agent::{OuterSandbox, SessionEnd, ThinkingBudget};
use autonoe_core::run::{Models, SessionRunnerBuilder};
use autonoe_core::session::FlowStart;
use autonoe_core::time::AgentSessionId;
use autonoe_core::tool::McpServer;
use autonoe_core::{ExitReason, RunControl, SessionOrder};

use crate::behaviour::own_backend::planner;
use crate::behaviour::support::Fixture;

type Set<T> = fn(T) -> T;

#[tokio::test(start_paused = true)]
async fn a_run_with_an_unclaimed_field_ends_before_its_first_session() {
    let fields: [(&str, Set<SessionRunnerBuilder>); 8] = [
        ("model", |runner| runner.models(Models::all("large"))),
        ("model", |runner| {
            runner.models(Models {
                planning: Some("large".to_owned()),
                implementation: None,
            })
        }),
        ("system_prompt", |runner| runner.system_prompt("Be brief.")),
        ("thinking", |runner| {
            runner.thinking(ThinkingBudget::default())
        }),
        ("max_turns", |runner| runner.max_turns(3)),
        ("mcp_servers", |runner| {
            let server = McpServer::Stdio {
                command: "true".to_owned(),
                args: Vec::new(),
                env: Default::default(),
                transport: None,
            };
            runner.mcp_server("notes", server)
        }),
        ("project_memory", |runner| runner.project_memory(false)),
        ("outer_sandbox", |runner| {
            runner.outer_sandbox(OuterSandbox::bubblewrap())
        }),
    ];
    for (field, set) in fields {
        let backend = planner(Duration::ZERO, |_| Vec::new());
        let fixture = Fixture::new([]);

        let report = fixture
            .run(set(fixture.runner().agents(backend.clone())))
            .await;

        let ExitReason::Failed { error } = &report.exit else {
            panic!("{field}: {report}");
        };
        assert_eq!(error.code, format!("{field}_not_supported"));
        let sentence = format!("own backend does not support the setting `{field}`: ");
        assert!(error.message.starts_with(&sentence), "{error}");
        assert!(error.remedy.is_some(), "{error}");
        assert_eq!(report.sessions, 0, "{field}");
        assert!(backend.seen().specs.is_empty(), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_with_an_unclaimed_field_does_not_reach_the_backend() {
    let fields: [(&str, Set<SessionOrder>); 4] = [
        ("model", |order| order.model("large")),
        ("system_prompt", |order| order.system_prompt("Be brief.")),
        ("max_turns", |order| order.max_turns(3)),
        ("resume", |order| {
            order.resume(AgentSessionId::new("earlier"))
        }),
    ];
    for (field, set) in fields {
        let backend = planner(Duration::ZERO, |_| Vec::new());
        let runner = Fixture::new([]).runner().agents(backend.clone());
        let sessions = runner.build_sessions().expect("parts fit");
        let control = RunControl::new();
        let open = sessions.open(FlowStart::new("review"), &control);
        let mut open = open.await.expect("it begins");

        let performed = open.run(set(SessionOrder::new("Review it."))).await;

        let SessionEnd::Failed { error } = &performed.result.end else {
            panic!("{field}: {performed:?}");
        };
        assert_eq!(error.code, format!("{field}_not_supported"));
        assert!(error.remedy.is_some(), "{error}");
        assert!(backend.seen().specs.is_empty(), "{field}");
    }
}
