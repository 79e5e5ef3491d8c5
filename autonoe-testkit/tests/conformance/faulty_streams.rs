//! Backends whose streams have one fault each.

use std::future;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl, SessionOutcome};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent};
use autonoe_testkit::conformance::agent_client;
use futures::{StreamExt, stream};

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

/// Changes the stream of every turn.
struct InStream(Change);

type Change = for<'a> fn(MessageStream<'a>) -> MessageStream<'a>;

impl Fault for InStream {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, _: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Changed {
            inner,
            change: self.0,
        })
    }
}

struct Changed {
    inner: Box<dyn AgentClient>,
    change: Change,
}

#[async_trait]
impl AgentClient for Changed {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        (self.change)(self.inner.query(prompt))
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

fn bye() -> Result<StreamEvent, AgentError> {
    Ok(StreamEvent::text("bye"))
}

fn each(
    stream: MessageStream<'_>,
    change: impl Fn(StreamEvent) -> StreamEvent + Send + 'static,
) -> MessageStream<'_> {
    stream.map(move |item| item.map(&change)).boxed()
}

fn with_status(event: StreamEvent, from: ToolStatus, to: ToolStatus) -> StreamEvent {
    match event {
        StreamEvent::ToolResponse {
            call_id,
            output,
            status,
            ..
        } if status == from => StreamEvent::tool_response(call_id, output, to),
        other => other,
    }
}

#[tokio::test(start_paused = true)]
async fn every_fault_of_a_stream_is_found() {
    let faults: &[(&str, Change, &[&str])] = &[
        (
            "does not start with Started",
            |it| {
                it.filter(|item| future::ready(!matches!(item, Ok(StreamEvent::Started { .. }))))
                    .boxed()
            },
            &["a turn starts with Started, once"],
        ),
        (
            "starts twice",
            |it| {
                it.flat_map(|item| match item {
                    Ok(start @ StreamEvent::Started { .. }) => {
                        stream::iter([Ok(start.clone()), Ok(start)]).boxed()
                    }
                    item => stream::once(future::ready(item)).boxed(),
                })
                .boxed()
            },
            &["a turn starts with Started, once"],
        ),
        (
            "goes on after its end",
            |it| it.chain(stream::once(async { bye() })).boxed(),
            &["a turn ends with End or an error, and nothing comes after"],
        ),
        (
            "ends without an outcome",
            |it| {
                it.filter(|item| future::ready(!matches!(item, Ok(StreamEvent::End { .. }))))
                    .boxed()
            },
            &[
                "a turn ends with End or an error, and nothing comes after",
                "a turn that is finished ends as completed",
                "a spent quota is reported with its reset",
                "two sessions run side by side",
                "an interruption ends the turn as interrupted",
            ],
        ),
        (
            "is never over",
            |it| it.chain(stream::pending()).boxed(),
            &[
                "every turn ends",
                "gate and tools continue when the stream is not polled",
                "two sessions run side by side",
                "an interruption ends the turn as interrupted",
                "a control can be used after its session",
            ],
        ),
        (
            "panics on a text",
            |it| {
                it.inspect(|item| assert!(!matches!(item, Ok(StreamEvent::Text { .. })), "what?"))
                    .boxed()
            },
            &[
                "every turn ends",
                "an interruption ends the turn as interrupted",
                "a control can be used after its session",
            ],
        ),
        (
            "swallows texts",
            |it| {
                it.filter(|item| future::ready(!matches!(item, Ok(StreamEvent::Text { .. }))))
                    .boxed()
            },
            &["what the agent says arrives"],
        ),
        (
            "answers with the wrong call id",
            |it| {
                each(it, |event| match event {
                    StreamEvent::ToolResponse { output, status, .. } => {
                        StreamEvent::tool_response("another", output, status)
                    }
                    event => event,
                })
            },
            &["every call is answered once, after it was shown"],
        ),
        (
            "answers twice",
            |it| {
                it.flat_map(|item| match item {
                    Ok(answer @ StreamEvent::ToolResponse { .. }) => {
                        stream::iter([Ok(answer.clone()), Ok(answer)]).boxed()
                    }
                    item => stream::once(future::ready(item)).boxed(),
                })
                .boxed()
            },
            &["every call is answered once, after it was shown"],
        ),
        (
            "calls a denial a success",
            |it| {
                each(it, |event| {
                    with_status(event, ToolStatus::Denied, ToolStatus::Ok)
                })
            },
            &["a denied call is answered as denied"],
        ),
        (
            "calls a success a denial",
            |it| {
                each(it, |event| {
                    with_status(event, ToolStatus::Ok, ToolStatus::Denied)
                })
            },
            &[
                "an allowed call is not answered as denied",
                "the output of our tool reaches the agent",
                "tools that are called at once get each their own answer",
            ],
        ),
        (
            "calls an error a success",
            |it| {
                each(it, |event| {
                    with_status(event, ToolStatus::Error, ToolStatus::Ok)
                })
            },
            &["an error of our tool reaches the agent as one"],
        ),
        (
            "calls a crash a success",
            |it| {
                it.map(|item| {
                    let outcome = SessionOutcome::Completed;
                    item.or_else(|_| Ok(StreamEvent::end(outcome, None)))
                })
                .boxed()
            },
            &["an agent that fails does not complete"],
        ),
    ];

    for (name, change, checks) in faults {
        let report = agent_client(&ScriptedHarness::with(InStream(*change))).await;

        let failed: Vec<_> = report
            .failures()
            .iter()
            .map(|failure| &failure.check)
            .collect();
        assert_eq!(failed, *checks, "an agent that {name}: {report}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_runs_a_command_before_the_gate_decides_is_reported() {
    let eager: Change = |it| {
        it.inspect(|item| {
            let Ok(StreamEvent::ToolInvocation { input, .. }) = item else {
                return;
            };
            let command = input["command"].as_str().unwrap_or_default();
            if let Some(path) = command.strip_prefix("touch '") {
                std::fs::write(path.trim_end_matches('\''), "").expect("it can be written");
            }
        })
        .boxed()
    };

    let report = agent_client(&ScriptedHarness::with(InStream(eager))).await;

    assert_fails(&report, &["a denied command does not run"]);
}
