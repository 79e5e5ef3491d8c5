//! Recorded answers of a client, for the checks of the suite.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use autonoe_testkit::conformance::{CheckOutcome, Flaw};
use futures::StreamExt;

use super::{ModelHarness, NotStaged, ProviderScenario, StagedProvider};
use crate::contract::{ModelError, ModelEvent, ModelReply, ModelRequest};

/// Recorded answer of a client to one request.
#[derive(Clone, Debug)]
pub(super) struct RecordedAnswer {
    /// Behaviour of the provider.
    pub(super) scenario: ProviderScenario,
    /// Events before the end.
    pub(super) events: Vec<ModelEvent>,
    /// End of the stream; `None` if it stopped without one.
    pub(super) end: Option<Result<ModelReply, ModelError>>,
    /// Items after the end.
    pub(super) after: Vec<Result<ModelEvent, ModelError>>,
}

impl RecordedAnswer {
    /// Returns the answer, or a failed check.
    pub(super) fn reply(&self) -> CheckOutcome<&ModelReply> {
        match &self.end {
            Some(Ok(reply)) => Ok(reply),
            other => Err(Flaw::Failed(format!("it did not answer: {other:?}"))),
        }
    }

    /// Returns the error, or a failed check.
    pub(super) fn error(&self) -> CheckOutcome<&ModelError> {
        match &self.end {
            Some(Err(error)) => Ok(error),
            other => Err(Flaw::Failed(format!("it did not fail: {other:?}"))),
        }
    }

    /// Returns the streamed pieces of text.
    pub(super) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the streamed thinking.
    pub(super) fn thinking(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            ModelEvent::Thinking(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Sends requests and records all answers.
pub(super) struct Recorder<'a> {
    harness: &'a dyn ModelHarness,
    recorded_answers: Mutex<Vec<RecordedAnswer>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(harness: &'a dyn ModelHarness) -> Self {
        Self {
            harness,
            recorded_answers: Mutex::default(),
        }
    }

    /// Returns all recorded answers.
    pub(super) fn all(&self) -> Vec<RecordedAnswer> {
        let recorded_answers = self.recorded_answers.lock();
        recorded_answers
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Makes the provider play `scenario`.
    pub(super) async fn stage(
        &self,
        scenario: &ProviderScenario,
    ) -> CheckOutcome<Box<dyn StagedProvider>> {
        match self.within(self.harness.stage(scenario)).await? {
            Ok(stage) => Ok(stage),
            Err(NotStaged::Impossible) => Err(impossible()),
            Err(NotStaged::Failed(error)) => {
                Err(Flaw::Failed(format!("there is no client: {error:?}")))
            }
        }
    }

    /// Sends one request, and records the answer to its end and beyond.
    pub(super) async fn record(
        &self,
        scenario: &ProviderScenario,
        stage: &dyn StagedProvider,
        request: &ModelRequest,
    ) -> CheckOutcome<RecordedAnswer> {
        let before = stage.requests().len();
        let recorded_answers = self.within(record_answer(scenario, stage, request)).await?;
        let mut all = self
            .recorded_answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.push(recorded_answers.clone());
        drop(all);
        let request_count = stage.requests().len() - before;
        ensure!(
            request_count <= 1,
            "it sent {request_count} requests; a provider must not retry"
        );
        Ok(recorded_answers)
    }

    /// Plays `scenario` for one request.
    pub(super) async fn play(
        &self,
        scenario: &ProviderScenario,
        request: &ModelRequest,
    ) -> CheckOutcome<RecordedAnswer> {
        let stage = self.stage(scenario).await?;
        self.record(scenario, &*stage, request).await
    }

    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> CheckOutcome<T> {
        let limit: Duration = self.harness.time_limit();
        let late = |_| Flaw::Failed(format!("it took longer than {limit:?}"));
        tokio::time::timeout(limit, work).await.map_err(late)
    }
}

pub(super) fn impossible() -> Flaw {
    Flaw::Untestable("the provider cannot do such a thing".to_owned())
}

/// Maximum number of recorded items after the end of an answer.
const MAX_AFTER_END: usize = 3;

/// Records one answer. Several can run concurrently.
pub(super) async fn record_answer(
    scenario: &ProviderScenario,
    stage: &dyn StagedProvider,
    request: &ModelRequest,
) -> RecordedAnswer {
    let mut stream = stage.model().stream(request);
    let mut recorded_answers = RecordedAnswer {
        scenario: scenario.clone(),
        events: Vec::new(),
        end: None,
        after: Vec::new(),
    };
    while let Some(event) = stream.next().await {
        match event {
            more if recorded_answers.end.is_some() => recorded_answers.after.push(more),
            Ok(ModelEvent::Done(reply)) => recorded_answers.end = Some(Ok(*reply)),
            Ok(event) => recorded_answers.events.push(event),
            Err(error) => recorded_answers.end = Some(Err(error)),
        }
        if recorded_answers.after.len() >= MAX_AFTER_END {
            break;
        }
    }
    recorded_answers
}
