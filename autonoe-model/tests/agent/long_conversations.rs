//! Tests of conversations that exceed the model's context.

use std::time::Duration;

use autonoe_core::agent::{SessionOutcome, TokenUsage};
use autonoe_core::{AgentClientFactory, Budget, ToolOutput};
use autonoe_model::{
    Message, MessagePart, ModelError, ModelErrorCode, ModelRequest, StopReason, ToolChoice,
};
use serde_json::json;

use crate::agent::fixture::{
    Answer, ScriptedModel, TestTool, Turn, agents, calls, one_turn, reply, spec, text_reply,
    turn_of, with_stop,
};

/// Context of the model in these tests, in tokens.
const WINDOW: usize = 4_000;

/// Counts like a provider: four bytes per token.
fn tokens(request: &ModelRequest) -> usize {
    let text = serde_json::to_string(&request.messages).expect("it can be written");
    (text.len() + request.system.as_deref().unwrap_or_default().len()) / 4
}

/// Sets the number of prompt tokens of an answer.
fn counted(answer: Answer, tokens: usize) -> Answer {
    let usage = TokenUsage {
        input: tokens as u64,
        output: 30,
        ..TokenUsage::default()
    };
    match answer {
        Answer::Replies(reply) => Answer::Replies(reply.with_usage(usage)),
        other => other,
    }
}

fn too_long() -> Answer {
    let message = "the prompt is too long";
    Answer::Fails(ModelError::new(
        ModelErrorCode::ContextLengthExceeded,
        message,
    ))
}

fn small(options: &mut autonoe_model::ModelAgentOptions) {
    let limits = format!(r#"{{"model": {{"context": {WINDOW}, "output": 500}}}}"#);
    options.limits = serde_json::from_str(&limits).expect("limits");
}

fn is_summary(request: &ModelRequest) -> bool {
    request.tools.is_empty() && request.tool_choice == ToolChoice::Auto
}

#[tokio::test(start_paused = true)]
async fn a_conversation_of_three_windows_ends_well_and_the_task_is_still_known() {
    let book = TestTool::reads("Look", async |_, _| {
        Ok(ToolOutput::new("word ".repeat(200)))
    });
    let mut answered = 0;
    let model = ScriptedModel::following(move |request| {
        if tokens(request) > WINDOW {
            return too_long();
        }
        if is_summary(request) {
            return text_reply("Half of the book is read.");
        }
        answered += 1;
        let answer = match answered {
            // Each round has at least 250 tokens: four windows in all.
            ..64 => {
                let id = format!("c{answered}");
                reply([
                    MessagePart::text("On."),
                    MessagePart::tool_call(id, "Look", json!({"page": answered})),
                ])
            }
            _ => text_reply("The book is read."),
        };
        counted(answer, tokens(request))
    });

    let agents = agents(&model, [book], |options| {
        small(options);
        options.max_rounds = 100;
    });
    let turn = one_turn(&agents, "Read the whole book.").await;

    assert_eq!(
        turn.outcome(),
        Some(&SessionOutcome::Completed),
        "{:?}",
        turn.error
    );
    assert_eq!(turn.texts().last(), Some(&"The book is read."));
    assert_eq!(turn.responses().len(), 63);
    let requests = model.requests();
    let overflows = requests.iter().filter(|request| tokens(request) > WINDOW);
    assert_eq!(overflows.count(), 0, "it was made shorter too late");
    for request in requests.iter().filter(|request| !is_summary(request)) {
        assert_eq!(request.messages[0], Message::user("Read the whole book."));
    }
    let last = requests.last().expect("it was asked");
    let notes = &last.messages[1];
    assert!(
        matches!(notes, Message::User { text } if text.contains("Half of the book is read.")),
        "{notes:?}"
    );
}

// Shows: framework/models/context-length
#[tokio::test(start_paused = true)]
async fn overflowing_conversation_is_compacted_and_continued() {
    let tool = TestTool::reads("Look", async |_, _| Ok(ToolOutput::new("x".repeat(3_000))));
    let mut failures = 1;
    let model = ScriptedModel::following(move |request| {
        if is_summary(request) {
            return text_reply("It was looked at.");
        }
        match request.messages.len() {
            1 => calls(&[("c1", "Look", json!({}))]),
            3 if failures > 0 => {
                failures -= 1;
                too_long()
            }
            _ => text_reply("Done."),
        }
    });

    let turn = one_turn(&agents(&model, [tool], small), "Look.").await;

    assert_eq!(
        turn.outcome(),
        Some(&SessionOutcome::Completed),
        "{:?}",
        turn.error
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_itself_too_long_fails_and_does_not_loop() {
    let model = ScriptedModel::following(|_| too_long());

    let turn = one_turn(&agents(&model, [], small), &"task ".repeat(10_000)).await;

    assert_eq!(turn.error.as_ref().map(|error| error.code()), Some("other"));
    assert!(model.requests().len() <= 4, "{}", model.requests().len());
}

/// Runs a conversation of several windows, whose summaries are `summary`, with a steering message
/// at its beginning. Returns the turn and the last request to the model.
async fn steered_at_length(summary: fn() -> Answer) -> (Turn, ModelRequest) {
    let tool = TestTool::reads("Look", async |_, _| {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok(ToolOutput::new("word ".repeat(200)))
    });
    let mut answered = 0;
    let model = ScriptedModel::following(move |request| {
        if is_summary(request) {
            return summary();
        }
        answered += 1;
        let answer = match answered {
            ..40 => calls(&[(&format!("c{answered}"), "Look", json!({}))]),
            _ => text_reply("The book is read."),
        };
        counted(answer, tokens(request))
    });
    let agents = agents(&model, [tool], small);
    let mut client = agents
        .create(spec(Budget::default()))
        .expect("it can be made");
    let control = client.control();
    let steered = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let steered = control.steer("Do not touch the database.").await;
        steered.expect("it is taken");
    };

    let (turn, ()) = tokio::join!(turn_of(client.as_mut(), "Read the book."), steered);

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let last = model.requests().pop().expect("it was asked");
    (turn, last)
}

#[tokio::test(start_paused = true)]
async fn user_message_survives_every_kind_of_summary() {
    let notes: fn() -> Answer = || text_reply("Half of the book is read.");
    for (summary, warning) in [
        (notes, "was summarised"),
        (|| reply([]), "middle was removed"),
        (
            || with_stop(reply([]), StopReason::MaxTokens),
            "middle was removed",
        ),
        (
            || with_stop(text_reply("I cannot tell."), StopReason::Refused),
            "middle was removed",
        ),
        (
            || with_stop(text_reply("Half of"), StopReason::MaxTokens),
            "the summary was cut",
        ),
    ] {
        let (turn, last) = steered_at_length(summary).await;

        let is_instruction = |message: &&Message| matches!(message, Message::User { text } if text.contains("Do not touch the database."));
        assert_eq!(
            last.messages.iter().filter(is_instruction).count(),
            1,
            "{warning}"
        );
        let warnings = turn.warnings();
        assert!(!warnings.is_empty(), "it was made shorter");
        for warned in warnings {
            assert!(warned.contains(warning), "{warned} is not {warning}");
        }
    }
}
