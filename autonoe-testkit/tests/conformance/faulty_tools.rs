//! Backends that call tools incorrectly, in one way each.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl};
use autonoe_core::tool::{ToolDefinition, ToolStatus, Toolbox};
use autonoe_core::{
    AgentClient, AgentError, MessageStream, SessionSpec, StreamEvent, Tool, ToolContext, ToolError,
    ToolOutput,
};
use autonoe_testkit::conformance::{Conformance, agent_client};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::conformance::assert_fails;
use crate::conformance::scripted_harness::{Fault, ScriptedHarness};

async fn checked(fault: impl Fault) -> Conformance {
    agent_client(&ScriptedHarness::with(fault)).await
}

/// Calls tools in a custom way.
struct CallsLike<F>(F);

impl<F, A> Fault for CallsLike<F>
where
    F: Fn(Toolbox, ToolContext, String, Value) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
{
    fn change_spec(&self, mut spec: SessionSpec) -> SessionSpec {
        let tools: Vec<_> = spec.tools.definitions().cloned().collect();
        let tools = tools.into_iter().map(|definition| {
            let (toolbox, call) = (spec.tools.clone(), self.0.clone());
            Arc::new(Calls {
                definition,
                toolbox,
                call,
            }) as Arc<dyn Tool>
        });
        spec.tools = Toolbox::new(tools.collect::<Vec<_>>());
        spec
    }
}

struct Calls<F> {
    definition: ToolDefinition,
    toolbox: Toolbox,
    call: F,
}

#[async_trait]
impl<F, A> Tool for Calls<F>
where
    F: Fn(Toolbox, ToolContext, String, Value) -> A + Send + Sync,
    A: Future<Output = Result<ToolOutput, ToolError>> + Send,
{
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let name = self.definition.name.clone();
        (self.call)(self.toolbox.clone(), context.clone(), name, input).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_calls_a_tool_twice_is_found() {
    let report = checked(CallsLike(
        |tools: Toolbox, context: ToolContext, name: String, input: Value| async move {
            let _ = tools.call(&name, input.clone(), context.clone()).await;
            tools.call(&name, input, context).await
        },
    ))
    .await;

    assert_fails(
        &report,
        &[
            "our tool runs once and receives its whole input",
            "tools that are called at once get each their own answer",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_damages_the_input_is_found() {
    let report = checked(CallsLike(
        |tools: Toolbox, context, name: String, input: Value| async move {
            let ascii = input.to_string().replace(|c: char| !c.is_ascii(), "?");
            tools
                .call(&name, ascii.parse().expect("it is still JSON"), context)
                .await
        },
    ))
    .await;

    assert_fails(
        &report,
        &["our tool runs once and receives its whole input"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_mixes_up_outputs_is_found() {
    let last: Arc<Mutex<String>> = Arc::default();
    let report = checked(CallsLike(
        move |tools: Toolbox, context, name: String, input: Value| {
            let last = last.clone();
            async move {
                let output = tools.call(&name, input, context).await?.output;
                *last.lock().expect("not poisoned") = output;
                tokio::task::yield_now().await;
                Ok(ToolOutput::new(last.lock().expect("not poisoned").clone()))
            }
        },
    ))
    .await;

    assert_fails(
        &report,
        &["tools that are called at once get each their own answer"],
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_lets_tools_run_on_is_found() {
    let report = checked(CallsLike(
        |tools: Toolbox, mut context: ToolContext, name: String, input| async move {
            // Nothing cancels the call when its caller is dropped.
            context.cancelled = CancellationToken::new();
            tokio::spawn(async move { tools.call(&name, input, context).await })
                .await
                .expect("no panic")
        },
    ))
    .await;

    assert_fails(&report, &["a dropped stream ends the tool that runs"]);
}

/// Runs tools although the gate denied the call.
struct RunsDeniedTools;

impl Fault for RunsDeniedTools {
    fn wrap_client(&self, inner: Box<dyn AgentClient>, spec: &SessionSpec) -> Box<dyn AgentClient> {
        Box::new(Disobeys {
            inner,
            spec: spec.clone(),
        })
    }
}

struct Disobeys {
    inner: Box<dyn AgentClient>,
    spec: SessionSpec,
}

#[async_trait]
impl AgentClient for Disobeys {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (stream, spec) = (self.inner.query(prompt), &self.spec);
        stream
            .then(move |item| async move {
                if let Ok(StreamEvent::ToolResponse {
                    status: ToolStatus::Denied,
                    ..
                }) = &item
                {
                    for tool in spec.tools.definitions() {
                        let context = ToolContext::new(spec.key.clone());
                        let input = json!({"number": 1, "does": "answer"});
                        let _ = spec.tools.call(&tool.name, input, context).await;
                    }
                }
                item
            })
            .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_runs_a_denied_tool_is_found() {
    assert_fails(
        &checked(RunsDeniedTools).await,
        &["a denied tool of ours does not run"],
    );
}
