//! Checks of multi-turn conversations.

use autonoe_testkit::conformance::{CheckOutcome, Checks, Flaw};

use super::answers::{TEXT, THOUGHT, answers, request, two_calls};
use super::recorded_answer::Recorder;
use super::{Replayed, StagedProvider};
use crate::contract::{Message, MessagePart, ModelRequest, PartKind, ToolResult};

pub(super) async fn check(checks: &mut Checks, recorder: &Recorder<'_>) {
    let [first, second] = two_calls();
    let calls = [MessagePart::text(TEXT), first.clone(), second.clone()];
    checks
        .run("an answer is sent back unchanged", async {
            check_replay(recorder, calls.to_vec()).await.map(|_| ())
        })
        .await;
    checks
        .run("thinking is sent back unchanged", async {
            let thinks = [vec![MessagePart::thinking(THOUGHT)], calls.to_vec()].concat();
            check_replay(recorder, thinks).await.map(|_| ())
        })
        .await;
    checks
        .run("opaque parts are preserved and sent back", async {
            let unknown = vec![
                MessagePart::text(TEXT),
                MessagePart::opaque(),
                first.clone(),
            ];
            let message = check_replay(recorder, unknown).await?;
            let parts = message.iter();
            let opaque_count = parts.filter(|part| part.kind == PartKind::Opaque).count();
            ensure!(
                opaque_count == 1,
                "{opaque_count} such parts are in {message:?}"
            );
            Ok(())
        })
        .await;
    checks
        .run("results of calls reach the provider", async {
            let stage = recorder.stage(&answers(calls.to_vec())).await?;
            continue_conversation(recorder, &*stage, &calls).await?;
            let requests = stage.requests();
            let Some(last) = requests.last().map(ToString::to_string) else {
                return Err(super::recorded_answer::impossible());
            };
            for result in [RIGHT, WRONG] {
                ensure!(last.contains(result), "{result:?} is not in {last}");
            }
            Ok(())
        })
        .await;
}

const RIGHT: &str = "230 km (a4e6)";
const WRONG: &str = "the rope is too short (b9d2)";

/// Continues a conversation after an answer of `parts`. Returns the parts that the client read.
async fn check_replay(
    recorder: &Recorder<'_>,
    parts: Vec<MessagePart>,
) -> CheckOutcome<Vec<MessagePart>> {
    let stage = recorder.stage(&answers(parts.clone())).await?;
    let parts_read = continue_conversation(recorder, &*stage, &parts).await?;
    let Some(Replayed {
        received,
        sent_back,
    }) = stage.replayed()
    else {
        return Err(Flaw::Untestable(
            "the harness does not record requests".to_owned(),
        ));
    };
    ensure!(
        received == sent_back,
        "received:\n{received}\nsent back:\n{sent_back}"
    );
    Ok(parts_read)
}

/// Sends a request, then a second one with the results of all calls.
async fn continue_conversation(
    recorder: &Recorder<'_>,
    stage: &dyn StagedProvider,
    parts: &[MessagePart],
) -> CheckOutcome<Vec<MessagePart>> {
    let scenario = answers(parts.to_vec());
    let first = recorder.record(&scenario, stage, &request()).await?;
    let message = first.reply()?.message.clone();
    let results = message
        .calls()
        .enumerate()
        .map(|(index, (id, name, _))| match index {
            0 => ToolResult::ok(id, name, RIGHT),
            _ => ToolResult::failed(id, name, WRONG),
        });
    let results = Message::results(results);
    let mut conversation = request().messages;
    conversation.extend([message.clone().into(), results]);
    // Serialized and deserialized in between, like a saved conversation.
    let unreadable = |error: serde_json::Error| Flaw::Failed(format!("it is lost: {error}"));
    let saved = serde_json::to_string(&conversation).map_err(unreadable)?;
    let loaded: Vec<Message> = serde_json::from_str(&saved).map_err(unreadable)?;
    let second = ModelRequest {
        messages: loaded,
        ..request()
    };
    recorder.record(&scenario, stage, &second).await?.reply()?;
    Ok(message.parts)
}
