//! What a client said, as a caller hears it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use autonoe_testkit::conformance::{Finding, Flaw};
use futures::StreamExt;

use super::{ModelHarness, NotStaged, Scenario, Stage};
use crate::contract::{ModelError, ModelEvent, ModelReply, ModelRequest};

/// What a client said to one request.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// What the provider did.
    pub(super) scenario: Scenario,
    /// What came before the end.
    pub(super) events: Vec<ModelEvent>,
    /// The end; `None` if the stream stopped without one.
    pub(super) end: Option<Result<ModelReply, ModelError>>,
    /// What came after the end.
    pub(super) after: Vec<Result<ModelEvent, ModelError>>,
}

impl Heard {
    /// Returns the answer, or fails.
    pub(super) fn reply(&self) -> Finding<&ModelReply> {
        match &self.end {
            Some(Ok(reply)) => Ok(reply),
            other => Err(Flaw::Failed(format!("it did not answer: {other:?}"))),
        }
    }

    /// Returns the error, or fails.
    pub(super) fn error(&self) -> Finding<&ModelError> {
        match &self.end {
            Some(Err(error)) => Ok(error),
            other => Err(Flaw::Failed(format!("it did not fail: {other:?}"))),
        }
    }

    /// Returns the pieces of text that were told.
    pub(super) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns all thoughts that were told.
    pub(super) fn thoughts(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            ModelEvent::Thinking(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Asks, and remembers all that was heard.
pub(super) struct Ear<'a> {
    harness: &'a dyn ModelHarness,
    heard: Mutex<Vec<Heard>>,
}

impl<'a> Ear<'a> {
    pub(super) fn new(harness: &'a dyn ModelHarness) -> Self {
        Self {
            harness,
            heard: Mutex::default(),
        }
    }

    /// Returns all that was heard so far.
    pub(super) fn all(&self) -> Vec<Heard> {
        let heard = self.heard.lock();
        heard.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the provider play `scenario`.
    pub(super) async fn stage(&self, scenario: &Scenario) -> Finding<Box<dyn Stage>> {
        match self.within(self.harness.stage(scenario)).await? {
            Ok(stage) => Ok(stage),
            Err(NotStaged::Impossible) => Err(impossible()),
            Err(NotStaged::Failed(error)) => {
                Err(Flaw::Failed(format!("there is no client: {error:?}")))
            }
        }
    }

    /// Asks once, and hears the answer to its end and beyond.
    pub(super) async fn hear(
        &self,
        scenario: &Scenario,
        stage: &dyn Stage,
        request: &ModelRequest,
    ) -> Finding<Heard> {
        let before = stage.requests().len();
        let heard = self.within(listen(scenario, stage, request)).await?;
        let mut all = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(heard.clone());
        drop(all);
        let asked = stage.requests().len() - before;
        ensure!(
            asked <= 1,
            "it asked {asked} times: retries are not its job"
        );
        Ok(heard)
    }

    /// Plays `scenario` for one request.
    pub(super) async fn play(&self, scenario: &Scenario, request: &ModelRequest) -> Finding<Heard> {
        let stage = self.stage(scenario).await?;
        self.hear(scenario, &*stage, request).await
    }

    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> Finding<T> {
        let limit: Duration = self.harness.time_limit();
        let late = |_| Flaw::Failed(format!("it took longer than {limit:?}"));
        tokio::time::timeout(limit, work).await.map_err(late)
    }
}

pub(super) fn impossible() -> Flaw {
    Flaw::Untestable("the provider cannot do such a thing".to_owned())
}

/// How many events an answer may have after its end before nobody listens any more.
const ENOUGH: usize = 3;

/// Hears one answer. It can be run beside others.
pub(super) async fn listen(
    scenario: &Scenario,
    stage: &dyn Stage,
    request: &ModelRequest,
) -> Heard {
    let mut stream = stage.model().stream(request);
    let mut heard = Heard {
        scenario: scenario.clone(),
        events: Vec::new(),
        end: None,
        after: Vec::new(),
    };
    while let Some(event) = stream.next().await {
        match event {
            more if heard.end.is_some() => heard.after.push(more),
            Ok(ModelEvent::Done(reply)) => heard.end = Some(Ok(*reply)),
            Ok(event) => heard.events.push(event),
            Err(error) => heard.end = Some(Err(error)),
        }
        if heard.after.len() >= ENOUGH {
            break;
        }
    }
    heard
}
