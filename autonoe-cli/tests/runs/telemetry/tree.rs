//! The span tree of a run, as received.

use std::collections::BTreeMap;

use serde_json::Value;

use super::receiver::Receiver;
use super::spans::{Span, spans};
use super::{exported, script};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;

const CLIENT: i32 = 3;
const INTERNAL: i32 = 1;

// Shows: framework/models/export-to-receiver
#[test]
fn a_run_is_received_as_one_tree_with_the_names_of_the_conventions() {
    for protocol in [None, Some("http/protobuf"), Some("http/json")] {
        let (project, receiver) = (Project::new(), Receiver::start());
        let mut command = exported(&project, &script(), &receiver);
        command.envs(protocol.map(|it| ("OTEL_EXPORTER_OTLP_PROTOCOL", it)));

        let ended = CommandOutput::run(command);

        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(!ended.stderr.contains("warning"), "{ended:?}");
        let spans = spans(&receiver);
        assert_eq!(
            shape(&spans),
            [
                ("invoke_workflow run", None, INTERNAL),
                (
                    "invoke_agent initializer",
                    Some("invoke_workflow run"),
                    INTERNAL
                ),
                ("chat a-model", Some("invoke_agent initializer"), CLIENT),
                (
                    "execute_tool mcp__autonoe__create",
                    Some("invoke_agent initializer"),
                    INTERNAL
                ),
                ("invoke_agent coding", Some("invoke_workflow run"), INTERNAL),
                ("execute_tool Bash", Some("invoke_agent coding"), INTERNAL),
                (
                    "execute_tool mcp__autonoe__set_status",
                    Some("invoke_agent coding"),
                    INTERNAL
                ),
            ],
            "{protocol:?}"
        );
        assert!(spans.iter().all(|span| span.trace == spans[0].trace));
    }
}

/// Returns the names, the parents' names and the kinds.
fn shape(spans: &[Span]) -> Vec<(&str, Option<&str>, i32)> {
    let name_of = |id: &str| {
        spans
            .iter()
            .find(|span| span.id == id)
            .map(|span| &*span.name)
    };
    let shape = spans.iter().map(|span| {
        let parent = match span.parent.as_str() {
            "" => None,
            parent => Some(name_of(parent).expect("the parent came, too")),
        };
        (&*span.name, parent, span.kind)
    });
    shape.collect()
}

#[test]
fn spans_have_the_ids_that_the_events_of_the_run_have() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.arg("--output=json");

    let ended = CommandOutput::run(command);

    let events: Vec<Value> = ended
        .stdout
        .lines()
        .map(serde_json::from_str::<Value>)
        .map(|event| event.expect("JSON"))
        .collect();
    let spans = spans(&receiver);
    assert_eq!(spans.len(), 7);
    for span in spans {
        let event = events.iter().find(|event| event["spanId"] == *span.id);
        let event = event.expect("an event is there");
        assert_eq!(event["traceId"], *span.trace);
        let parent = event["parentSpanId"].as_str().unwrap_or_default();
        assert_eq!(parent, span.parent);
    }
}

#[test]
fn spans_have_the_attributes_of_the_conventions() {
    let (project, receiver) = (Project::new(), Receiver::start());

    let ended = CommandOutput::run(exported(&project, &script(), &receiver));

    assert_eq!(ended.code, Some(0), "{ended:?}");
    let spans: BTreeMap<String, Span> = spans(&receiver)
        .into_iter()
        .map(|span| (span.name.clone(), span))
        .collect();
    for (span, attribute, value) in [
        (
            "invoke_workflow run",
            "gen_ai.operation.name",
            "invoke_workflow",
        ),
        ("invoke_workflow run", "autonoe.run.exit", "all_passed"),
        (
            "invoke_agent initializer",
            "gen_ai.operation.name",
            "invoke_agent",
        ),
        (
            "invoke_agent initializer",
            "gen_ai.agent.name",
            "initializer",
        ),
        (
            "invoke_agent initializer",
            "gen_ai.conversation.id",
            "scripted-1",
        ),
        (
            "invoke_agent initializer",
            "gen_ai.usage.input_tokens",
            "10",
        ),
        ("invoke_agent initializer", "autonoe.session.number", "1"),
        ("chat a-model", "gen_ai.operation.name", "chat"),
        ("chat a-model", "gen_ai.provider.name", "scripted"),
        ("chat a-model", "gen_ai.request.model", "a-model"),
        ("chat a-model", "gen_ai.response.model", "a-model"),
        (
            "chat a-model",
            "gen_ai.response.finish_reasons",
            "[\"end_turn\"]",
        ),
        ("chat a-model", "gen_ai.usage.input_tokens", "10"),
        ("chat a-model", "gen_ai.usage.output_tokens", "5"),
        ("execute_tool Bash", "gen_ai.operation.name", "execute_tool"),
        ("execute_tool Bash", "gen_ai.tool.name", "Bash"),
        ("execute_tool Bash", "gen_ai.tool.call.id", "call-2-1"),
        ("execute_tool Bash", "autonoe.tool.status", "denied"),
        ("execute_tool Bash", "error.type", "PERMISSION_DENIED"),
        (
            "execute_tool mcp__autonoe__create",
            "autonoe.tool.status",
            "ok",
        ),
    ] {
        let found = spans[span].attributes.get(attribute).map(String::as_str);
        assert_eq!(found, Some(value), "{attribute} of {:?}", spans[span]);
    }
    for (name, span) in &spans {
        assert_eq!(span.is_error, name == "execute_tool Bash", "{span:?}");
        // The IDs of spans are not repeated as attributes.
        let own = [
            "trace_id",
            "span_id",
            "parent_span_id",
            "otel.name",
            "otel.kind",
        ];
        assert!(
            own.iter().all(|it| !span.attributes.contains_key(*it)),
            "{span:?}"
        );
    }
}

#[test]
fn service_name_is_read_from_variables_or_the_default() {
    for (variables, name, team) in [
        (&[][..], "autonoe", None),
        (&[("OTEL_SERVICE_NAME", "builds")], "builds", None),
        (
            &[("OTEL_RESOURCE_ATTRIBUTES", "service.name=nightly,team=blue")],
            "nightly",
            Some("blue"),
        ),
    ] {
        let (project, receiver) = (Project::new(), Receiver::start());
        let mut command = exported(&project, &script(), &receiver);
        command.envs(variables.iter().copied());

        CommandOutput::run(command);

        let resource = &spans(&receiver)[0].resource;
        assert_eq!(resource["service.name"], name);
        assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(resource.get("team").map(String::as_str), team);
    }
}

#[test]
fn headers_of_variables_are_sent() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.env(
        "OTEL_EXPORTER_OTLP_HEADERS",
        "authorization=Bearer%20it,x-team=blue",
    );

    CommandOutput::run(command);

    let requests = receiver.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request.headers["authorization"], "Bearer it");
        assert_eq!(request.headers["x-team"], "blue");
    }
}

#[test]
fn spans_arrive_with_gzip_requested() {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");

    CommandOutput::run(command);

    assert_eq!(spans(&receiver).len(), 7);
}
