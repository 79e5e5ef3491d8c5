//! Tools that request help from a model.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::tool::{
    AssistRequest, Assistant, Attachment, ToolDescription, ToolErrorCode, Toolbox,
};
use autonoe_core::{ToolContext, ToolError, ToolOutput, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::behaviour::tools::context;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
    /// Number of its questions.
    #[serde(default)]
    rounds: usize,
}

/// Summarises a text that is too long for it.
#[derive(Default)]
struct Summary {
    calls: Mutex<usize>,
}

#[async_trait]
impl TypedTool for Summary {
    type Input = Text;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("summary", "Summarises.").read_only()
    }

    async fn run(&self, input: Text, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let prompt = format!("Summarise: {}", input.text);
        Err(ToolError::assist(prompt, "the text is too long").with_max_tokens(100))
    }

    async fn assisted(
        &self,
        input: Text,
        answer: String,
        _: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut calls = self.calls.lock().expect("not poisoned");
        *calls += 1;
        if *calls < input.rounds {
            return Err(ToolError::assist(
                format!("Shorter: {answer}"),
                "it is still too long",
            ));
        }
        Ok(ToolOutput::new(format!("Of {:?}: {answer}", input.text)).with_title("Summarised"))
    }
}

/// Records its requests and answers with a fixed result.
struct Helper {
    requests: Mutex<Vec<AssistRequest>>,
    answer: Result<String, ToolError>,
}

impl Helper {
    fn answering(answer: &str) -> Arc<Self> {
        Arc::new(Self {
            requests: Mutex::default(),
            answer: Ok(answer.to_owned()),
        })
    }
}

#[async_trait]
impl Assistant for Helper {
    async fn assist(&self, request: &AssistRequest, _: &ToolContext) -> Result<String, ToolError> {
        self.requests
            .lock()
            .expect("not poisoned")
            .push(request.clone());
        self.answer.clone()
    }
}

async fn summarise(helper: Option<Arc<Helper>>, input: Value) -> Result<ToolOutput, ToolError> {
    let toolbox = Toolbox::new([Summary::default().into_tool()]);
    let mut context = context();
    if let Some(helper) = helper {
        context = context.with_assistant(helper);
    }
    toolbox.call("summary", input, context).await
}

// Shows: framework/tools/llm-assist-required-with-prompt
#[tokio::test]
async fn a_tool_that_needs_a_model_is_called_a_second_time_with_the_answer() {
    let helper = Helper::answering("short");

    let output = summarise(Some(helper.clone()), json!({"text": "long"})).await;

    assert_eq!(output.expect("helped").output, "Of \"long\": short");
    let requests = helper.requests.lock().expect("not poisoned");
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (requests[0].prompt.as_str(), requests[0].max_tokens),
        ("Summarise: long", Some(100))
    );
}

// Shows: framework/tools/agent-takes-action
#[tokio::test]
async fn a_tool_may_ask_a_few_times_and_not_for_ever() {
    let helper = Helper::answering("short");

    let twice = summarise(Some(helper.clone()), json!({"text": "long", "rounds": 2})).await;
    let for_ever = summarise(Some(helper.clone()), json!({"text": "long", "rounds": 99})).await;

    assert_eq!(twice.expect("helped").title, "Summarised");
    let error = for_ever.expect_err("it never has enough");
    assert_eq!(error.code, ToolErrorCode::LLM_ASSIST_REQUIRED);
    assert_eq!(error.assist, None);
    assert_eq!(helper.requests.lock().expect("not poisoned").len(), 2 + 4);
}

/// Returns the prompt for an agent that must answer for the tool itself.
fn prompt_for_agent() -> Value {
    json!({
        "action": "LLM_ASSIST_REQUIRED",
        "prompt": "Summarise: long",
        "message": "the text is too long",
    })
}

// Shows: framework/tools/agent-takes-action
#[tokio::test]
async fn without_an_assistant_the_agent_gets_the_prompt() {
    let error = summarise(None, json!({"text": "long"}))
        .await
        .expect_err("no assistant");

    assert_eq!(error.code, ToolErrorCode::LLM_ASSIST_REQUIRED);
    assert_eq!(error.message, "the text is too long");
    let read: Value = serde_json::from_str(&error.to_string()).expect("JSON");
    assert_eq!(read, prompt_for_agent());
}

/// Requests help with the code of its result.
struct Coded;

#[async_trait]
impl TypedTool for Coded {
    type Input = Text;

    fn describe(&self) -> ToolDescription {
        ToolDescription::new("coded", "Summarises.").read_only()
    }

    async fn run(&self, _: Text, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let output = ToolOutput::json(&prompt_for_agent());
        Ok(with_details(output, "LLM_ASSIST_REQUIRED"))
    }

    async fn assisted(
        &self,
        input: Text,
        answer: String,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if input.rounds > 1 {
            return self.run(input, context).await;
        }
        Ok(ToolOutput::new(answer).with_title("Summarised"))
    }
}

/// Adds the details of a result with the error `code`.
fn with_details(output: ToolOutput, code: &str) -> ToolOutput {
    output
        .with_title("LLM Assistance Required")
        .with_metadata("error", code)
        .with_metadata("words", 7)
        .with_attachment(Attachment {
            media_type: "image/png".to_owned(),
            name: None,
            data: [1, 2, 3].into(),
        })
}

