//! Sessions through our backends, set up as in a run.

use std::sync::Arc;
use std::time::Instant;

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
use autonoe_core::agent::{OuterSandbox, SessionOutcome};
use autonoe_core::gate::{Gate, Grants, PermissionRule, ProjectPaths};
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_core::time::SessionKey;
use autonoe_core::tool::Toolbox;
use autonoe_core::{AgentClientFactory, RunId, SessionSpec, StreamEvent};
use autonoe_model::ModelSpec;
use autonoe_model::provider::provider_spec;
use autonoe_testkit::{ScriptedBackend, SessionScript};
use futures::StreamExt;
use serde_json::json;

use crate::backend::Backend;
use crate::model::{Model, Then};
use crate::programs;
use crate::stats::Session;
use crate::workspace::Workspace;

/// Measures one session, from `create` to the end of `dispose`.
pub(crate) async fn session(backend: Backend, place: &Workspace) -> Session {
    let mut model = start_model(backend, Then::Ends, place).await;
    let agents = agents(backend, place, model.as_ref(), Then::Ends);
    if !matches!(backend, Backend::Model | Backend::Scripted) {
        // A run probes the program before the first session.
        agents.probe().await.expect("it works");
    }

    let started = Instant::now();
    let mut client = agents.create(spec(backend, place, 1)).expect("a client");
    let mut events = client.query("Say hello.".into());
    let mut event = events.next().await;
    let first_event = started.elapsed();
    let mut outcome = None;
    while let Some(next) = event {
        if let StreamEvent::End { outcome: end, .. } = next.expect("no error") {
            outcome = Some(end);
        }
        event = events.next().await;
    }
    drop(events);
    client.dispose().await.expect("it ends");
    let whole = started.elapsed();

    assert_eq!(outcome, Some(SessionOutcome::Completed), "{backend:?}");
    let tree_kib = match &mut model {
        Some(model) => model.wait_for_second_request().await,
        None => 0,
    };
    Session {
        first_event,
        whole,
        tree_kib,
    }
}

pub(crate) async fn start_model(backend: Backend, then: Then, place: &Workspace) -> Option<Model> {
    let vendor = backend.vendor()?;
    Some(Model::start(vendor, then, place).await)
}

/// Returns a session with a grant for commands, in the sandbox that a run would use.
pub(crate) fn spec(backend: Backend, place: &Workspace, number: u32) -> SessionSpec {
    let key = SessionKey {
        run: RunId::new("run"),
        number,
    };
    let rule: PermissionRule = "Bash".parse().expect("a rule");
    let gate = Gate::new(
        ProjectPaths::new(place.project()),
        Grants::none().with_rules([rule]),
    );
    let mut spec = SessionSpec::new(key, place.project(), gate, Toolbox::new([]));
    if matches!(backend, Backend::Codex | Backend::Gemini) {
        spec.outer_sandbox = Some(OuterSandbox::bubblewrap());
    }
    spec
}

pub(crate) fn agents(
    backend: Backend,
    place: &Workspace,
    model: Option<&Model>,
    then: Then,
) -> Arc<dyn AgentClientFactory> {
    let url = model.map_or("", |model| &model.url);
    match backend {
        Backend::Claude(version) => {
            let environment =
                place.environment(&[("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", "dummy")]);
            let mut options = ClaudeOptions::new(programs::claude(version), environment);
            options.config = ConfigFolder::PerSession;
            options.program.temporary = place.temporary();
            Arc::new(ClaudeBackend::new(options))
        }
        Backend::Codex => {
            let environment = place.environment(&[("PASSE_PARTOUT", "dummy")]);
            let mut options = CodexOptions::new(programs::codex(), environment);
            options.program.model = Some("gpt-5.5".into());
            options.program.temporary = place.temporary();
            options.provider = Some(CodexProvider::new(url, "PASSE_PARTOUT"));
            Arc::new(CodexBackend::new(options))
        }
        Backend::Gemini => {
            let environment =
                place.environment(&[("GEMINI_API_KEY", "dummy"), ("GOOGLE_GEMINI_BASE_URL", url)]);
            let mut options = AcpOptions::gemini(programs::node(), programs::gemini(), environment);
            options.program.model = Some("gemini-2.5-flash".into());
            options.program.temporary = place.temporary();
            Arc::new(AcpBackend::new(options))
        }
        Backend::Model => {
            let provider = provider_spec(&json!({
                "type": "anthropic", "key": {"value": "dummy"}, "baseUrl": url,
            }));
            let backend = ModelSpec::new(provider.expect("a spec"), "claude-sonnet-4-5");
            let context = SpecContext::new(ProjectPaths::new(place.project()))
                .with_environment(place.environment(&[]));
            backend.build(&context).expect("a backend")
        }
        Backend::Scripted => {
            let count = match then {
                Then::Ends => 1,
                Then::Hangs => backend.at_once(),
            };
            let scripts = (0..count).map(|_| {
                let script = SessionScript::new("says hello")
                    .uses_tool("Bash", json!({"command": "echo hello"}));
                match then {
                    Then::Ends => script.says("Done.").ends(),
                    Then::Hangs => script.hangs(),
                }
            });
            Arc::new(ScriptedBackend::new(scripts).unverified())
        }
    }
}
