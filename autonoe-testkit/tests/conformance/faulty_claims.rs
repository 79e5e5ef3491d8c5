//! Backends that accept session options that they do not claim to support.

use std::collections::BTreeMap;
use std::future;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    AgentErrorKind, HookCoverage, Prompt, Sandbox, SessionControl, SessionField, Support,
    TokenReports,
};
use autonoe_core::{AgentClient, AgentError, Capabilities, MessageStream, SessionSpec};
use autonoe_testkit::conformance::agent_client;
use futures::{StreamExt, stream};

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

/// Claims no session option, and ignores one silently.
struct Ignores {
    unset: Unset,
}

/// Resets a session option.
type Unset = fn(&mut SessionSpec);

fn claims_no_field(capabilities: &Capabilities) -> Capabilities {
    Capabilities::new("ignorant")
        .with_version("1.0")
        .with_hooks(HookCoverage::EveryTool)
        .with_tokens(TokenReports::EachCall)
        .with_quota_reset(Support::Yes)
        .with_in_process_tools(Support::Yes)
        .with_events(capabilities.events)
}

impl Fault for Ignores {
    fn claims(&self, capabilities: Capabilities) -> Capabilities {
        claims_no_field(&capabilities)
    }

    fn change_spec(&self, mut spec: SessionSpec) -> SessionSpec {
        (self.unset)(&mut spec);
        spec
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_ignores_a_field_is_found_by_the_name_of_the_field() {
    let fields: [(&str, Unset); 9] = [
        ("sandbox", |spec| spec.sandbox = Sandbox::Off),
        ("outer_sandbox", |spec| spec.outer_sandbox = None),
        ("model", |spec| spec.model = None),
        ("system_prompt", |spec| spec.system_prompt = None),
        ("thinking", |spec| spec.thinking = None),
        ("max_turns", |spec| spec.max_turns = None),
        ("mcp_servers", |spec| spec.mcp_servers = BTreeMap::new()),
        ("project_memory", |spec| spec.project_memory = true),
        ("resume", |spec| spec.resume = None),
    ];
    for (field, unset) in fields {
        let report = agent_client(&ScriptedHarness::with(Ignores { unset })).await;

        let check = format!("`{field}` is refused, which the backend does not claim");
        assert_fails(&report, &[&check]);
        let problem = &report.failures()[0].problem;
        let expected = format!("does not claim `{field}`, and starts a session that sets it");
        assert!(problem.contains(&expected), "{problem}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_refuses_every_field_that_it_does_not_claim_conforms() {
    let report = agent_client(&ScriptedHarness::claiming(|it| claims_no_field(&it))).await;

    report.assert();
    let refused = report.passed().iter();
    let refused = refused.filter(|check| check.contains("is refused"));
    assert_eq!(refused.count(), 9, "{report}");
}

/// Accepts `resume` at first, and fails with the first event of the session.
struct FailsWith(AgentErrorKind);

impl Fault for FailsWith {
    fn change_spec(&self, mut spec: SessionSpec) -> SessionSpec {
        spec.resume = None;
        spec
    }

    fn wrap_client(
        &self,
        client: Box<dyn AgentClient>,
        spec: &SessionSpec,
    ) -> Box<dyn AgentClient> {
        match spec.resume {
            Some(_) => Box::new(Failing(client, self.0)),
            None => client,
        }
    }
}

struct Failing(Box<dyn AgentClient>, AgentErrorKind);

#[async_trait]
impl AgentClient for Failing {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let error = AgentError::new(self.1, "there is no earlier conversation");
        stream::once(future::ready(Err(error))).boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.0.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.0.dispose().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_can_be_the_first_event_of_the_session() {
    let fault = FailsWith(AgentErrorKind::Unclaimed(SessionField::Resume));

    let report = agent_client(&ScriptedHarness::with(fault)).await;

    report.assert();
}

#[tokio::test(start_paused = true)]
async fn another_error_than_the_refusal_of_the_field_is_found() {
    for (kind, code) in [
        (AgentErrorKind::Crashed, "crashed"),
        // Runs do not retry these either, but these errors do not concern the option.
        (AgentErrorKind::NotAvailable, "backend_not_available"),
        (AgentErrorKind::Configuration, "configuration"),
        (AgentErrorKind::Unsupported, "unsupported"),
        (
            AgentErrorKind::Unclaimed(SessionField::Model),
            "model_not_supported",
        ),
    ] {
        let report = agent_client(&ScriptedHarness::with(FailsWith(kind))).await;

        let check = "`resume` is refused, which the backend does not claim";
        assert_fails(&report, &[check]);
        let problem = &report.failures()[0].problem;
        let expected = format!("fails with {code} where resume_not_supported is due");
        assert!(problem.contains(&expected), "{problem}");
    }
}
