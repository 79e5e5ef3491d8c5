//! Backends whose clients start or stop incorrectly, in one way each.

use std::future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Prompt, SessionControl};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
};
use autonoe_testkit::conformance::{AgentHarness, Scenario, agent_client};
use futures::{FutureExt, StreamExt, stream};
use tokio::sync::Semaphore;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

/// Hangs during disposal.
struct HangsInDispose;

impl Fault for HangsInDispose {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Undisposable(inner))
    }
}

struct Undisposable(Box<dyn AgentClient>);

#[async_trait]
impl AgentClient for Undisposable {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        self.0.query(prompt)
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.0.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_in_dispose_is_found() {
    let report = agent_client(&ScriptedHarness::with(HangsInDispose)).await;

    assert_fails(
        &report,
        &[
            "dispose returns after a finished turn",
            "dispose returns after an error",
            "dispose returns after a stream dropped in the middle",
            "dispose returns when no prompt was sent",
        ],
    );
}

/// Starts a session only when the previous one has ended.
struct OneAtATime(Arc<Semaphore>);

impl Fault for OneAtATime {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(InLine {
            inner,
            turn: self.0.clone(),
        })
    }
}

struct InLine {
    inner: Box<dyn AgentClient>,
    turn: Arc<Semaphore>,
}

#[async_trait]
impl AgentClient for InLine {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let turn = self.turn.clone().acquire_owned();
        let stream = self.inner.query(prompt);
        turn.map(|turn| stream.inspect(move |_| _ = &turn))
            .flatten_stream()
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
async fn sessions_that_wait_for_each_other_are_found() {
    let report = agent_client(&ScriptedHarness::with(OneAtATime(Arc::new(
        Semaphore::new(1),
    ))))
    .await;

    assert_fails(&report, &["two sessions run side by side"]);
}

/// Has room for two sessions, and releases it only when a session is disposed.
struct NeverTidiesUp(Arc<Semaphore>);

impl Fault for NeverTidiesUp {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Untidy {
            inner,
            room: self.0.clone(),
            permits: 0,
        })
    }
}

struct Untidy {
    inner: Box<dyn AgentClient>,
    room: Arc<Semaphore>,
    permits: usize,
}

#[async_trait]
impl AgentClient for Untidy {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        match self.room.try_acquire() {
            Ok(permit) => {
                permit.forget();
                self.permits += 1;
                self.inner.query(prompt)
            }
            Err(_) => stream::pending().boxed(),
        }
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        tokio::task::yield_now().await;
        self.room.add_permits(self.permits);
        self.inner.dispose().await
    }
}

#[tokio::test(start_paused = true)]
async fn clients_that_leave_something_behind_are_found() {
    let report = agent_client(&ScriptedHarness::with(NeverTidiesUp(Arc::new(
        Semaphore::new(2),
    ))))
    .await;

    // After that there is no room for another session.
    assert_fails(
        &report,
        &[
            "a client dropped in the middle has no effect on others",
            "a dropped stream ends the tool that runs",
            "two sessions run side by side",
            "an interruption ends the turn as interrupted",
            "a steering message is delivered or refused",
            "a control can be used after its session",
        ],
    );
}

/// Reports another version each time.
#[derive(Default)]
struct ChangesItsVersion(AtomicUsize);

impl Fault for ChangesItsVersion {
    fn claims(&self, capabilities: Capabilities) -> Capabilities {
        capabilities.with_version(self.0.fetch_add(1, Ordering::Relaxed).to_string())
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_changes_is_found() {
    let report = agent_client(&ScriptedHarness::with(ChangesItsVersion::default())).await;

    assert_fails(&report, &["a probe answers, and twice the same"]);
}

/// Panics when its capabilities are queried.
struct Unprobed;

#[async_trait]
impl AgentClientFactory for Unprobed {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        panic!("the program is not there")
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Err(AgentError::new(
            AgentErrorKind::NotAvailable,
            "the program is not there",
        ))
    }
}

#[async_trait]
impl AgentHarness for Unprobed {
    async fn agents(&self, _: &Scenario) -> Option<Arc<dyn AgentClientFactory>> {
        Some(Arc::new(Unprobed))
    }
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_panics_is_found_and_does_not_end_the_suite() {
    let report = agent_client(&Unprobed).await;

    assert_eq!(report.passed(), [] as [String; 0], "{report}");
    let problem = &report.failures()[0].problem;
    assert_eq!(problem, "it panicked: the program is not there");
}
