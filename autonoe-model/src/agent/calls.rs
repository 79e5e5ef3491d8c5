//! The calls of an answer, carried out.

use std::sync::Arc;

use autonoe_core::{
    GateDecision, SessionSpec, StreamEvent, Tool, ToolContext, ToolDefinition, ToolEffect,
    ToolError, ToolErrorCode, ToolOutput, ToolStatus, Toolbox,
};
use futures::future::join_all;
use serde_json::Value;

use super::asking::Asking;
use super::batches::batches;
use crate::contract::{ModelReply, ToolResult};

/// The tools of a session: its own under the names that all backends give them, ours, and those
/// of its MCP servers.
#[derive(Debug)]
pub(super) struct Calls {
    tools: Toolbox,
    definitions: Vec<ToolDefinition>,
}

/// One call of an answer.
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a Value,
}

impl Calls {
    /// Takes the tools of the session, those that every session has, and those of its servers.
    pub(super) fn new(
        spec: &SessionSpec,
        built_in: &[Arc<dyn Tool>],
        of_servers: &[Arc<dyn Tool>],
    ) -> Self {
        let own = spec.tools.definitions().cloned().map(|mut tool| {
            tool.name = Toolbox::qualified_name(&tool.name);
            tool
        });
        let mut definitions: Vec<_> = built_in
            .iter()
            .map(|tool| tool.definition().clone())
            .collect();
        definitions.extend(own);
        definitions.extend(of_servers.iter().map(|tool| tool.definition().clone()));
        let others = built_in.iter().chain(of_servers).cloned();
        Self {
            tools: spec.tools.clone().with_tools(others),
            definitions,
        }
    }

    /// Returns what the model is told of the tools.
    pub(super) fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// Carries out the calls of an answer, as far as they are allowed, and returns a result for
    /// each, in their order. Calls that are not done when the turn is stopped are ended.
    pub(super) async fn carry_out(
        &self,
        spec: &SessionSpec,
        reply: &ModelReply,
        asking: &Asking,
    ) -> Vec<ToolResult> {
        let calls: Vec<Call<'_>> = reply
            .message
            .calls()
            .map(|(id, name, input)| Call { id, name, input })
            .collect();
        for call in &calls {
            asking.tell(StreamEvent::tool_invocation(
                call.id,
                call.name,
                call.input.clone(),
            ));
        }
        let effects: Vec<_> = calls.iter().map(|call| self.effect(call.name)).collect();
        let mut results = Vec::with_capacity(calls.len());
        for batch in batches(&effects) {
            let batch = calls.get(batch).unwrap_or_default();
            let done = batch.iter().map(async |call| {
                let (result, status) = self.carry_out_one(spec, reply, call, asking).await;
                asking.tell(StreamEvent::tool_response(call.id, &result.output, status));
                result
            });
            results.extend(join_all(done).await);
        }
        results
    }

    fn effect(&self, name: &str) -> ToolEffect {
        let tool = self.definitions.iter().find(|tool| tool.name == name);
        tool.map_or(ToolEffect::Writes, |tool| tool.effect)
    }

    async fn carry_out_one(
        &self,
        spec: &SessionSpec,
        reply: &ModelReply,
        call: &Call<'_>,
        asking: &Asking,
    ) -> (ToolResult, ToolStatus) {
        let stop = asking.stop();
        let asked = spec.tool_call(call.id, call.name, call.input.clone());
        let decision = tokio::select! {
            biased;
            () = stop.cancelled() => {
                let error = ToolError::new(ToolErrorCode::CANCELLED, "the turn was stopped");
                return result(call, Err(error));
            }
            decision = spec.gate.decide(&asked) => decision,
        };
        if let GateDecision::Deny { reason, .. } = decision {
            let refused = ToolResult::failed(call.id, call.name, reason);
            return (refused, ToolStatus::Denied);
        }
        let mut context = ToolContext::new(spec.key.clone())
            .with_call_id(call.id)
            .with_cancellation(stop.child_token())
            .with_assistant(Arc::new(asking.clone()));
        context.message_id = reply.id.clone();
        let input = call.input.clone();
        // The gate has seen the whole name: it must not lead to a tool that has another.
        let is_known = self.definitions.iter().any(|tool| tool.name == call.name);
        let own = own_name(call.name).filter(|_| is_known);
        let name = own.unwrap_or(call.name);
        result(call, self.tools.call(name, input, context).await)
    }
}

/// Returns the name of a tool of the session by that which the model knows.
fn own_name(name: &str) -> Option<&str> {
    name.strip_prefix("mcp__")?
        .strip_prefix(Toolbox::SERVER)?
        .strip_prefix("__")
}

fn result(call: &Call<'_>, done: Result<ToolOutput, ToolError>) -> (ToolResult, ToolStatus) {
    match done {
        Ok(output) => {
            let result = ToolResult::ok(call.id, call.name, output.output);
            (result.with_attachments(output.attachments), ToolStatus::Ok)
        }
        Err(error) => {
            let result = ToolResult::failed(call.id, call.name, error.to_string());
            (result, ToolStatus::Error)
        }
    }
}
