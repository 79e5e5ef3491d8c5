//! Webhooks with a real local server, and escalations to the log.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::time::Clock;
use autonoe_flow::definition::{ReturnFlow, StepEscalation};
use autonoe_flow::escalation::{
    DeliveryPolicy, LogNotifier, Notice, NoticeFailure, Notifiers, SigningKey, SigningKeys,
    WebhookNotifier,
};
use autonoe_flow::{FlowError, FlowErrorKind, Notifier};
use autonoe_testkit::CapturedLogs;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::hook_server::{HookServer, Received, Reply};

const KEY: [u8; 32] = [7; 32];

/// A clock that advances only by its sleeps, without waiting.
pub(crate) struct Waits(Mutex<Vec<Duration>>);

impl Waits {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::default()))
    }

    fn seconds(&self) -> Vec<u64> {
        self.0
            .lock()
            .expect("no panic")
            .iter()
            .map(Duration::as_secs)
            .collect()
    }
}

impl Clock for Waits {
    fn now(&self) -> Timestamp {
        let waited: Duration = self.0.lock().expect("no panic").iter().sum();
        Timestamp::constant(1_770_000_000, 0) + waited
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.lock().expect("no panic").push(duration);
        Box::pin(std::future::ready(()))
    }
}

pub(crate) fn notice(iteration: u64) -> Notice {
    Notice {
        run: RunId::new("5f.2a"),
        flow: "review".parse().expect("a name"),
        step: "initial.draft".parse().expect("an id"),
        visit: 2,
        iteration,
        failure: NoticeFailure::new(FlowErrorKind::StepFailed, "the tests fail"),
        return_flow: ReturnFlow::Resume,
        at: Timestamp::constant(1_769_999_000, 0),
    }
}

pub(crate) fn escalation(to: &str, signing_key: Option<&str>) -> StepEscalation {
    let json = json!({
        "escalateTo": to, "notificationMethod": "webhook", "signingKey": signing_key,
    });
    serde_json::from_value(json).expect("an escalation")
}

pub(crate) fn notifier(clock: &Arc<Waits>) -> WebhookNotifier {
    let key = SigningKey::from_bytes(&KEY).expect("a key");
    let keys = SigningKeys::default().with("ops", key);
    WebhookNotifier::new(keys, clock.clone())
}

/// Verifies a request as a service would, and returns its ID, its time and its event.
pub(crate) fn verified(request: &Received) -> (String, i64, Value) {
    let header = |name| request.header(name).unwrap_or_else(|| panic!("no {name}"));
    let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
    let signature = header("webhook-signature")
        .strip_prefix("v1,")
        .expect("version 1");
    let mut mac = Hmac::<Sha256>::new_from_slice(&KEY).expect("a key");
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(&request.body);
    let signature = STANDARD.decode(signature).expect("base64");
    mac.verify_slice(&signature).expect("the signature is ours");
    let event = serde_json::from_slice(&request.body).expect("JSON");
    (id.to_owned(), time.parse().expect("seconds"), event)
}

#[tokio::test]
async fn notice_has_failure_signature_and_id() {
    let server = HookServer::start([Reply::Status(204)]).await;
    let (clock, to) = (Waits::new(), server.url("/hooks/flow?team=7"));

    notifier(&clock)
        .notify(&escalation(&to, Some("ops")), &notice(4))
        .await
        .expect("taken");

    let requests = server.received();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/hooks/flow?team=7")
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    let (id, time, event) = verified(request);
    // The ID contains no dot, which separates the signed parts.
    assert_eq!(
        (id.as_str(), time),
        ("5f_2a-4-initial_draft-2", 1_770_000_000)
    );
    let expected = json!({
        "type": "flow.escalated",
        "timestamp": "2026-02-02T02:23:20Z",
        "data": {
            "run": "5f.2a", "flow": "review", "step": "initial.draft", "visit": 2, "iteration": 4,
            "failure": {"code": "step_failed", "message": "the tests fail"},
            "returnFlow": "resume", "at": "2026-02-02T02:23:20Z",
        },
    });
    assert_eq!(event, expected);
}

