//! Tests of tools that request help from the model.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::tool::{ToolDefinition, ToolErrorCode, ToolStatus};
use autonoe_core::{AgentClientFactory, Budget, Tool, ToolContext, ToolError, ToolOutput};
use autonoe_model::{Message, ModelError, ModelErrorCode};
use serde_json::{Value, json};

use crate::agent::fixture::{
    Answer, ScriptedModel, agents, calls, one_turn, spec, text_reply, turn_of,
};

/// A tool that cannot summarize a long text by itself.
struct Digest {
    definition: ToolDefinition,
    /// Whether it requests help with the code of its result.
    is_coded: bool,
}

impl Digest {
    fn new() -> Self {
        Self {
            definition: ToolDefinition::new("Look", "Tells in short.", json!({"type": "object"})),
            is_coded: false,
        }
    }

    fn tool() -> Arc<dyn Tool> {
        Arc::new(Self::new())
    }

    fn coded_tool() -> Arc<dyn Tool> {
        Arc::new(Self {
            is_coded: true,
            ..Self::new()
        })
    }
}

#[async_trait]
impl Tool for Digest {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let prompt = "Tell it in short: a very long text";
        if self.is_coded {
            let output = ToolOutput::json(&json!({"prompt": prompt}));
            let code = ToolErrorCode::LLM_ASSIST_REQUIRED;
            return Ok(output.with_metadata(ToolOutput::ERROR, code.as_str()));
        }
        Err(ToolError::assist(prompt, "the text is too long for me"))
    }

    async fn assisted(
        &self,
        _: Value,
        answer: String,
        _: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(format!("In short: {answer}")))
    }
}

// Shows: framework/tools/llm-assist-required-with-prompt
#[tokio::test(start_paused = true)]
async fn a_tool_that_needs_the_model_gets_its_answer_out_of_the_same_budget() {
    for digest in [Digest::tool(), Digest::coded_tool()] {
        let model = ScriptedModel::new([
            calls(&[("c1", "Look", json!({}))]),
            text_reply("it is long"),
            text_reply("I see."),
        ]);

        let turn = one_turn(&agents(&model, [digest], |_| {}), "Look.").await;

        assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
        assert_eq!(
            turn.responses(),
            [("c1", "In short: it is long", ToolStatus::Ok)]
        );
        // The model's answer to a tool is not a text of the agent.
        assert_eq!(turn.texts(), ["I see."]);
        assert_eq!(turn.tokens(), 60);
        let requests = model.requests();
        let question = Message::user("Tell it in short: a very long text");
        assert_eq!(requests[1].messages, [question]);
        assert!(requests[1].tools.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_gets_no_help_when_the_budget_is_spent() {
    let model = ScriptedModel::new([calls(&[("c1", "Look", json!({}))])]);
    let agents = agents(&model, [Digest::tool()], |_| {});
    let mut client = agents
        .create(spec(Budget::default().with_tokens(20)))
        .expect("it can be made");

    let turn = turn_of(client.as_mut(), "Look.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::BudgetExceeded));
    let responses = turn.responses();
    assert!(responses[0].1.contains("budget"), "{responses:?}");
}

#[tokio::test(start_paused = true)]
async fn parallel_tools_share_the_remaining_tokens() {
    let digest = Digest::new();
    let digest: Arc<dyn Tool> = Arc::new(Digest {
        definition: digest.definition.read_only(),
        ..digest
    });
    let ids: Vec<_> = (0..9).map(|number| format!("c{number}")).collect();
    let tool_calls: Vec<_> = ids
        .iter()
        .map(|id| (id.as_str(), "Look", json!({})))
        .collect();
    let model = ScriptedModel::new([calls(&tool_calls), text_reply("it is long")]);
    let agents = agents(&model, [digest], |_| {});
    let mut client = agents
        .create(spec(Budget::default().with_tokens(40)))
        .expect("it can be made");

    let turn = turn_of(client.as_mut(), "Look.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::BudgetExceeded));
    assert_eq!(turn.tokens(), 40);
    let helped = turn
        .responses()
        .into_iter()
        .filter(|(.., status)| *status == ToolStatus::Ok);
    assert_eq!(helped.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_help_a_tool_is_an_error_of_the_tool() {
    let model = ScriptedModel::new([
        calls(&[("c1", "Look", json!({}))]),
        Answer::Fails(ModelError::new(ModelErrorCode::Unknown, "no idea")),
        text_reply("A pity."),
    ]);

    let turn = one_turn(&agents(&model, [Digest::tool()], |_| {}), "Look.").await;

    assert_eq!(turn.outcome(), Some(&SessionOutcome::Completed));
    let responses = turn.responses();
    assert!(
        matches!(responses[..], [("c1", _, ToolStatus::Error)]),
        "{responses:?}"
    );
    assert!(responses[0].1.contains("no idea"), "{responses:?}");
}
