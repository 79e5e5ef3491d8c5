//! Backends whose controls have one fault each.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl};
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec};
use autonoe_testkit::conformance::agent_client;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

/// Replaces the session control.
struct WithControl<C>(C);

impl<C: SessionControl + Clone + 'static> Fault for WithControl<C> {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Controlled {
            inner,
            control: self.0.clone(),
        })
    }
}

struct Controlled<C> {
    inner: Box<dyn AgentClient>,
    control: C,
}

#[async_trait]
impl<C: SessionControl + Clone + 'static> AgentClient for Controlled<C> {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        self.inner.query(prompt)
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(self.control.clone())
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

#[derive(Clone)]
struct Panics;

#[async_trait]
impl SessionControl for Panics {
    async fn interrupt(&self) -> Result<(), AgentError> {
        panic!("there is nothing to interrupt")
    }

    async fn steer(&self, _: &str) -> Result<(), AgentError> {
        panic!("there is nothing to steer")
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_that_panics_is_found() {
    let report = agent_client(&ScriptedHarness::with(WithControl(Panics))).await;

    assert_fails(
        &report,
        &[
            "an interruption ends the turn as interrupted",
            "a steering message is delivered or refused",
            "a control can be used after its session",
        ],
    );
}

/// Reports an interruption without interrupting, and rejects every steering message.
#[derive(Clone)]
struct Deaf;

#[async_trait]
impl SessionControl for Deaf {
    async fn interrupt(&self) -> Result<(), AgentError> {
        Ok(())
    }

    async fn steer(&self, _: &str) -> Result<(), AgentError> {
        Err(AgentError::new(
            AgentErrorKind::Unsupported,
            "talk to the hand",
        ))
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_that_does_not_interrupt_is_found() {
    let report = agent_client(&ScriptedHarness::with(WithControl(Deaf))).await;

    assert_fails(&report, &["an interruption ends the turn as interrupted"]);
}

/// Cannot interrupt, and reports every steering message as delivered.
#[derive(Clone)]
struct Boasts;

#[async_trait]
impl SessionControl for Boasts {
    async fn interrupt(&self) -> Result<(), AgentError> {
        Err(AgentError::new(
            AgentErrorKind::Unsupported,
            "it cannot be interrupted",
        ))
    }

    async fn steer(&self, _: &str) -> Result<(), AgentError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_control_that_claims_a_delivery_is_found_and_one_that_cannot_interrupt_is_not() {
    let report = agent_client(&ScriptedHarness::with(WithControl(Boasts))).await;

    assert_fails(&report, &["a steering message is delivered or refused"]);
    let skipped: Vec<_> = report
        .skipped()
        .iter()
        .map(|skipped| skipped.reason.as_str())
        .collect();
    assert_eq!(
        skipped,
        [
            "the backend creates no outer sandbox",
            "the backend says: it cannot be interrupted"
        ]
    );
}
