//! Tests of slow models and idle detection.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{SessionEnd, SessionOutcome, SessionReport};
use autonoe_core::event::Events;
use autonoe_core::run::{Session, SessionLimits};
use autonoe_core::time::{Clock, SeededIds};
use autonoe_core::{AgentClientFactory, Budget};
use autonoe_model::contract::{AssistantMessage, ModelIdentity};
use autonoe_model::{
    ModelAgentOptions, ModelBackend, ModelClient, ModelError, ModelEvent, ModelReply, ModelRequest,
    ModelStream, Provider,
};
use autonoe_testkit::VirtualClock;
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::agent::fixture::{spec, used};

/// A model that shows activity every minute for the given number of minutes and then answers, or
/// never does either.
#[derive(Clone)]
struct Slow {
    identity: ModelIdentity,
    minutes: Option<u64>,
    shows: fn(u64) -> ModelEvent,
}

impl ModelClient for Slow {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn stream(&self, _: &ModelRequest) -> ModelStream {
        let Some(minutes) = self.minutes else {
            return stream::pending().boxed();
        };
        let shows = self.shows;
        let signs = stream::iter(0..minutes).then(move |minute| async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(shows(minute))
        });
        let reply = ModelReply::new(AssistantMessage::text("Done.")).with_usage(used(1));
        let done = stream::iter([Ok(ModelEvent::Done(Box::new(reply)))]);
        signs.chain(done).boxed()
    }
}

impl Provider for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn model(&self, _: &str) -> Result<Arc<dyn ModelClient>, ModelError> {
        Ok(Arc::new(self.clone()))
    }
}

/// Runs a session with the idle limit of a run: half an hour without activity.
async fn run(minutes: Option<u64>, shows: fn(u64) -> ModelEvent) -> SessionReport {
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let model = Slow {
        identity: ModelIdentity::new("slow", "model"),
        minutes,
        shows,
    };
    let mut options = ModelAgentOptions::new(Arc::new(model), "model");
    options.clock = clock.clone();
    let mut spec = spec(Budget::default());
    spec.events = Events::new(Vec::new(), clock.clone(), Arc::new(SeededIds::new(1)));
    let session = Session::new(clock, SessionLimits::default()).heartbeat_events(&spec.events);
    let client = ModelBackend::new(options)
        .create(spec)
        .expect("it can be made");
    let cancelled = CancellationToken::new();
    session
        .run(client, "Think.".into(), &cancelled, &mut |_| {})
        .await
}

#[tokio::test(start_paused = true)]
async fn a_model_that_streams_thinking_for_hours_is_not_idle() {
    let signs: [fn(u64) -> ModelEvent; 4] = [
        |minute| ModelEvent::Thinking(format!("{minute} ")),
        |minute| ModelEvent::Text(format!("{minute} ")),
        |minute| ModelEvent::Usage(used(minute)),
        |_| ModelEvent::Heartbeat,
    ];
    for shows in signs {
        let result = run(Some(150), shows).await;

        let completed = SessionEnd::Outcome(SessionOutcome::Completed);
        assert_eq!(result.end, completed, "{:?}", shows(0));
        assert_eq!(result.duration, Duration::from_secs(150 * 60));
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_model_is_idle_after_half_an_hour() {
    let result = run(None, |_| ModelEvent::Heartbeat).await;

    let SessionEnd::Failed { error } = &result.end else {
        panic!("{result:?}")
    };
    assert_eq!(error.code, "idle");
    assert_eq!(result.duration, Duration::from_secs(30 * 60));
}
