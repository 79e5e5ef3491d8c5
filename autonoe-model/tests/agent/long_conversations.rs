//! Conversations that do not fit into the model.

use autonoe_core::{SessionOutcome, TokenUsage, ToolOutput};
use autonoe_model::{Message, ModelError, ModelErrorCode, ModelRequest, Part, ToolChoice};
use serde_json::json;

use crate::setting::{Answer, ScriptedModel, TestTool, agents, calls, one_turn, reply, says};

/// How many tokens the model of these tests can read.
const WINDOW: usize = 4_000;

/// Counts as a provider would: four bytes to a token.
fn tokens(request: &ModelRequest) -> usize {
    let text = serde_json::to_string(&request.messages).expect("it can be written");
    (text.len() + request.system.as_deref().unwrap_or_default().len()) / 4
}

/// Says of an answer how many tokens were read for it.
fn counted(answer: Answer, tokens: usize) -> Answer {
    let usage = TokenUsage {
        input: tokens as u64,
        output: 30,
        ..TokenUsage::default()
    };
    match answer {
        Answer::Says(reply) => Answer::Says(reply.with_usage(usage)),
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
            return says("Half of the book is read.");
        }
        answered += 1;
        let answer = match answered {
            // Each round has 250 tokens and more: four windows in all.
            ..64 => {
                let id = format!("c{answered}");
                reply([
                    Part::text("On."),
                    Part::tool_call(id, "Look", json!({"page": answered})),
                ])
            }
            _ => says("The book is read."),
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
    let asked = model.asked();
    let overflows = asked.iter().filter(|request| tokens(request) > WINDOW);
    assert_eq!(overflows.count(), 0, "it was made shorter too late");
    for request in asked.iter().filter(|request| !is_summary(request)) {
        assert_eq!(request.messages[0], Message::user("Read the whole book."));
    }
    let last = asked.last().expect("it was asked");
    let notes = &last.messages[1];
    assert!(
        matches!(notes, Message::User { text } if text.contains("Half of the book is read.")),
        "{notes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_overflowed_unforeseen_is_made_shorter_and_goes_on() {
    let look = TestTool::reads("Look", async |_, _| Ok(ToolOutput::new("x".repeat(3_000))));
    let mut failures = 1;
    let model = ScriptedModel::following(move |request| {
        if is_summary(request) {
            return says("It was looked at.");
        }
        match request.messages.len() {
            1 => calls(&[("c1", "Look", json!({}))]),
            3 if failures > 0 => {
                failures -= 1;
                too_long()
            }
            _ => says("Done."),
        }
    });

    let turn = one_turn(&agents(&model, [look], small), "Look.").await;

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
    assert!(model.asked().len() <= 4, "{}", model.asked().len());
}
