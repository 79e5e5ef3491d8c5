//! Sessions through our backends, as runs have them.

use std::sync::Arc;
use std::time::Instant;

use autonoe_acp::{AcpAgents, AcpOptions};
use autonoe_claude::{ClaudeAgents, ClaudeOptions, ConfigFolder};
use autonoe_codex::{CodexAgents, CodexOptions, CodexProvider};
use autonoe_core::{
    AgentClientFactory, BackendSpec, Gate, Grants, OuterSandbox, PermissionRule, ProjectPaths,
    RunId, SessionKey, SessionOutcome, SessionSpec, SpecContext, StreamEvent, Toolbox,
};
use autonoe_model::{ModelBackend, provider_spec};
use autonoe_testkit::{ScriptedAgents, SessionScript};
use futures::StreamExt;
use serde_json::json;

use crate::backend::Backend;
use crate::figures::Session;
use crate::model::{Model, Then};
use crate::place::Place;
use crate::programs;

/// Measures one session, from `create` to the end of `dispose`.
pub(crate) async fn session(backend: Backend, place: &Place) -> Session {
    let mut model = start_model(backend, Then::Ends, place).await;
    let agents = agents(backend, place, model.as_ref(), Then::Ends);

    let begun = Instant::now();
    let mut client = agents.create(spec(backend, place, 1)).expect("a client");
    let mut events = client.query("Say hello.".into());
    let mut event = events.next().await;
    let first_event = begun.elapsed();
    let mut outcome = None;
    while let Some(next) = event {
        if let StreamEvent::End { outcome: how, .. } = next.expect("no error") {
            outcome = Some(how);
        }
        event = events.next().await;
    }
    drop(events);
    client.dispose().await.expect("it ends");
    let whole = begun.elapsed();

    assert_eq!(outcome, Some(SessionOutcome::Completed), "{backend:?}");
    let tree_kib = match &mut model {
        Some(model) => model.asked_again().await,
        None => 0,
    };
    Session {
        first_event,
        whole,
        tree_kib,
    }
}

pub(crate) async fn start_model(backend: Backend, then: Then, place: &Place) -> Option<Model> {
    let vendor = backend.vendor()?;
    Some(Model::start(vendor, then, place).await)
}

/// Returns a session in which commands are granted, in the sandbox that a run would have.
pub(crate) fn spec(backend: Backend, place: &Place, number: u32) -> SessionSpec {
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
    place: &Place,
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
            options.temporary = place.temporary();
            Arc::new(ClaudeAgents::new(options))
        }
        Backend::Codex => {
            let environment = place.environment(&[("PASSE_PARTOUT", "dummy")]);
            let options = CodexOptions::new(programs::codex(), environment)
                .with_model("gpt-5.5")
                .with_provider(CodexProvider::new(url, "PASSE_PARTOUT"))
                .with_temporary(place.temporary());
            Arc::new(CodexAgents::new(options))
        }
        Backend::Gemini => {
            let environment =
                place.environment(&[("GEMINI_API_KEY", "dummy"), ("GOOGLE_GEMINI_BASE_URL", url)]);
            let options = AcpOptions::gemini(programs::node(), programs::gemini(), environment)
                .with_model("gemini-2.5-flash")
                .with_temporary(place.temporary());
            Arc::new(AcpAgents::new(options))
        }
        Backend::Model => {
            let provider = provider_spec(&json!({
                "type": "anthropic", "key": {"value": "dummy"}, "baseUrl": url,
            }));
            let backend = ModelBackend::new(provider.expect("a spec"), "claude-sonnet-4-5");
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
            Arc::new(ScriptedAgents::new(scripts).unverified())
        }
    }
}
