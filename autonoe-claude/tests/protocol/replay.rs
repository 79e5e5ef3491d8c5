//! Replay of all recorded conversations, from bytes to the end of the session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_claude::wire::{Line, Message, RequestContent};
use autonoe_core::agent::{NoControl, Prompt, SessionControl, SessionReport};
use autonoe_core::run::{Session, SessionLimits};
use autonoe_core::{AgentClient, AgentError, CostUsd, MessageStream, StreamEvent};
use autonoe_testkit::VirtualClock;
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::transcript::{all, program_lines};
use crate::transcript_text::{Query, narrate};

/// Plays the events of a query to core.
struct Recorded(Option<Query>);

#[async_trait]
impl AgentClient for Recorded {
    fn query(&mut self, _prompt: Prompt) -> MessageStream<'_> {
        let Query { events, finished } = self.0.take().expect("one query");
        let events = events.into_iter().chain(finished.events).map(Ok);
        let end = std::iter::once(finished.end);
        stream::iter(events.chain(end)).boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

async fn session_result(query: Query) -> SessionReport {
    let session = Session::new(Arc::new(VirtualClock::new()), SessionLimits::default());
    let client = Box::new(Recorded(Some(query)));
    session
        .run(client, "go".into(), &CancellationToken::new(), &mut |_| {})
        .await
}

#[tokio::test(start_paused = true)]
async fn every_transcript_matches_its_snapshot() {
    let transcripts = all();
    assert_eq!(transcripts.len(), 134, "67 scenarios on two builds");
    let mut changed = Vec::new();
    for transcript in transcripts {
        let narration = narrate(&transcript);
        let mut text = narration.text;
        for query in narration.queries {
            let result = session_result(query).await;
            let result = serde_json::to_string(&result).expect("JSON");
            text.push_str(&format!("session {result}\n"));
        }
        let name = transcript.name.replace('/', "__");
        let compared = catch_unwind(AssertUnwindSafe(|| {
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(name.as_str(), text);
            });
        }));
        if compared.is_err() {
            changed.push(transcript.name);
        }
    }
    assert!(changed.is_empty(), "these snapshots differ: {changed:#?}");
}

#[test]
fn every_query_starts_answers_its_calls_once_and_adds_up() {
    for transcript in all() {
        let name = &transcript.name;
        for query in narrate(&transcript).queries {
            let Ok(end) = query.finished.end else {
                continue;
            };
            let events: Vec<StreamEvent> = query
                .events
                .into_iter()
                .chain(query.finished.events)
                .collect();

            let starts = |event: &StreamEvent| matches!(event, StreamEvent::Started { .. });
            assert!(starts(&events[0]), "{name}: {events:?}");
            assert_eq!(
                events.iter().filter(|event| starts(event)).count(),
                1,
                "{name}"
            );
            let mut open = Vec::new();
            let mut spent = Some(CostUsd::ZERO);
            for event in &events {
                match event {
                    StreamEvent::ToolInvocation { call_id, .. } => open.push(call_id),
                    StreamEvent::ToolResponse { call_id, .. } => {
                        let place = open.iter().position(|open| *open == call_id);
                        open.remove(place.unwrap_or_else(|| panic!("{name}: {call_id}")));
                    }
                    StreamEvent::Usage { cost, .. } => {
                        spent = spent.zip(*cost).map(|(sum, cost)| sum + cost);
                    }
                    _ => {}
                }
            }
            assert!(open.is_empty(), "{name}: no response to {open:?}");
            let StreamEvent::End { cost, .. } = end else {
                panic!("{name}: {end:?}")
            };
            assert_eq!(cost, spent, "{name}");
        }
    }
}

#[test]
fn every_message_is_parsed_or_known_to_be_irrelevant() {
    let mut unknown = Vec::new();
    for text in program_lines() {
        let line = Line::from_text(text).expect("a line");
        match line.parse() {
            Message::Unreadable { reason } => panic!("{reason}: {line:?}"),
            Message::Unknown => {
                unknown.push(format!("{} {:?}", line.type_name(), line.subtype()));
            }
            Message::ControlRequest(request) => {
                let known = !matches!(request.content, RequestContent::Unknown { .. });
                assert!(known, "{request:?}");
            }
            _ => {}
        }
    }
    unknown.sort();
    unknown.dedup();

    assert_eq!(
        unknown,
        [
            "conversation_reset None",
            "system Some(\"compact_boundary\")",
            "system Some(\"notification\")",
            "system Some(\"task_progress\")",
            "system Some(\"thinking_tokens\")",
            "tool_use_summary None",
        ]
    );
}
