//! Escalations of failed steps.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_flow::definition::StepEscalation;
use autonoe_flow::escalation::{Notice, Notifiers};
use autonoe_flow::{FlowError, FlowErrorKind, Notifier};
use serde_json::{Value, json};

use super::{Fixture, build, checked, codes, text_session, with_prompts};
use crate::support::{agent, definition, step};

fn fragile(escalation: Value) -> Value {
    let mut a = checked("end", json!({"type": "keyword", "keywords": ["OK"]}));
    a["escalation"] = escalation;
    a
}

#[tokio::test(start_paused = true)]
async fn escalation_step_runs_with_the_failure() {
    for (then, scripts, expected) in [
        ("resume", vec!["no", "help", "OK"], vec![]),
        ("restart", vec!["no", "help", "OK"], vec![]),
        (
            "abort",
            vec!["no", "help"],
            vec!["escalated", "step_failed", "step_failed"],
        ),
    ] {
        let fixture = Fixture::new(scripts.into_iter().map(text_session));
        let a = fragile(json!({"escalateTo": "lead", "returnFlow": then}));
        let step = json!({"prompt": "prompts/lead.md"});
        let registry = json!({"entryStep": "a", "steps": {"a": a, "lead": step}});
        let flow = definition(agent(json!({})), registry);
        let flow = with_prompts(flow, &[("prompts/lead.md", "Help: {uv-failure}")]);

        let result = fixture.run(flow).await;

        assert_eq!(codes(&result), expected, "{then}");
        assert_eq!(
            fixture.agents.prompts()[1],
            "Help: the step `a` failed: the check did not pass: the agent said none of `OK`"
        );
    }
}

/// Records notices, and rejects the first ones.
#[derive(Default)]
struct RecordingNotifier {
    notices: Mutex<Vec<Notice>>,
    refuses: usize,
}

#[async_trait]
impl Notifier for RecordingNotifier {
    async fn notify(&self, _: &StepEscalation, notice: &Notice) -> Result<(), FlowError> {
        let mut notices = self.notices.lock().expect("nobody panics");
        notices.push(notice.clone());
        if notices.len() <= self.refuses {
            Err(FlowError::new(
                FlowErrorKind::Notification,
                "nobody listens",
            ))
        } else {
            Ok(())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_escalation_goes_to_a_webhook_or_the_log_and_the_flow_continues() {
    for (method, to) in [("webhook", "https://example.com/"), ("log", "the lead")] {
        let fixture = Fixture::new([text_session("no"), text_session("OK")]);
        let a = fragile(json!({"escalateTo": to, "notificationMethod": method}));
        let notifier = Arc::new(RecordingNotifier::default());
        let notifiers = Notifiers::default()
            .with_webhook(notifier.clone())
            .with_log(notifier.clone());
        let flow = definition(
            agent(json!({})),
            json!({"entryStep": "a", "steps": {"a": a}}),
        );

        let result = fixture
            .run_with(flow, fixture.options().notifiers(notifiers))
            .await;

        assert!(result.is_success(), "{method}: {result:?}");
        let notices = notifier.notices.lock().expect("nobody panics");
        let messages: Vec<_> = notices
            .iter()
            .map(|notice| {
                (
                    notice.step.as_str(),
                    notice.visit,
                    notice.iteration,
                    notice.failure.code.as_str(),
                )
            })
            .collect();
        assert_eq!(messages, [("a", 1, 1, "step_failed")]);
        assert_eq!(notices[0].run, result.run);
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_webhook_ends_the_flow() {
    let fixture = Fixture::new([text_session("no")]);
    let a = fragile(json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"}));
    let notifier = Arc::new(RecordingNotifier {
        refuses: usize::MAX,
        ..RecordingNotifier::default()
    });
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );
    let options = fixture
        .options()
        .notifiers(Notifiers::default().with_webhook(notifier));

    let result = fixture.run_with(flow, options).await;

    assert_eq!(
        codes(&result),
        ["notification", "step_failed", "step_failed"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_undelivered_notification_is_retried_by_the_policy_of_its_step() {
    let fixture = Fixture::new([
        text_session("no"),
        text_session("no"),
        text_session("no"),
        text_session("OK"),
    ]);
    let mut a =
        fragile(json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"}));
    a["retry"] = json!({"maxRetries": 2, "onExhausted": "error"});
    let notifier = Arc::new(RecordingNotifier {
        refuses: 2,
        ..RecordingNotifier::default()
    });
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );
    let notifiers = Notifiers::default().with_webhook(notifier.clone());

    let result = fixture
        .run_with(flow, fixture.options().notifiers(notifiers))
        .await;

    assert!(result.is_success(), "{result:?}");
    let notices = notifier.notices.lock().expect("nobody panics");
    assert_eq!(notices.len(), 3);
    // A receiver can recognize that they are the same.
    assert!(notices.iter().all(|notice| *notice == notices[0]));
    assert_eq!(result.elapsed, Duration::from_secs(1 + 2));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_name_in_a_definition_is_an_error_with_the_name() {
    let state = json!({"completionType": "externalState", "completionConfig": {
        "source": {"type": "named", "name": "released"}}});
    let command =
        json!({"type": "action", "actions": [{"type": "command", "command": ["no-such-program"]}]});
    let webhook =
        fragile(json!({"escalateTo": "https://example.com/", "notificationMethod": "webhook"}));
    let deliverables = json!({"completionType": "deliverables", "completionConfig": {}});
    for (behavior, a, named) in [
        (state, step("end"), "released"),
        (
            json!({"completionType": "stepMachine"}),
            checked("end", command),
            "no-such-program",
        ),
        (
            json!({"completionType": "stepMachine"}),
            webhook,
            "webhooks",
        ),
        (deliverables, step("end"), "ledger"),
    ] {
        let fixture = Fixture::new([]);
        let flow = definition(
            agent(json!({"behavior": behavior})),
            json!({"entryStep": "a", "steps": {"a": a}}),
        );

        let error = build(flow, fixture.options()).expect_err(named);

        assert_eq!(error.kind(), FlowErrorKind::DependencyResolution, "{named}");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[cfg(feature = "webhook")]
#[tokio::test(start_paused = true)]
async fn missing_signing_key_is_an_error_with_its_name() {
    use autonoe_flow::escalation::{SigningKeys, WebhookNotifier};

    let fixture = Fixture::new([]);
    let a = fragile(json!({
        "escalateTo": "http://127.0.0.1:9/", "notificationMethod": "webhook", "signingKey": "ops"}));
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );
    let webhook = WebhookNotifier::new(SigningKeys::default(), fixture.clock.clone());
    let notifiers = Notifiers::default().with_webhook(Arc::new(webhook));

    let error = build(flow, fixture.options().notifiers(notifiers)).expect_err("no key");

    assert_eq!(error.kind(), FlowErrorKind::DependencyResolution);
    assert!(error.to_string().contains("ops"), "{error}");
}
