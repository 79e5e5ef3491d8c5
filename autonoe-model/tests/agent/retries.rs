//! Tests of failed model calls and retries.

use std::time::Duration;

use autonoe_core::StreamEvent;
use autonoe_core::agent::SessionOutcome;
use autonoe_model::{ModelError, ModelErrorCode};
use autonoe_testkit::VirtualClock;

use crate::agent::fixture::{Answer, ScriptedModel, agents, one_turn, text_reply, used};

fn fails(code: ModelErrorCode) -> Answer {
    Answer::Fails(ModelError::new(code, "it failed").with_usage(used(3)))
}

#[tokio::test(start_paused = true)]
async fn a_transient_failure_is_retried_and_reported_as_a_warning() {
    let model = ScriptedModel::new([
        fails(ModelErrorCode::NetworkError),
        fails(ModelErrorCode::Timeout),
        text_reply("At last."),
    ]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Try.").await;

    assert_eq!(turn.texts(), ["At last."]);
    let is_warning = |event: &&StreamEvent| matches!(event, StreamEvent::Warning { .. });
    assert_eq!(turn.events.iter().filter(is_warning).count(), 2);
    // Every token of every attempt, once.
    assert_eq!(turn.tokens(), 6 + 6 + 20);
}

#[tokio::test(start_paused = true)]
async fn after_three_attempts_the_session_fails_with_its_usage() {
    let model = ScriptedModel::following(|_| fails(ModelErrorCode::NetworkError));
    let start = tokio::time::Instant::now();

    let turn = one_turn(&agents(&model, [], |_| {}), "Try.").await;

    assert_eq!(model.requests().len(), 3);
    assert_eq!(
        turn.error.as_ref().map(|error| error.code()),
        Some("overloaded")
    );
    assert_eq!(turn.tokens(), 18);
    let waited = start.elapsed();
    let expected = Duration::from_millis(2_400)..=Duration::from_millis(3_700);
    assert!(expected.contains(&waited), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_permanent_failure_is_not_retried() {
    let model = ScriptedModel::new([fails(ModelErrorCode::AuthenticationError)]);

    let turn = one_turn(&agents(&model, [], |_| {}), "Try.").await;

    assert_eq!(
        turn.error.as_ref().map(|error| error.code()),
        Some("authentication")
    );
}

// Shows: spec/3.4/quota-texts-their-times
#[tokio::test(start_paused = true)]
async fn a_spent_quota_ends_the_session_with_its_reset_time() {
    let busy = ModelError::new(ModelErrorCode::RateLimited, "the quota is spent")
        .with_retry_after(Duration::from_secs(2 * 3600));
    let model = ScriptedModel::new([Answer::Fails(busy)]);
    let clock = VirtualClock::new();

    let turn = one_turn(&agents(&model, [], |_| {}), "Try.").await;

    let Some(SessionOutcome::QuotaExceeded { resets_at, .. }) = turn.outcome() else {
        panic!("{turn:?}")
    };
    assert_eq!(
        *resets_at,
        Some("2026-01-01T02:00:00Z".parse().expect("a time")),
        "{clock:?}"
    );
}