#[tokio::test]
async fn a_delivery_is_retried_with_the_same_id_after_a_transient_error() {
    let server = HookServer::start([
        Reply::Status(500),
        Reply::HangUp,
        Reply::With(429, "retry-after", "9".to_owned()),
        Reply::Status(200),
    ])
    .await;
    let (clock, to) = (Waits::new(), server.url("/"));

    notifier(&clock)
        .notify(&escalation(&to, Some("ops")), &notice(4))
        .await
        .expect("taken");

    assert_eq!(clock.seconds(), [1, 2, 9]);
    let received: Vec<_> = server.received().iter().map(verified).collect();
    let ids: Vec<&str> = received.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["5f_2a-4-initial_draft-2"; 4]);
    // Each attempt is signed at its own time, so that an old one cannot be replayed.
    let times: Vec<i64> = received
        .iter()
        .map(|(_, time, _)| time - 1_770_000_000)
        .collect();
    assert_eq!(times, [0, 1, 3, 12]);
}

#[tokio::test]
async fn repeated_notice_keeps_its_id() {
    let server = HookServer::start(vec![Reply::Status(200); 5]).await;
    let (clock, to) = (Waits::new(), escalation(&server.url("/"), Some("ops")));

    let repeated = notice(4);
    let other_iteration = notice(5);
    let mut other_step = notice(4);
    other_step.step = "initial.plan".parse().expect("an id");
    let mut other_visit = notice(4);
    other_visit.visit = 3;
    for notice in [
        notice(4),
        repeated,
        other_iteration,
        other_step,
        other_visit,
    ] {
        notifier(&clock).notify(&to, &notice).await.expect("taken");
    }

    let ids: Vec<String> = server.received().iter().map(|it| verified(it).0).collect();
    assert_eq!(
        ids,
        [
            "5f_2a-4-initial_draft-2",
            "5f_2a-4-initial_draft-2",
            "5f_2a-5-initial_draft-2",
            "5f_2a-4-initial_plan-2",
            "5f_2a-4-initial_draft-3"
        ]
    );
}

/// Sends a notice to `to`, and returns the error and the number of attempts.
async fn delivery_error(to: &str, policy: DeliveryPolicy) -> (FlowError, usize) {
    let clock = Waits::new();
    let notifier = notifier(&clock).with_policy(policy);
    let delivered = notifier
        .notify(&escalation(to, Some("ops")), &notice(4))
        .await;
    (
        delivered.expect_err("it was not taken"),
        clock.seconds().len() + 1,
    )
}

