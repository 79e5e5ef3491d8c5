//! Backends that call the gate incorrectly, in one way each.

use std::sync::Arc;
use std::task::Poll;

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl};
use autonoe_core::gate::{Gate, GateDecision, Grants, ProjectPaths};
use autonoe_core::time::SessionKey;
use autonoe_core::{
    AgentClient, AgentError, HookDecision, MessageStream, Mode, PreToolUseHook, RunId, SessionSpec,
    StreamEvent, ToolCall, ToolKind, hook_fn,
};
use autonoe_testkit::conformance::{Conformance, agent_client};
use futures::{StreamExt, stream};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

async fn checked(fault: impl Fault) -> Conformance {
    agent_client(&ScriptedHarness::with(fault)).await
}

fn gate_with(hook: Arc<dyn PreToolUseHook>) -> Gate {
    Gate::new(ProjectPaths::new("/"), Grants::none()).with_hook(hook)
}

/// Allows every call without the gate.
struct BypassesGate;

impl Fault for BypassesGate {
    fn change_spec(&self, mut spec: SessionSpec) -> SessionSpec {
        spec.gate = gate_with(hook_fn("anything goes", |_, _| HookDecision::Approve));
        spec
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_never_calls_the_gate_is_reported() {
    assert_fails(
        &checked(BypassesGate).await,
        &[
            "the gate decides once about every call, before its answer",
            "a denied call is answered as denied",
            "the reason of a denial reaches the agent",
            "a denied tool of ours does not run",
        ],
    );
}

/// Calls the gate in a custom way.
struct CallsGateWith<F>(F);

impl<F, A> Fault for CallsGateWith<F>
where
    F: Fn(Gate, ToolCall) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = GateDecision> + Send + 'static,
{
    fn change_spec(&self, mut spec: SessionSpec) -> SessionSpec {
        spec.gate = gate_with(Arc::new(GateCaller {
            gate: spec.gate,
            ask: self.0.clone(),
        }));
        spec
    }
}

struct GateCaller<F> {
    gate: Gate,
    ask: F,
}

#[async_trait]
impl<F, A> PreToolUseHook for GateCaller<F>
where
    F: Fn(Gate, ToolCall) -> A + Send + Sync,
    A: Future<Output = GateDecision> + Send,
{
    fn name(&self) -> &str {
        "in between"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        match (self.ask)(self.gate.clone(), call.clone()).await {
            GateDecision::Allow { .. } => HookDecision::Approve,
            GateDecision::Deny { reason, .. } => HookDecision::block(reason),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_calls_the_gate_twice_is_reported() {
    let report = checked(CallsGateWith(|gate: Gate, call| async move {
        let _ = gate.decide(&call).await;
        gate.decide(&call).await
    }))
    .await;

    assert_fails(
        &report,
        &["the gate decides once about every call, before its answer"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_calls_the_gate_with_another_id_is_reported() {
    let report = checked(CallsGateWith(|gate: Gate, call: ToolCall| async move {
        gate.decide(&call.with_id("0")).await
    }))
    .await;

    assert_fails(
        &report,
        &["the gate decides once about every call, before its answer"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_describes_a_call_wrongly_is_found() {
    let check = "the gate receives name, input, session, directory and mode";
    type Change = fn(ToolCall) -> ToolCall;
    let wrong: [(Change, &[&str]); 6] = [
        (|call| call.in_mode(Mode::Run), &[check]),
        (|call| call.in_dir("/somewhere/else"), &[check]),
        (
            |call| {
                call.in_session(SessionKey {
                    run: RunId::new("run"),
                    number: 1,
                })
            },
            &[check, "two sessions run side by side"],
        ),
        (
            |mut call| {
                call.name.push('!');
                call
            },
            &[check],
        ),
        (
            |mut call| {
                call.input = json!({});
                call
            },
            &[check],
        ),
        (
            |call| call.with_kind(ToolKind::Other),
            &["a shell command reaches the gate as one"],
        ),
    ];

    for (change, checks) in wrong {
        let report = checked(CallsGateWith(move |gate: Gate, call| async move {
            gate.decide(&change(call)).await
        }))
        .await;

        assert_fails(&report, checks);
    }
}

/// Calls the gate only when the stream is polled again after the call.
struct NeedsPolling(Arc<Semaphore>);

impl Fault for NeedsPolling {
    fn change_spec(&self, spec: SessionSpec) -> SessionSpec {
        let polled = self.0.clone();
        CallsGateWith(move |gate: Gate, call| {
            let polled = polled.clone();
            async move {
                polled.acquire().await.expect("it stays open").forget();
                gate.decide(&call).await
            }
        })
        .change_spec(spec)
    }

    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Lazy {
            inner,
            polled: self.0.clone(),
        })
    }
}

struct Lazy {
    inner: Box<dyn AgentClient>,
    polled: Arc<Semaphore>,
}

#[async_trait]
impl AgentClient for Lazy {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let polled = self.polled.clone();
        let mut count = 0;
        let mut stream = self.inner.query(prompt);
        stream::poll_fn(move |context| {
            polled.add_permits(std::mem::take(&mut count));
            let item = stream.poll_next_unpin(context);
            if let Poll::Ready(Some(Ok(StreamEvent::ToolInvocation { .. }))) = &item {
                count += 1;
            }
            item
        })
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_needs_polling_is_found() {
    let report = checked(NeedsPolling(Arc::new(Semaphore::new(0)))).await;

    assert_fails(
        &report,
        &["gate and tools continue when the stream is not polled"],
    );
}