// Shows: framework/tools/llm-assist-required-with-prompt, framework/tools/agent-takes-action
#[tokio::test]
async fn an_assist_request_as_a_result_code_queries_the_assistant() {
    let toolbox = Toolbox::new([Coded.into_tool()]);
    let helper = Helper::answering("short");
    let input = json!({"text": "long"});

    let helped = context().with_assistant(helper.clone());
    let helped = toolbox.call("coded", input.clone(), helped).await;
    let alone = toolbox.call("coded", input, context()).await;

    assert_eq!(
        helped.expect("helped"),
        ToolOutput::new("short").with_title("Summarised")
    );
    let requests = helper.requests.lock().expect("not poisoned");
    assert_eq!(*requests, [AssistRequest::new("Summarise: long")]);
    let error = alone.expect_err("no assistant");
    assert_eq!(error.code, ToolErrorCode::LLM_ASSIST_REQUIRED);
    let read: Value = serde_json::from_str(&error.to_string()).expect("JSON");
    assert_eq!(read, prompt_for_agent());
    assert_eq!(error.output.expect("kept").title, "LLM Assistance Required");
}

// Shows: framework/tools/agent-takes-action
#[tokio::test]
async fn assist_without_an_answer_fails_the_call() {
    let failing = || {
        Arc::new(Helper {
            requests: Mutex::default(),
            answer: Err(ToolError::new(
                ToolErrorCode::RATE_LIMITED,
                "too many calls",
            )),
        })
    };
    let toolbox = Toolbox::new([Coded.into_tool()]);
    for (helper, rounds, code) in [
        (Helper::answering(" \n"), 1, "LLM_ASSIST_REQUIRED"),
        (failing(), 1, "RATE_LIMITED"),
        (Helper::answering("short"), 99, "LLM_ASSIST_REQUIRED"),
    ] {
        let input = json!({"text": "long", "rounds": rounds});

        let plain = summarise(Some(helper.clone()), input.clone()).await;
        let unhelped = context().with_assistant(helper);
        let coded = toolbox.call("coded", input, unhelped).await;

        let error = plain.expect_err("no help");
        assert_eq!((error.code.as_str(), error.output), (code, None));
        let error = coded.expect_err("no help");
        assert_eq!(error.code.as_str(), code);
        // The agent reads the error, and observers have the details of the tool.
        assert!(error.to_string().starts_with(code), "{error}");
        let details = with_details(ToolOutput::default(), code);
        assert_eq!(error.output.as_deref(), Some(&details));
    }
}

/// Never answers.
struct Asleep;

#[async_trait]
impl Assistant for Asleep {
    async fn assist(&self, _: &AssistRequest, _: &ToolContext) -> Result<String, ToolError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_call_that_waits_for_help_can_be_cancelled() {
    let toolbox = Toolbox::new([Summary::default().into_tool()]);
    let cancelled = CancellationToken::new();
    let context = context()
        .with_assistant(Arc::new(Asleep))
        .with_cancellation(cancelled.clone());

    let (result, ()) = tokio::join!(
        toolbox.call("summary", json!({"text": ""}), context),
        async {
            tokio::task::yield_now().await;
            cancelled.cancel();
        }
    );

    assert_eq!(
        result.expect_err("cancelled").code,
        ToolErrorCode::CANCELLED
    );
}

#[tokio::test]
async fn a_tool_without_its_own_handling_returns_the_answer_unchanged() {
    struct Plain;
    #[async_trait]
    impl TypedTool for Plain {
        type Input = serde_json::Map<String, Value>;
        fn describe(&self) -> ToolDescription {
            ToolDescription::new("plain", "Asks.")
        }
        async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
            Err(ToolError::assist("What now?", "it does not know"))
        }
    }
    let toolbox = Toolbox::new([Plain.into_tool()]);
    let context = context().with_assistant(Helper::answering("Go on."));

    let output = toolbox.call("plain", json!({}), context).await;

    assert_eq!(output.expect("helped").output, "Go on.");
}

// Shows: framework/tools/tool-error-code-nine-them
#[test]
fn the_nine_codes_have_their_names() {
    let codes = [
        ToolErrorCode::VALIDATION_ERROR,
        ToolErrorCode::IO_ERROR,
        ToolErrorCode::CONFIG_ERROR,
        ToolErrorCode::PERMISSION_DENIED,
        ToolErrorCode::RATE_LIMITED,
        ToolErrorCode::NOT_FOUND,
        ToolErrorCode::LLM_ASSIST_REQUIRED,
        ToolErrorCode::TIMEOUT,
        ToolErrorCode::UNKNOWN,
    ];

    let names: Vec<Value> = codes.iter().map(|code| json!(code)).collect();

    assert_eq!(
        names,
        [
            "VALIDATION_ERROR",
            "IO_ERROR",
            "CONFIG_ERROR",
            "PERMISSION_DENIED",
            "RATE_LIMITED",
            "NOT_FOUND",
            "LLM_ASSIST_REQUIRED",
            "TIMEOUT",
            "UNKNOWN",
        ]
    );
}
