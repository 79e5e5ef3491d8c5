//! Tests that telemetry contains message content only on request.

use super::receiver::Receiver;
use super::spans::{Span, spans};
use super::{exported, script};
use crate::runs::support::autonoe::CommandOutput;
use crate::runs::support::project::Project;

const SWITCH: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Texts that occur only in message content.
const PRIVATE: [&str; 4] = [
    "a private answer",
    "private.example",
    "The thing DL-001",
    "a scripted message",
];

fn exported_with(switch: Option<&str>) -> (Receiver, Vec<Span>) {
    let (project, receiver) = (Project::new(), Receiver::start());
    let mut command = exported(&project, &script(), &receiver);
    command.envs(switch.map(|value| (SWITCH, value)));
    let ended = CommandOutput::run(command);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let spans = spans(&receiver);
    assert_eq!(spans.len(), 7);
    (receiver, spans)
}

#[test]
fn content_is_not_exported_by_default() {
    for switch in [None, Some("false")] {
        let (receiver, _) = exported_with(switch);

        for request in receiver.requests() {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            for private in PRIVATE {
                assert!(
                    !body.contains(private),
                    "{private:?} went to {}",
                    request.path
                );
            }
        }
    }
}

#[test]
fn content_is_exported_when_enabled() {
    let (_receiver, spans) = exported_with(Some("true"));

    let attribute = |span: &str, name: &str| {
        let span = spans
            .iter()
            .find(|it| it.name == span)
            .expect("it is there");
        span.attributes[name].clone()
    };
    let [answer, address, thing, message] = PRIVATE;
    for (span, name, content) in [
        ("chat a-model", "gen_ai.input.messages", message),
        ("chat a-model", "gen_ai.output.messages", answer),
        ("execute_tool Bash", "gen_ai.tool.call.arguments", address),
        (
            "execute_tool mcp__autonoe__create",
            "gen_ai.tool.call.arguments",
            thing,
        ),
        (
            "execute_tool mcp__autonoe__create",
            "gen_ai.tool.call.result",
            "DL-001",
        ),
        (
            "invoke_agent initializer",
            "gen_ai.input.messages",
            "\"role\":\"user\"",
        ),
    ] {
        let value = attribute(span, name);
        assert!(value.contains(content), "{name} of {span} is {value}");
    }
}