#[tokio::test]
async fn a_rejected_delivery_is_not_retried() {
    for status in [400, 401, 404, 410] {
        let server = HookServer::start([Reply::Status(status)]).await;

        let (error, tries) = delivery_error(&server.url("/"), DeliveryPolicy::default()).await;

        assert_eq!(error.kind(), FlowErrorKind::Notification);
        assert!(error.is_recoverable());
        let expected = format!(
            "cannot deliver to the webhook at 127.0.0.1: it answered with status {status}, \
             after 1 try"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!((tries, server.received().len()), (1, 1));
    }
}

#[tokio::test]
async fn a_delivery_to_a_failing_service_ends_after_its_retries() {
    let server = HookServer::start(vec![Reply::Status(503); 9]).await;
    let policy = DeliveryPolicy {
        max_attempts: 3,
        ..DeliveryPolicy::default()
    };

    let (error, tries) = delivery_error(&server.url("/"), policy).await;

    assert_eq!(error.kind(), FlowErrorKind::Notification);
    assert!(
        error.to_string().ends_with("status 503, after 3 tries"),
        "{error}"
    );
    assert_eq!((tries, server.received().len()), (3, 3));
}

#[tokio::test]
async fn a_service_that_times_out_has_not_accepted_the_notice() {
    let server = HookServer::start([Reply::Silence, Reply::Silence]).await;
    let policy = DeliveryPolicy {
        max_attempts: 2,
        attempt_timeout: Duration::from_millis(300),
        ..DeliveryPolicy::default()
    };

    let (error, tries) = delivery_error(&server.url("/"), policy).await;

    assert_eq!(error.kind(), FlowErrorKind::Notification);
    assert!(
        error.to_string().contains("did not answer in time"),
        "{error}"
    );
    assert_eq!(tries, 2);
}

#[tokio::test]
async fn a_notice_to_a_slow_service_is_retried() {
    let server = HookServer::start([Reply::Silence, Reply::Status(200)]).await;
    let clock = Waits::new();
    let policy = DeliveryPolicy {
        attempt_timeout: Duration::from_secs(600),
        ..DeliveryPolicy::default()
    };
    let notifier = notifier(&clock).with_policy(policy);
    let (to, notice) = (escalation(&server.url("/"), Some("ops")), notice(4));
    let timing_out = async {
        while server.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The first attempt waits for an answer. The second one starts after the time limit.
        tokio::time::pause();
        tokio::time::advance(policy.attempt_timeout * 2).await;
        tokio::time::resume();
    };

    let (delivered, ()) = tokio::join!(notifier.notify(&to, &notice), timing_out);

    delivered.expect("taken");
    let ids: Vec<String> = server.received().iter().map(|it| verified(it).0).collect();
    assert_eq!(ids, ["5f_2a-4-initial_draft-2", "5f_2a-4-initial_draft-2"]);
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_is_an_error_after_all_tries() {
    // A port that was just released.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let policy = DeliveryPolicy {
        max_attempts: 2,
        ..DeliveryPolicy::default()
    };

    let (error, tries) = delivery_error(&format!("http://{address}/"), policy).await;

    assert!(error.to_string().contains("was unreachable"), "{error}");
    assert!(error.source().is_some());
    assert_eq!(tries, 2);
}

// Shows: flows/escalation/webhook
#[tokio::test]
async fn redirect_is_refused_and_not_followed() {
    let target = HookServer::start([Reply::Status(200)]).await;
    for status in [301, 302, 307, 308] {
        let reply = Reply::With(status, "location", target.url("/"));
        let server = HookServer::start([reply]).await;

        let (error, tries) = delivery_error(&server.url("/"), DeliveryPolicy::default()).await;

        assert_eq!(error.kind(), FlowErrorKind::Notification);
        assert!(error.to_string().contains("redirect"), "{error}");
        assert_eq!((tries, server.received().len()), (1, 1));
    }
    assert_eq!(target.received().len(), 0);
}

// Shows: flows/escalation/webhook
#[tokio::test]
async fn notices_go_only_to_encrypted_or_local_addresses() {
    let clock = Waits::new();
    for to in [
        "http://example.com/hook",
        "ftp://127.0.0.1/",
        "not an address",
        "https://",
    ] {
        let to = escalation(to, None);
        let resolved = notifier(&clock).resolve(&to).expect_err("before the start");
        assert_eq!(resolved.kind(), FlowErrorKind::DependencyResolution);
        let error = notifier(&clock)
            .notify(&to, &notice(4))
            .await
            .expect_err("and at run time");
        assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
    }
}

#[tokio::test]
async fn a_policy_without_time_for_a_try_is_refused_before_the_start() {
    let policy = DeliveryPolicy {
        attempt_timeout: Duration::ZERO,
        ..DeliveryPolicy::default()
    };
    let notifier = notifier(&Waits::new()).with_policy(policy);

    let resolved = notifier.resolve(&escalation("http://127.0.0.1/", None));

    let error = resolved.expect_err("no time").to_string();
    assert!(error.starts_with(".with_policy(..): "), "{error}");
}

#[tokio::test]
async fn a_missing_key_is_an_error_with_its_name_and_nothing_is_sent() {
    let server = HookServer::start([]).await;
    let to = escalation(&server.url("/"), Some("security"));
    let clock = Waits::new();

    let resolved = notifier(&clock).resolve(&to).expect_err("before the start");
    let delivery = notifier(&clock)
        .notify(&to, &notice(4))
        .await
        .expect_err("and at run time");

    for error in [resolved, delivery] {
        assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
        assert_eq!(
            error.to_string(),
            "the signing key `security` of the webhook is not configured"
        );
    }
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn without_the_name_of_a_key_nothing_is_signed() {
    let server = HookServer::start([Reply::Status(200)]).await;

    let to = escalation(&server.url("/"), None);
    notifier(&Waits::new())
        .notify(&to, &notice(4))
        .await
        .expect("taken");

    let requests = server.received();
    assert_eq!(requests[0].header("webhook-signature"), None);
    assert_eq!(
        requests[0].header("webhook-id"),
        Some("5f_2a-4-initial_draft-2")
    );
}

#[tokio::test]
async fn neither_errors_nor_logs_show_a_key_or_the_path_of_an_address() {
    let logs = CapturedLogs::start();
    let server = HookServer::start([Reply::Status(500), Reply::HangUp]).await;
    let policy = DeliveryPolicy {
        max_attempts: 2,
        ..DeliveryPolicy::default()
    };

    let (error, _) = delivery_error(&server.url("/services/T0-sesame"), policy).await;

    let mut output = format!("{error:?} {:?}", notifier(&Waits::new()));
    let mut cause: Option<&dyn Error> = Some(&error);
    while let Some(error) = cause {
        output.push_str(&error.to_string());
        cause = error.source();
    }
    let lines = logs.at_least(tracing::Level::DEBUG);
    assert!(
        lines
            .iter()
            .any(|line| line.message.contains("retrying a webhook")),
        "{lines:?}"
    );
    for line in lines {
        output.push_str(&line.message);
    }
    for secret in ["sesame", "7, 7, 7", "BwcHBwcH"] {
        assert!(!output.contains(secret), "{output}");
    }
}

#[tokio::test]
async fn an_escalation_is_sent_by_its_method() {
    let json = |method: &str| json!({"escalateTo": "lead", "notificationMethod": method});
    let of =
        |method| serde_json::from_value::<StepEscalation>(json(method)).expect("an escalation");
    let logs = CapturedLogs::start();
    let notifiers = Notifiers::default();

    notifiers
        .notify(&of("in_agent"), &notice(4))
        .await
        .expect("nobody outside is told");
    assert_eq!(logs.at_least(tracing::Level::WARN), []);
    notifiers
        .notify(&of("log"), &notice(4))
        .await
        .expect("logged");
    assert_eq!(logs.at_least(tracing::Level::WARN).len(), 1);
    let error = notifiers
        .resolve(&of("webhook"))
        .expect_err("nobody tells webhooks");
    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
    let error = notifiers
        .notify(&of("webhook"), &notice(4))
        .await
        .expect_err("nobody");
    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
}

#[tokio::test]
async fn the_log_contains_the_step_and_not_the_text_of_the_agent() {
    let logs = CapturedLogs::start();
    let json = json!({"escalateTo": "lead", "notificationMethod": "log"});
    let escalation = serde_json::from_value(json).expect("an escalation");

    LogNotifier
        .notify(&escalation, &notice(4))
        .await
        .expect("logged");

    let lines = logs.at_least(tracing::Level::DEBUG);
    let [line] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    for part in ["lead", "initial.draft", "step_failed", "iteration=4"] {
        assert!(line.message.contains(part), "{part}: {line:?}");
    }
    assert!(!line.message.contains("the tests fail"), "{line:?}");
}
