//! Gemini messages: complete, and as the chunks of a stream.

use serde_json::{Value, json};

use crate::model_server::ids::Ids;
use crate::model_server::json::SIGNATURE;
use crate::model_server::streamed_body::{Block, Content, Event, Stage, ToolInput, in_pieces};
use crate::model_server::{MessageStopReason, ReceivedPrompt, ScriptedMessage, Usage};

/// Returns the complete message, or the reason why it cannot be encoded.
pub(super) fn encode_message(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Value, String> {
    let parts = parts(message, None)?.concat();
    let mut whole = frame(&parts, message, prompt, ids);
    whole["candidates"][0]["finishReason"] = finish_reason(&message.stop_reason())?.into();
    whole["usageMetadata"] = usage(message.usage);
    Ok(whole)
}

/// Returns the chunks of the message, or the reason why there are none.
pub(super) fn stream(
    message: &ScriptedMessage,
    prompt: &ReceivedPrompt,
    ids: Ids,
) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    for (index, parts) in parts(message, Some(message.piece))?.iter().enumerate() {
        events.extend(parts.iter().map(|part| {
            let mut chunk = frame(std::slice::from_ref(part), message, prompt, ids);
            chunk["usageMetadata"] = usage_so_far(message.usage);
            Event::data(&chunk).in_block(index, Stage::Piece)
        }));
    }
    let mut last = frame(&[json!({"text": ""})], message, prompt, ids);
    last["candidates"][0]["finishReason"] = finish_reason(&message.stop_reason())?.into();
    last["usageMetadata"] = usage(message.usage);
    events.push(Event::data(&last));
    Ok(events)
}

fn frame(parts: &[Value], message: &ScriptedMessage, prompt: &ReceivedPrompt, ids: Ids) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
        "modelVersion": message.model.as_ref().unwrap_or(&prompt.model),
        "responseId": ids.answer_id("resp"),
    })
}

/// Returns the finish reason, or an error if Gemini has no equivalent.
fn finish_reason(stop: &MessageStopReason) -> Result<&str, String> {
    Ok(match stop {
        MessageStopReason::EndTurn
        | MessageStopReason::ToolUse
        | MessageStopReason::StopSequence => "STOP",
        MessageStopReason::MaxTokens => "MAX_TOKENS",
        MessageStopReason::Refusal => "SAFETY",
        MessageStopReason::PauseTurn => return Err("Gemini does not pause".to_owned()),
        MessageStopReason::Other(reason) => reason,
    })
}

/// Returns the usage before the end.
fn usage_so_far(used: Usage) -> Value {
    let input = used.whole_input();
    json!({"promptTokenCount": input, "totalTokenCount": input})
}

/// Returns the usage at the end. Reasoning tokens are counted separately from the output.
fn usage(used: Usage) -> Value {
    json!({
        "promptTokenCount": used.whole_input(),
        "cachedContentTokenCount": used.cache_read,
        "candidatesTokenCount": used.output.saturating_sub(used.reasoning),
        "thoughtsTokenCount": used.reasoning,
        "totalTokenCount": used.whole_input() + used.output,
    })
}

/// Returns the parts of each block: texts in pieces of this many characters, or whole.
pub(super) fn parts(
    message: &ScriptedMessage,
    piece: Option<usize>,
) -> Result<Vec<Vec<Value>>, String> {
    let calls = |block: &Block| matches!(block.content, Content::ToolUse { .. });
    let first_call = message.blocks.iter().position(calls);
    let blocks = message.blocks.iter().enumerate();
    blocks
        .map(|(index, block)| {
            let mut parts = of_block(block, piece)?;
            let signature = match &block.signature {
                None if first_call == Some(index) => Some(SIGNATURE),
                signature => signature.as_deref(),
            };
            // The signature of a text follows when the text is complete.
            if let (Some(signature), Some(last)) = (signature, parts.last_mut()) {
                last["thoughtSignature"] = signature.into();
            }
            Ok(parts)
        })
        .collect()
}

fn of_block(block: &Block, piece: Option<usize>) -> Result<Vec<Value>, String> {
    let in_pieces = |text: &str| match piece {
        // A part is never missing, even if its text is empty.
        Some(characters) if !text.is_empty() => in_pieces(text, characters),
        _ => vec![text.to_owned()],
    };
    Ok(match &block.content {
        Content::Text(text) => {
            let pieces = in_pieces(text).into_iter();
            pieces.map(|text| json!({"text": text})).collect()
        }
        Content::Thinking(text) => {
            let pieces = in_pieces(text).into_iter();
            let part = |text| json!({"text": text, "thought": true});
            pieces.map(part).collect()
        }
        Content::ToolUse { id, name, input } => {
            let ToolInput::Json(input) = input else {
                return Err(format!(
                    "Gemini sends JSON, and the input of {name} is text"
                ));
            };
            let mut call = json!({"name": name, "args": input});
            if let Some(id) = id {
                call["id"] = id.as_str().into();
            }
            vec![json!({"functionCall": call})]
        }
        Content::Raw(part) => vec![part.clone()],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model_server::gemini::read::{self, Answered};

    fn parts_of(chunk: &Value) -> Vec<Value> {
        let parts = chunk["candidates"][0]["content"]["parts"].as_array();
        parts.cloned().unwrap_or_default()
    }

    fn text(parts: &[Value], thought: bool) -> String {
        let is_match = |part: &&Value| part["thought"].as_bool().unwrap_or(false) == thought;
        let texts = parts.iter().filter(is_match);
        texts.filter_map(|part| part["text"].as_str()).collect()
    }

    proptest! {
        #[test]
        fn the_chunks_of_a_stream_make_up_the_whole(text_of in ".*", piece in 1_usize..50) {
            let prompt = read::prompt(br#"{"contents": []}"#, "m", Answered::Stream).unwrap();
            let message = ScriptedMessage::new()
                .thinks(&text_of)
                .says(&text_of)
                .signed("c2ln")
                .uses_tool("write", json!({"content": &text_of}))
                .in_pieces_of(piece);

            let events = stream(&message, &prompt, Ids::fixed()).unwrap();

            let streamed: Vec<Value> = events
                .iter()
                .flat_map(|event| parts_of(&serde_json::from_str(&event.data).unwrap()))
                .collect();
            let whole = parts_of(&encode_message(&message, &prompt, Ids::fixed()).unwrap());
            for thought in [true, false] {
                prop_assert_eq!(text(&streamed, thought), text(&whole, thought));
            }
            let signed = streamed.iter().filter(|part| part["thoughtSignature"] == "c2ln");
            prop_assert_eq!(signed.count(), 1);
            let calls = |parts: &[Value]| -> Vec<Value> {
                let calls = parts.iter().filter(|part| part["functionCall"].is_object());
                calls.cloned().collect()
            };
            prop_assert_eq!(calls(&streamed), calls(&whole));
        }
    }
}
