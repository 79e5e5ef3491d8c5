//! Limits of a subscription.

use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, Claim, LimitWindow, RateLimits, Refusal, ScriptedMessage,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::build::Build;
use crate::build::on_both_builds;
use crate::model_server::claude::{Ended, Lines, Login, Options};

on_both_builds![
    a_spent_limit_is_reported_and_not_retried,
    a_nearly_spent_limit_is_reported_with_the_answer,
    a_rejection_without_a_claim_is_no_quota,
];

fn in_two_hours() -> Timestamp {
    Timestamp::now() + SignedDuration::from_hours(2)
}

async fn run(build: Build, server: &AnthropicServer) -> Ended {
    options().start(build, server).finish("Go.").await
}

fn options() -> Options {
    Options::new().login(Login::Subscription).max_retries("0")
}

/// Returns the content of the one event about limits.
fn reported(output: &Lines) -> Value {
    let events = output.with_type("rate_limit_event");
    assert_eq!(events.len(), 1, "{output:#?}");
    let mut info = events[0]["rate_limit_info"].clone();
    // The newer build adds details of each limit.
    info.as_object_mut()
        .expect("it is an object")
        .remove("unifiedWindows");
    info
}

async fn a_spent_limit_is_reported_and_not_retried(build: Build) {
    let resets_at = in_two_hours();
    let claims = [
        (Claim::FiveHour, ["session limit", "5-hour limit"]),
        (Claim::SevenDay, ["weekly limit", "weekly limit"]),
        (Claim::SevenDayOpus, ["Opus limit", "Opus limit"]),
    ];
    let spent = claims
        .clone()
        .map(|(claim, _)| Refusal::quota(&RateLimits::rejected(claim, resets_at)));
    let server = AnthropicServer::start(spent);
    let mut claude = options().start(build, &server);
    for (index, (claim, limit)) in claims.into_iter().enumerate() {
        let word = claim.as_str().to_owned();

        let turn = claude.turn("Go.").await;

        let output = turn.assert_error();
        let [older, newer] = limit;
        let limit = if build == Build::OLDER { older } else { newer };
        let start = format!("You've hit your {limit} · resets ");
        assert!(output.starts_with(&start), "{output}");
        assert_eq!(
            reported(&turn),
            json!({
                "status": "rejected",
                "resetsAt": resets_at.as_second(),
                "rateLimitType": word,
                "isUsingOverage": false,
            })
        );
        assert_eq!(turn.result()["subtype"], "success");
        assert_eq!(turn.result()["api_error_status"], 429);
        let assistant = turn.with_type("assistant");
        assert_eq!(assistant[0]["error"], "rate_limit");
        assert_eq!(server.log().main_requests().len(), index + 1);
    }
    claude.kill().await;
}

async fn a_nearly_spent_limit_is_reported_with_the_answer(build: Build) {
    let resets_at = in_two_hours();
    let limits = RateLimits::warning(LimitWindow::FiveHour, 0.92, resets_at);
    let message = ScriptedMessage::new()
        .says("Still here.")
        .with_rate_limits(&limits);
    let server = AnthropicServer::start([message]);

    let ended = run(build, &server).await;

    ended.assert_success("Still here.");
    assert_eq!(
        reported(&ended),
        json!({
            "status": "allowed_warning",
            "resetsAt": resets_at.as_second(),
            "rateLimitType": "five_hour",
            "utilization": 0.92,
            "surpassedThreshold": 0.9,
            "isUsingOverage": false,
        })
    );
}

async fn a_rejection_without_a_claim_is_no_quota(build: Build) {
    let resets_at = in_two_hours();
    let rejected = Refusal::quota(&RateLimits::rejected_without_claim(resets_at));
    let server = AnthropicServer::start([rejected]);

    let ended = run(build, &server).await;

    let output = ended.assert_error();
    assert!(output.contains("not your usage limit"), "{output}");
    assert_eq!(reported(&ended)["rateLimitType"], Value::Null);
}
