//! Error responses of each vendor.

use autonoe_testkit::model_server::{Refusal, Turn};
use serde_json::{Value, json};

use crate::model_server::api::{ALL, Api, Delivery};
use crate::model_server::client::Response;

/// Returns status, error type and code, as in `429 requests rate_limit_exceeded`.
fn error_summary(api: Api, response: &Response) -> String {
    let error = &response.json()["error"];
    let message = error["message"].as_str();
    assert!(message.is_some_and(|text| !text.is_empty()), "{response:?}");
    let kind = match api {
        Api::Gemini => &error["status"],
        _ => &error["type"],
    };
    let detail = match api {
        Api::Messages => &Value::Null,
        Api::Responses | Api::Chat => &error["code"],
        Api::Gemini => {
            assert_eq!(error["code"], response.status);
            error.pointer("/details/0/reason").unwrap_or(&Value::Null)
        }
    };
    let words = [kind, detail].into_iter().filter_map(Value::as_str);
    let words: Vec<&str> = words.collect();
    format!("{} {}", response.status, words.join(" "))
}

#[tokio::test]
async fn a_refusal_has_the_words_of_each_vendor() {
    let openai = |words| [(Api::Responses, words), (Api::Chat, words)];
    for (refusal, anthropic, of_openai, gemini) in [
        (
            Refusal::rate_limited(),
            "429 rate_limit_error",
            "429 requests rate_limit_exceeded",
            "429 RESOURCE_EXHAUSTED",
        ),
        (
            Refusal::quota_spent(),
            "400 invalid_request_error",
            "429 insufficient_quota insufficient_quota",
            "429 RESOURCE_EXHAUSTED",
        ),
        (
            Refusal::unauthorized(),
            "401 authentication_error",
            "401 invalid_request_error invalid_api_key",
            "401 UNAUTHENTICATED",
        ),
        (
            Refusal::invalid_key(),
            "401 authentication_error",
            "401 invalid_request_error invalid_api_key",
            "400 INVALID_ARGUMENT API_KEY_INVALID",
        ),
        (
            Refusal::forbidden(),
            "403 permission_error",
            "403 request_forbidden unsupported_country_region_territory",
            "403 PERMISSION_DENIED",
        ),
        (
            Refusal::credit_exhausted(),
            "400 invalid_request_error",
            "429 insufficient_quota insufficient_quota",
            "429 RESOURCE_EXHAUSTED",
        ),
        (
            Refusal::payment_required(),
            "402 billing_error",
            "402 unknown_error invalid_request_error",
            "403 PERMISSION_DENIED BILLING_DISABLED",
        ),
        (
            Refusal::model_not_found("x-2"),
            "404 not_found_error",
            "404 invalid_request_error model_not_found",
            "404 NOT_FOUND",
        ),
        (
            Refusal::context_too_long(),
            "400 invalid_request_error",
            "400 invalid_request_error context_length_exceeded",
            "400 INVALID_ARGUMENT",
        ),
        (
            Refusal::server_error(),
            "500 api_error",
            "500 server_error",
            "500 INTERNAL",
        ),
        (
            Refusal::overloaded(),
            "529 overloaded_error",
            "503 server_error server_is_overloaded",
            "503 UNAVAILABLE",
        ),
        (
            Refusal::new(409, "TEA", "short and stout"),
            "409 TEA",
            "409 TEA",
            "409 TEA",
        ),
    ] {
        let vendors = [(Api::Messages, anthropic), (Api::Gemini, gemini)];
        for (api, words) in vendors.into_iter().chain(openai(of_openai)) {
            let server = api.start([refusal.clone(), refusal.clone()]);

            for delivery in [Delivery::Whole, Delivery::Stream] {
                let response = api.request_message(&server, "go", delivery).await;

                assert_eq!(error_summary(api, &response), words, "{api:?} {refusal:?}");
                assert_eq!(response.header("content-type"), Some("application/json"));
            }
        }
    }
}

