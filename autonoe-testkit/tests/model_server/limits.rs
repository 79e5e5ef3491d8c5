//! Subscription limits in headers.

use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, Claim, LimitWindow, RateLimits, Refusal, ScriptedMessage, Turn,
};
use jiff::Timestamp;

use crate::model_server::client::{Response, request_message, streamed};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).expect("it is in range")
}

/// Returns the rate limit headers as `name=value`, sorted.
fn rate_limit_headers(response: &Response) -> Vec<String> {
    let names = [
        "status",
        "representative-claim",
        "reset",
        "5h-status",
        "5h-reset",
        "5h-utilization",
        "5h-surpassed-threshold",
        "7d-status",
        "7d-reset",
        "7d-utilization",
    ];
    let headers = names.iter().filter_map(|name| {
        let value = response.header(&format!("anthropic-ratelimit-unified-{name}"))?;
        Some(format!("{name}={value}"))
    });
    headers.collect()
}

#[tokio::test]
async fn a_spent_limit_is_recognised_by_its_claim_and_reset() {
    for (claim, word) in [
        (Claim::FiveHour, "five_hour"),
        (Claim::SevenDay, "seven_day"),
        (Claim::SevenDayOpus, "seven_day_opus"),
        (Claim::SevenDaySonnet, "seven_day_sonnet"),
        (Claim::Overage, "overage"),
        (Claim::Other("lunar".into()), "lunar"),
    ] {
        let limits = RateLimits::rejected(claim, at(1_794_715_200));
        let server = AnthropicServer::start([Refusal::quota(&limits)]);

        let response = request_message(&server, &streamed("go")).await;

        assert_eq!(response.status, 429);
        assert_eq!(response.json()["error"]["type"], "rate_limit_error");
        let claim = format!("representative-claim={word}");
        assert_eq!(
            rate_limit_headers(&response),
            ["status=rejected", &claim, "reset=1794715200"]
        );
    }
}

#[tokio::test]
async fn each_part_of_the_limits_can_be_left_out_or_added() {
    let spent = RateLimits::rejected(Claim::FiveHour, at(100));
    for (limits, headers) in [
        (RateLimits::allowed(), vec!["status=allowed"]),
        (
            spent.clone().without_reset(),
            vec!["status=rejected", "representative-claim=five_hour"],
        ),
        (
            RateLimits::rejected_without_claim(at(100)),
            vec!["status=rejected", "reset=100"],
        ),
        (
            RateLimits::warning(LimitWindow::FiveHour, 0.92, at(100)),
            vec![
                "status=allowed_warning",
                "representative-claim=five_hour",
                "reset=100",
                "5h-status=allowed_warning",
                "5h-reset=100",
                "5h-utilization=0.92",
                "5h-surpassed-threshold=0.9",
            ],
        ),
        (
            spent
                .with_window(LimitWindow::FiveHour, 1.0, at(100))
                .with_window(LimitWindow::SevenDay, 0.4, at(200)),
            vec![
                "status=rejected",
                "representative-claim=five_hour",
                "reset=100",
                "5h-status=rejected",
                "5h-reset=100",
                "5h-utilization=1",
                "7d-status=allowed",
                "7d-reset=200",
                "7d-utilization=0.4",
            ],
        ),
    ] {
        let refused = Turn::from(Refusal::quota(&limits));
        let turn = Turn::from(ScriptedMessage::new().says("hm").with_rate_limits(&limits));
        let server = AnthropicServer::start([refused, turn]);

        assert_eq!(
            rate_limit_headers(&request_message(&server, &streamed("go")).await),
            headers
        );
        assert_eq!(
            rate_limit_headers(&request_message(&server, &streamed("go")).await),
            headers
        );
    }
}
