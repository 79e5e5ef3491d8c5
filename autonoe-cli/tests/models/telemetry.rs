//! Runs on models, exported to the OpenTelemetry receiver that `models.json` names.

use autonoe_testkit::model_server::Turn;
use serde_json::json;

use crate::models::fixture::{CommandOutput, Fixture, KEY, passes, plans};
use crate::models::vendor::Vendor;
use crate::runs::telemetry::EXPORT_LIMIT;
use crate::runs::telemetry::receiver::Receiver;
use crate::runs::telemetry::spans::{Span, spans};

/// Runs a model that plans, is denied once and passes, with an export as in the file.
fn exported(vendor: Vendor, receiver: &Receiver, content: bool) -> (CommandOutput, Vec<Span>) {
    let server = vendor.serve([
        plans(),
        Turn::text("A private plan."),
        Turn::tool("Bash", json!({"command": "curl https://private.example"})),
        passes(),
        Turn::text("A private end."),
    ]);
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": vendor.spec(&server)},
        "telemetry": {
            "endpoint": receiver.url(),
            "headers": {"authorization": {"env": "THE_TOKEN"}},
            "serviceName": "models",
            "content": content,
        },
    }));
    let mut command = fixture.run_command(vendor, &[]);
    command.env("THE_TOKEN", "Bearer it").envs([EXPORT_LIMIT]);
    let output = CommandOutput::from(command.output().expect("it starts"));
    (output, spans(receiver))
}

// Shows: framework/models/export-to-receiver
#[test]
fn a_run_on_every_provider_is_received_as_one_tree_with_its_calls_of_models() {
    for vendor in Vendor::ALL {
        let receiver = Receiver::start();

        let (output, spans) = exported(vendor, &receiver, false);

        assert_eq!(output.code, Some(0), "{vendor:?}: {output:?}");
        let [chat, run] = [
            format!("chat {}", vendor.model()),
            "invoke_workflow run".to_owned(),
        ];
        let name_of = |id: &str| {
            let parent = spans.iter().find(|span| span.id == id);
            parent.map(|span| span.name.as_str())
        };
        let shape: Vec<_> = spans
            .iter()
            .map(|span| (span.name.as_str(), name_of(&span.parent)))
            .collect();
        let [initializer, coding] = ["invoke_agent initializer", "invoke_agent coding"];
        let expected = [
            (run.as_str(), None),
            (initializer, Some(run.as_str())),
            (chat.as_str(), Some(initializer)),
            ("execute_tool mcp__autonoe__create", Some(initializer)),
            (chat.as_str(), Some(initializer)),
            (coding, Some(run.as_str())),
            (chat.as_str(), Some(coding)),
            ("execute_tool Bash", Some(coding)),
            (chat.as_str(), Some(coding)),
            ("execute_tool mcp__autonoe__set_status", Some(coding)),
            (chat.as_str(), Some(coding)),
        ];
        assert_eq!(shape, expected, "{vendor:?}");
        for span in spans.iter().filter(|span| span.name == chat) {
            assert_eq!(span.attributes["gen_ai.request.model"], vendor.model());
            assert_eq!(span.attributes["gen_ai.provider.name"], "scripted");
            let tokens = span.attributes["gen_ai.usage.input_tokens"].parse::<u64>();
            assert!(tokens.is_ok_and(|tokens| tokens > 0), "{span:?}");
            assert!(
                span.attributes
                    .contains_key("gen_ai.response.finish_reasons"),
                "{span:?}"
            );
        }
        assert_eq!(spans[7].attributes["error.type"], "PERMISSION_DENIED");
    }
}

#[test]
fn configured_export_has_headers_and_no_content() {
    let receiver = Receiver::start();

    let (output, spans) = exported(Vendor::Anthropic, &receiver, false);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(spans[0].resource["service.name"], "models");
    for request in receiver.requests() {
        assert_eq!(request.headers["authorization"], "Bearer it");
        let body = String::from_utf8_lossy(&request.body).into_owned();
        for private in ["private", KEY, "Bearer it"] {
            assert!(
                !body.contains(private),
                "{private:?} went to {}",
                request.path
            );
        }
    }
}

#[test]
fn the_file_can_ask_for_content_but_never_for_keys() {
    let receiver = Receiver::start();

    let (output, spans) = exported(Vendor::Anthropic, &receiver, true);

    assert_eq!(output.code, Some(0), "{output:?}");
    let all = format!(
        "{:?}",
        spans
            .iter()
            .map(|span| &span.attributes)
            .collect::<Vec<_>>()
    );
    for content in ["A private plan.", "private.example", "A private end."] {
        assert!(all.contains(content), "{content:?} is not there");
    }
    assert!(!all.contains(KEY) && !all.contains("Bearer it"));
}

#[test]
fn a_header_with_a_missing_secret_is_reported_and_the_run_continues() {
    let (vendor, receiver) = (Vendor::Chat, Receiver::start());
    let server = vendor.serve(crate::models::fixture::shortest_run());
    let fixture = Fixture::with_file(&json!({
        "providers": {"scripted": vendor.spec(&server)},
        "telemetry": {"endpoint": receiver.url(), "headers": {"a": {"env": "NOT_SET"}}},
    }));

    let output = fixture.run(vendor, &[]);

    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.stderr.contains("the variable NOT_SET is not set"),
        "{output:?}"
    );
    assert!(receiver.requests().is_empty());
}
