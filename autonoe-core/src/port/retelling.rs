//! What happens elsewhere, for those who watch here.

use super::recorded_event::{RecordedEvent, RecordedKind};
use super::{Events, RunEvent};
use crate::domain::{SpanId, StreamEvent};

/// Tells observers what happened in sessions elsewhere, as a part of one run here.
///
/// Sessions that were carried out by other processes each have a tree of their own. Here they
/// become sessions below one place, as they would be if the run were here. That such a process
/// took up the run and let go of it is its own affair and not told.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Events, RecordedEvent, RetoldSessions, RunEvent, SeededIds, SystemClock};
/// use serde_json::json;
///
/// let observer = |event: &RunEvent<'_>| println!("{event:?}");
/// let events = Events::new(vec![Arc::new(observer)], SystemClock, SeededIds::new(1));
/// let mut retold = RetoldSessions::below(events);
///
/// let event: RecordedEvent = serde_json::from_value(json!({
///     "at": "2026-01-01T00:00:00Z",
///     "traceId": "000000000000000000000000000000ab",
///     "spanId": "0000000000000001",
///     "event": "progress_hidden",
/// }))?;
/// retold.tell(&event);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct RetoldSessions {
    events: Events,
    /// The place in the tree elsewhere that is the place here.
    root: Option<SpanId>,
    /// The call that was answered last, and what the agent was given.
    answered: Option<(String, String)>,
}

impl RetoldSessions {
    /// Tells the observers of `events`, with the sessions below its place.
    pub fn below(events: Events) -> Self {
        Self {
            events,
            root: None,
            answered: None,
        }
    }

    /// Tells what happened, with the time at which it did.
    pub fn tell(&mut self, event: &RecordedEvent) {
        match &event.kind {
            RecordedKind::FlowStarted { .. } | RecordedKind::RunStarted { .. } => {
                self.root = Some(event.span.span);
                return;
            }
            RecordedKind::FlowEnded { .. } | RecordedKind::RunEnded { .. } => return,
            RecordedKind::Agent {
                stream:
                    StreamEvent::ToolResponse {
                        call_id, output, ..
                    },
            } => self.answered = Some((call_id.clone(), output.clone())),
            _ => {}
        }
        let answered = self.answered.as_ref();
        let output = match (&event.kind, answered) {
            (RecordedKind::ToolEnded { call_id, .. }, Some((of, output))) if of == call_id => {
                output.as_str()
            }
            _ => "",
        };
        event.tell(output, &mut |event| self.pass_on(event));
    }

    fn pass_on(&self, event: &RunEvent<'_>) {
        let mut event = event.clone();
        let here = *self.events.span();
        event.span.trace = here.trace;
        if Some(event.span.span) == self.root {
            event.span = here;
        } else if event.span.parent == self.root {
            event.span.parent = Some(here.span);
        }
        self.events.pass_on(&event);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use crate::port::{SeededIds, SystemClock};

    /// Retells what is written so, and returns what was told, as programs get it.
    fn retold(written: &[Value]) -> (Events, Vec<Value>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let observer = move |event: &RunEvent<'_>| {
            let event = serde_json::to_value(event).expect("JSON");
            heard.lock().expect("not poisoned").push(event);
        };
        let ids = Arc::new(SeededIds::new(1));
        let events = Events::new(vec![Arc::new(observer)], Arc::new(SystemClock), ids);
        let mut retelling = RetoldSessions::below(events.clone());
        for event in written {
            let event = serde_json::from_value(event.clone()).expect("an event");
            retelling.tell(&event);
        }
        let told = told.lock().expect("not poisoned").clone();
        (events, told)
    }

    /// An event of a process of its own, whose root is `root`.
    fn event(root: u64, span: u64, parent: Option<u64>, what: &Value) -> Value {
        let mut event = json!({
            "at": "2026-01-01T00:00:00Z",
            "traceId": format!("{root:032x}"),
            "spanId": format!("{span:016x}"),
        });
        if let Some(parent) = parent {
            event["parentSpanId"] = json!(format!("{parent:016x}"));
        }
        let event = event.as_object_mut().expect("an object");
        event.extend(what.as_object().expect("an object").clone());
        json!(event)
    }

    fn session(root: u64) -> [Value; 4] {
        let started =
            json!({"event": "flow_started", "run": "shop", "flow": "hosted", "resumed": false});
        let begun = json!({"event": "session_started", "number": 1, "instruction": "coding"});
        let warned = json!({"event": "warning", "message": "it is late"});
        [
            event(root, root, Some(99), &started),
            event(root, 7, Some(root), &begun),
            event(root, 8, Some(7), &json!({"event": "progress_hidden"})),
            event(root, root, Some(99), &warned),
        ]
    }

    #[test]
    fn sessions_of_several_processes_are_one_tree() {
        let (events, told) = retold(&[session(5), session(6)].concat());

        let root = events.span();
        assert_eq!(told.len(), 6, "{told:?}");
        for (number, event) in told.iter().enumerate() {
            assert_eq!(event["traceId"], root.trace.to_string());
            let (span, parent) = (&event["spanId"], &event["parentSpanId"]);
            match number % 3 {
                0 => assert_eq!(*parent, root.span.to_string()),
                1 => assert_eq!(*parent, format!("{:016x}", 7)),
                _ => assert_eq!(*span, root.span.to_string()),
            }
        }
    }

    #[test]
    fn what_a_later_version_tells_is_passed_over() {
        let (_, told) = retold(&[event(5, 7, None, &json!({"event": "hologram", "depth": 3}))]);

        assert_eq!(told, Vec::<Value>::new());
    }

    #[test]
    fn what_the_agent_was_given_belongs_to_the_call_that_ended() {
        let outputs = Arc::new(Mutex::new(Vec::new()));
        let heard = outputs.clone();
        let observer = move |event: &RunEvent<'_>| {
            if let crate::port::RunEventKind::ToolEnded { output, .. } = &event.kind {
                let output = (*output).to_owned();
                heard.lock().expect("not poisoned").push(output);
            }
        };
        let ids = Arc::new(SeededIds::new(1));
        let events = Events::new(vec![Arc::new(observer)], Arc::new(SystemClock), ids);
        let mut retelling = RetoldSessions::below(events);
        let answered = json!({"event": "agent", "stream": {"type": "stream_tool_response",
            "callId": "1", "output": "3 files", "status": "ok"}});
        let ended = |call: &str| {
            json!({"event": "tool_ended", "callId": call, "tool": "Bash", "status": "ok",
                "durationMs": 12})
        };
        for what in [answered, ended("1"), ended("2")] {
            let event = event(5, 7, None, &what);
            retelling.tell(&serde_json::from_value(event).expect("an event"));
        }

        let outputs = outputs.lock().expect("not poisoned").clone();
        assert_eq!(outputs, ["3 files", ""]);
    }
}
