//! The calls of an answer, carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use autonoe_core::{
    AgentError, AgentErrorKind, GateDecision, SessionSpec, StreamEvent, Tool, ToolContext,
    ToolDefinition, ToolEffect, ToolError, ToolErrorCode, ToolOutput, ToolStatus, Toolbox,
};
use futures::future::join_all;
use serde_json::Value;

use super::asking::Asking;
use super::prompts::CUT_CALL;
use crate::contract::{ModelReply, StopReason, ToolResult};

/// The tools of a session: its own under the names that all backends give them, ours, and those
/// of its MCP servers. The name that the gate has seen leads to one tool and no other.
#[derive(Debug)]
pub(super) struct Calls {
    /// Those that the session brings, by their own names.
    own: Toolbox,
    /// Ours and those of servers.
    others: Toolbox,
    definitions: Vec<ToolDefinition>,
    /// The names that lead to tools of the session, and the own names of these.
    own_names: BTreeMap<String, String>,
}

/// One call of an answer.
struct Call<'a> {
    id: &'a str,
    name: &'a str,
    input: &'a Value,
}

impl Calls {
    /// Takes the tools of the session, those that every session has, and those of its servers.
    ///
    /// # Errors
    ///
    /// The model would know two of them by the same name.
    pub(super) fn new(
        spec: &SessionSpec,
        built_in: &[Arc<dyn Tool>],
        of_servers: &[Arc<dyn Tool>],
    ) -> Result<Self, AgentError> {
        let mut own_names = BTreeMap::new();
        let mut own = Vec::new();
        for tool in spec.tools.definitions() {
            let name = Toolbox::qualified_name(&tool.name);
            // Of two tools of a session with the same name the first counts.
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
            let message = format!("two tools of the session are called {}", twice.name);
            return Err(AgentError::new(AgentErrorKind::Configuration, message));
        }
        Ok(Self {
            own: spec.tools.clone(),
            others: spec
                .tools
                .beside(built_in.iter().chain(of_servers).cloned()),
            definitions,
            own_names,
        })
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
        let was_cut = matches!(reply.stop, StopReason::MaxTokens | StopReason::ContextFull);
        if was_cut && !call.input.is_object() {
            let result = ToolResult::failed(call.id, call.name, CUT_CALL);
            return (result, ToolStatus::Error);
        }
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

/// Cuts calls into batches: those of one run side by side, the batches one after the other.
///
/// Calls that only look and stand next to each other share a batch. A call that changes
/// something has one of its own, so that what an agent calls later sees what it called before.
pub(super) fn batches(effects: &[ToolEffect]) -> Vec<std::ops::Range<usize>> {
    let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
    let mut only_looks = false;
    for (at, effect) in effects.iter().enumerate() {
        let looks = *effect == ToolEffect::ReadOnly;
        match batches.last_mut() {
            Some(last) if looks && only_looks => last.end = at + 1,
            _ => batches.push(at..at + 1),
        }
        only_looks = looks;
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
    fn what_only_looks_runs_side_by_side() {
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
