//! Executes the tool calls of an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::gate::GateDecision;
use autonoe_core::tool::{ToolDefinition, ToolEffect, ToolErrorCode, ToolStatus, Toolbox};
use autonoe_core::{
    AgentError, SessionSpec, StreamEvent, Tool, ToolContext, ToolError, ToolOutput,
};
use futures::future::join_all;
use serde_json::Value;

use super::metered_model::MeteredModel;
use super::prompts::CUT_CALL;
use crate::contract::{ModelReply, StopReason, ToolResult};

/// Tools of a session: its own under their qualified names, the built-in ones and those of its MCP
/// servers. A name that passed the gate resolves to exactly one tool.
#[derive(Debug)]
pub(super) struct SessionTools {
    /// Tools of the session, by their own names.
    own: Toolbox,
    /// Built-in tools and tools of MCP servers.
    others: Toolbox,
    definitions: Vec<ToolDefinition>,
    /// Qualified names of the session's tools, with their own names.
    own_names: BTreeMap<String, String>,
}

/// One call of an answer.
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a Value,
}

impl SessionTools {
    /// Combines the tools of the session, the built-in ones and those of its MCP servers.
    ///
    /// # Errors
    ///
    /// Two tools have the same name.
    pub(super) fn new(
        spec: &SessionSpec,
        built_in: &[Arc<dyn Tool>],
        of_servers: &[Arc<dyn Tool>],
    ) -> Result<Self, AgentError> {
        let mut own_names = BTreeMap::new();
        let mut own = Vec::new();
        for tool in spec.tools.definitions() {
            let name = Toolbox::qualified_name(&tool.name);
            // If two tools of a session have the same name, the first one wins.
            if own_names.insert(name.clone(), tool.name.clone()).is_none() {
                let mut tool = tool.clone();
                tool.name = name;
                own.push(tool);
            }
        }
        let definition = |tool: &Arc<dyn Tool>| tool.definition().clone();
        let mut definitions: Vec<_> = built_in.iter().map(definition).collect();
        definitions.extend(own);
        definitions.extend(of_servers.iter().map(definition));
        let mut names = BTreeSet::new();
        if let Some(twice) = definitions.iter().find(|tool| !names.insert(&tool.name)) {
            let message = format!("two tools of the session have the name {}", twice.name);
            return Err(AgentError::new(AgentErrorKind::Configuration, message));
        }
        Ok(Self {
            own: spec.tools.clone(),
            others: spec
                .tools
                .with_tools(built_in.iter().chain(of_servers).cloned()),
            definitions,
            own_names,
        })
    }

    /// Returns the tool definitions for the model.
    pub(super) fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// Runs the calls of an answer that the gate allows. Returns a result for each call, in their
    /// order. Stopping the turn cancels the remaining calls.
    pub(super) async fn run_calls(
        &self,
        spec: &SessionSpec,
        reply: &ModelReply,
        model: &MeteredModel,
    ) -> Vec<ToolResult> {
        let calls: Vec<Call<'_>> = reply
            .message
            .calls()
            .map(|(id, name, input)| Call { id, name, input })
            .collect();
        for call in &calls {
            model.emit(StreamEvent::tool_invocation(
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
                let (result, status) = self.run_one(spec, reply, call, model).await;
                model.emit(StreamEvent::tool_response(call.id, &result.output, status));
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

    async fn run_one(
        &self,
        spec: &SessionSpec,
        reply: &ModelReply,
        call: &Call<'_>,
        model: &MeteredModel,
    ) -> (ToolResult, ToolStatus) {
        let stop = &model.stop;
        let was_cut = matches!(reply.stop, StopReason::MaxTokens | StopReason::ContextFull);
        if was_cut && !call.input.is_object() {
            let result = ToolResult::failed(call.id, call.name, CUT_CALL);
            return (result, ToolStatus::Error);
        }
        let tool_call = spec.tool_call(call.id, call.name, call.input.clone());
        let decision = tokio::select! {
            biased;
            () = stop.cancelled() => {
                let error = ToolError::new(ToolErrorCode::CANCELLED, "the turn was stopped");
                return result(call, Err(error));
            }
            decision = spec.gate.decide(&tool_call) => decision,
        };
        if let GateDecision::Deny { reason, .. } = decision {
            let refused = ToolResult::failed(call.id, call.name, reason);
            return (refused, ToolStatus::Denied);
        }
        let mut context = ToolContext::new(spec.key.clone())
            .with_call_id(call.id)
            .with_cancellation(stop.child_token())
            .with_assistant(Arc::new(model.clone()));
        context.message_id = reply.id.clone();
        let input = call.input.clone();
        let done = match self.own_names.get(call.name) {
            Some(own) => self.own.call(own, input, context).await,
            None => self.others.call(call.name, input, context).await,
        };
        result(call, done)
    }
}

fn result(call: &Call<'_>, done: Result<ToolOutput, ToolError>) -> (ToolResult, ToolStatus) {
    match done {
        Ok(output) => {
            let result = ToolResult::ok(call.id, call.name, output.output);
            (result.with_attachments(output.attachments), ToolStatus::Ok)
        }
        Err(error) => {
            let attachments = error.attachments().to_vec();
            let result = ToolResult::failed(call.id, call.name, error.to_string());
            (result.with_attachments(attachments), ToolStatus::Error)
        }
    }
}

/// Splits calls into batches. The calls of a batch run concurrently, the batches one after the
/// other.
///
/// Adjacent read-only calls share a batch. A writing call has its own batch, so later calls see the
/// effects of earlier ones.
pub(super) fn batches(effects: &[ToolEffect]) -> Vec<std::ops::Range<usize>> {
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    let mut was_read_only = false;
    for (at, effect) in effects.iter().enumerate() {
        let is_read_only = *effect == ToolEffect::ReadOnly;
        match batches.last_mut() {
            Some(last) if is_read_only && was_read_only => last.end = at + 1,
            _ => batches.push(at..at + 1),
        }
        was_read_only = is_read_only;
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(calls: &str) -> String {
        let effects: Vec<_> = calls
            .chars()
            .map(|call| match call {
                'r' => ToolEffect::ReadOnly,
                _ => ToolEffect::Writes,
            })
            .collect();
        let cut = batches(&effects)
            .into_iter()
            .map(|batch| calls[batch].to_owned());
        cut.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn consecutive_read_only_calls_form_one_batch() {
        for (calls, expected) in [
            ("", ""),
            ("r", "r"),
            ("rrr", "rrr"),
            ("w", "w"),
            ("ww", "w w"),
            ("rrwrr", "rr w rr"),
            ("wrrw", "w rr w"),
        ] {
            assert_eq!(cut(calls), expected, "{calls}");
        }
    }

    proptest! {
        #[test]
        fn every_call_is_in_one_batch_and_in_its_order(calls in "[rw]{0,20}") {
            prop_assert_eq!(cut(&calls).replace(' ', ""), calls);
        }
    }
}
