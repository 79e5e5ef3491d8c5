//! Checks of text, thinking and tool calls.

use autonoe_core::agent::TokenUsage;
use autonoe_core::tool::ToolDefinition;
use autonoe_testkit::conformance::{CheckOutcome, Checks};
use futures::StreamExt;
use serde_json::{Value, json};

use super::ProviderScenario;
use super::recorded_answer::{RecordedAnswer, Recorder};
use crate::contract::{
    AssistantMessage, Message, MessagePart, ModelEvent, ModelRequest, PartKind, StopReason,
};

pub(super) const PROMPT: &str = "Which of the two rivers is longer? (49b2)";
pub(super) const SYSTEM: &str = "Answer in the manner of a ferryman. (e07c)";
pub(super) const TEXT: &str = "Grüße — the Ouse, by far, and it is the wetter one too. (7d15) 👋";
pub(super) const THOUGHT: &str = "Ouse or Nene? They never say which. (c3a8)";

/// Returns a request with everything that a request can contain in its first turn.
pub(super) fn request() -> ModelRequest {
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}, "depth": {"type": "integer"}},
        "required": ["name"],
    });
    let tool = |name: &str| ToolDefinition::new(name, "Measures a river. (51f0)", schema.clone());
    ModelRequest::new([Message::user(PROMPT)])
        .with_system(SYSTEM.to_owned())
        .with_tools([tool("Measure"), tool("Sound")])
}

pub(super) fn answers(parts: impl IntoIterator<Item = MessagePart>) -> ProviderScenario {
    let usage = TokenUsage {
        input: 100,
        output: 20,
        ..TokenUsage::default()
    };
    ProviderScenario::Answers {
        message: AssistantMessage::new(parts),
        usage,
    }
}

/// Returns two calls with clearly different inputs.
pub(super) fn two_calls() -> [MessagePart; 2] {
    let deep = json!({"name": "Ouse \"Great\" — über", "depth": 7, "at": [{"x": [1, null, true]}]});
    [
        MessagePart::tool_call("call_4f01", "Measure", deep),
        MessagePart::tool_call("call_4f02", "Sound", json!({"name": "Nene"})),
    ]
}

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let scenario = answers([MessagePart::text(TEXT)]);
    checks
        .run("the request reaches the provider", async {
            let stage = recorder.stage(&scenario).await?;
            recorder
                .record(&scenario, &*stage, &request())
                .await?
                .reply()?;
            let requests = stage.requests();
            if requests.is_empty() {
                return Err(super::recorded_answer::impossible());
            }
            ensure!(requests.len() == 1, "{} requests arrived", requests.len());
            reached(&requests[0])
        })
        .await;
    checks
        .run(
            "a text is streamed in pieces and complete at the end",
            async {
                let recorded = recorder.play(&scenario, &request()).await?;
                let (reply, texts) = (recorded.reply()?, recorded.texts());
                ensure!(reply.message.to_text() == TEXT, "the reply is {reply:?}");
                ensure!(
                    reply.stop == StopReason::EndTurn,
                    "it stopped: {}",
                    reply.stop
                );
                ensure!(texts.len() > 1, "the text arrived in one piece: {texts:?}");
                Ok(())
            },
        )
        .await;
    checks
        .run("a text is streamed before the answer ends", async {
            let stage = recorder
                .stage(&ProviderScenario::Pauses { text: TEXT.into() })
                .await?;
            let mut stream = stage.model().stream(&request());
            recorder.within(first_text(&mut stream)).await?
        })
        .await;
    checks
        .run("thinking is reported as thinking", async {
            let thinks = answers([MessagePart::thinking(THOUGHT), MessagePart::text(TEXT)]);
            let recorded = recorder.play(&thinks, &request()).await?;
            let reply = recorded.reply()?;
            let thinking = thinking(&reply.message);
            ensure!(thinking == THOUGHT, "it thought {thinking:?}");
            ensure!(reply.message.to_text() == TEXT, "the reply is {reply:?}");
            ensure!(
                recorded.thinking() == THOUGHT,
                "the events are {:?}",
                recorded.events
            );
            Ok(())
        })
        .await;
    let [first, second] = two_calls();
    checks
        .run("a call has its id, its tool and its input", async {
            let calls = [first.clone()];
            let recorded = recorder.play(&answers(calls.clone()), &request()).await?;
            has_calls(&recorded, &calls)
        })
        .await;
    checks
        .run("simultaneous calls are distinguished", async {
            let calls = [first, second];
            let parts = [vec![MessagePart::text(TEXT)], calls.to_vec()].concat();
            let recorded = recorder.play(&answers(parts), &request()).await?;
            has_calls(&recorded, &calls)?;
            ensure!(
                recorded.reply()?.message.to_text() == TEXT,
                "the answer is {recorded:?}"
            );
            Ok(())
        })
        .await;
}

/// Waits for the first piece of text.
pub(super) async fn first_text(stream: &mut crate::contract::ModelStream) -> CheckOutcome {
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Text(text)) => {
                ensure!(TEXT.starts_with(&text), "the streamed text is {text:?}");
                return Ok(());
            }
            Ok(ModelEvent::Done(reply)) => {
                ensure!(false, "it took half an answer for a whole one: {reply:?}");
            }
            Ok(_) => {}
            Err(error) => ensure!(false, "it failed: {error:?}"),
        }
    }
    ensure!(false, "it ended without a word");
    Ok(())
}

/// Checks that all parts of the request reached the provider, anywhere in the JSON.
fn reached(request: &Value) -> CheckOutcome {
    let mut texts = Vec::new();
    strings(request, &mut texts);
    for expected in [
        PROMPT,
        SYSTEM,
        "Measures a river. (51f0)",
        "Measure",
        "Sound",
    ] {
        ensure!(
            texts.iter().any(|text| text.contains(expected)),
            "{expected:?} is not in the request: {request}"
        );
    }
    Ok(())
}

fn strings<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| strings(item, found)),
        _ => {}
    }
}

fn has_calls(recorded: &RecordedAnswer, expected: &[MessagePart]) -> CheckOutcome {
    let reply = recorded.reply()?;
    let expected = AssistantMessage::new(expected.iter().cloned());
    let (calls, expected_calls): (Vec<_>, Vec<_>) =
        (reply.message.calls().collect(), expected.calls().collect());
    ensure!(
        calls == expected_calls,
        "it called {calls:?} and not {expected_calls:?}"
    );
    ensure!(
        reply.stop == StopReason::ToolUse,
        "it stopped: {}",
        reply.stop
    );
    Ok(())
}

/// Returns the thinking text of a message.
pub(super) fn thinking(message: &AssistantMessage) -> String {
    let thinking = message.parts.iter().filter_map(|part| match &part.kind {
        PartKind::Thinking { text } => Some(text.as_str()),
        _ => None,
    });
    thinking.collect()
}