#[tokio::test]
async fn retry_delay_is_placed_per_vendor() {
    let date = "Sun, 15 Nov 2026 14:00:00 GMT";
    let at = "2026-11-15T14:00:00Z".parse().unwrap();
    for api in ALL {
        let server = api.start([
            Refusal::rate_limited().retry_after(7),
            Refusal::rate_limited().retry_at(at),
            Refusal::rate_limited(),
        ]);

        let seconds = api.request_message(&server, "go", Delivery::Stream).await;
        let until = api.request_message(&server, "go", Delivery::Stream).await;
        let open = api.request_message(&server, "go", Delivery::Stream).await;

        let info = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": "7s",
        }]);
        let (header, details) = match api {
            Api::Gemini => (None, info),
            _ => (Some("7"), Value::Null),
        };
        assert_eq!(seconds.header("retry-after"), header, "{api:?}");
        assert_eq!(seconds.json()["error"]["details"], details, "{api:?}");
        assert_eq!(until.header("retry-after"), Some(date), "{api:?}");
        assert_eq!(open.header("retry-after"), None, "{api:?}");
        assert_eq!(open.json()["error"]["details"], Value::Null, "{api:?}");
    }
}

#[tokio::test]
async fn the_last_word_about_the_time_to_wait_counts() {
    let header = |refusal: Refusal| refusal.with_header("retry-after", "9");
    for (refusal, seconds) in [
        (header(Refusal::rate_limited()).retry_after(3), "3"),
        (header(Refusal::rate_limited().retry_after(3)), "9"),
    ] {
        let server = Api::Chat.start([refusal]);

        let response = Api::Chat
            .request_message(&server, "go", Delivery::Whole)
            .await;

        assert_eq!(response.header("retry-after"), Some(seconds));
    }
}

#[tokio::test]
async fn daily_quota_has_its_quota_id() {
    let server = Api::Gemini.start([Refusal::quota_spent().retry_after(30)]);

    let response = Api::Gemini
        .request_message(&server, "go", Delivery::Stream)
        .await;

    let details = &response.json()["error"]["details"];
    assert_eq!(
        details[0]["violations"][0]["quotaId"],
        "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
    );
    assert_eq!(details[1]["retryDelay"], "30s");
}

#[tokio::test]
async fn an_error_may_have_other_fields_and_another_sentence() {
    for api in ALL {
        let limit = Refusal::new(
            429,
            "usage_limit_reached",
            "The usage limit has been reached",
        )
        .with_field("resets_at", json!(1_794_751_200))
        .with_field("code", json!("limit"));
        let server = api.start([
            Turn::from(limit),
            Refusal::overloaded().with_message("later").into(),
        ]);

        let spent = api
            .request_message(&server, "go", Delivery::Stream)
            .await
            .json();
        let busy = api
            .request_message(&server, "go", Delivery::Stream)
            .await
            .json();

        assert_eq!(spent["error"]["resets_at"], 1_794_751_200, "{api:?}");
        assert_eq!(spent["error"]["code"], "limit", "{api:?}");
        assert_eq!(busy["error"]["message"], "later", "{api:?}");
    }
}

#[tokio::test]
async fn a_request_has_an_id_where_the_vendor_gives_one() {
    for api in ALL {
        let server = api.start([Turn::text("one"), Refusal::server_error().into()]);

        let first = api.request_message(&server, "go", Delivery::Stream).await;
        let second = api.request_message(&server, "go", Delivery::Stream).await;

        let header = match api {
            Api::Messages => "request-id",
            _ => "x-request-id",
        };
        let ids = [first.header(header), second.header(header)];
        match api {
            Api::Gemini => assert_eq!(ids, [None, None]),
            _ => {
                assert!(ids[0].is_some_and(|id| id.starts_with("req_scripted_")));
                assert!(ids[1].is_some() && ids[0] != ids[1], "{ids:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_page_has_status_200_with_and_without_streaming() {
    for api in ALL {
        for delivery in [Delivery::Whole, Delivery::Stream] {
            let server = api.start([
                Turn::html("<h1>Sign in</h1>"),
                Turn::raw("application/json", "[]"),
            ]);

            let page = api.request_message(&server, "go", delivery).await;
            let text = api.request_message(&server, "go", delivery).await;

            assert_eq!(page.status, 200);
            assert_eq!(page.body, "<h1>Sign in</h1>");
            let kind = page.header("content-type");
            assert_eq!(kind, Some("text/html; charset=utf-8"));
            assert_eq!(text.body, "[]");
            assert_eq!(text.header("content-type"), Some("application/json"));
        }
    }
}
