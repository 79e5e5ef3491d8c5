//! [`Calls`]: tool calls assembled from streamed fragments.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::PROTOCOL;
use crate::contract::{MessagePart, ModelEvent};
use crate::wire::openai::read_arguments;

/// Tool calls whose fragments may be interleaved.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
}

#[derive(Clone, Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Other fields, for example a signature.
    rest: Map<String, Value>,
    told: bool,
}

/// Whether the model finished its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputEnd {
    /// The output is complete.
    Complete,
    /// The output was cut.
    Cut,
}

impl Calls {
    /// Processes a fragment of the answer with the ID `answer`.
    pub(super) fn push(&mut self, fragment: &Value, answer: &str, news: &mut Vec<ModelEvent>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let function = &fragment["function"];
        let id = text(&fragment["id"]);
        let made_up = format!(
            "{}-{}",
            if answer.is_empty() { "call" } else { answer },
            self.calls.len()
        );
        let name = text(&function["name"]);
        let call = self.call(fragment["index"].as_u64(), &id, &name);
        if call.id.is_empty() {
            call.id = if id.is_empty() { made_up } else { id };
        }
        if call.name.is_empty() {
            call.name = name;
        }
        match &function["arguments"] {
            Value::String(more) => call.arguments += more,
            // Not in the specification, but sent by some services: arguments as an object.
            whole @ Value::Object(_) => call.arguments = whole.to_string(),
            _ => {}
        }
        let known = ["index", "id", "function"];
        let rest = fragment.as_object().into_iter().flatten();
        let rest =
            rest.filter(|(field, value)| !known.contains(&field.as_str()) && !value.is_null());
        call.rest
            .extend(rest.map(|(field, value)| (field.clone(), value.clone())));
        if !call.told && !call.name.is_empty() {
            call.told = true;
            news.push(ModelEvent::ToolCall {
                id: call.id.clone(),
                name: call.name.clone(),
            });
        }
    }

    /// Finds the call of a fragment. Some services give every call the same index, or none; then a
    /// new ID starts a new call, and so does another name if there are no IDs.
    fn call(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Call {
        let found = self
            .calls
            .iter()
            .rposition(|call| match (index, call.index) {
                (Some(index), Some(its)) if index != its => false,
                _ if !id.is_empty() => call.id == id,
                _ => name.is_empty() || call.may_continue(index, name),
            });
        let at = found.unwrap_or(self.calls.len());
        if found.is_none() {
            self.calls.push(Call {
                index,
                ..Call::default()
            });
        }
        &mut self.calls[at]
    }

    /// Converts the calls into parts, in the order of the service.
    ///
    /// # Errors
    ///
    /// A call has no name. The error says so.
    pub(super) fn into_parts(
        mut self,
        written: OutputEnd,
    ) -> Result<Vec<MessagePart>, &'static str> {
        self.calls.sort_by_key(|call| call.index);
        let calls = self.calls.into_iter();
        calls.map(|call| call.into_part(written)).collect()
    }
}

impl Call {
    /// Returns whether a fragment with a name but without an ID can belong to this call: a call
    /// without a name yet, or one whose service repeats the name in every fragment.
    fn may_continue(&self, index: Option<u64>, name: &str) -> bool {
        let is_written = || serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
        self.name.is_empty() || (index.is_some() && self.name == name && !is_written())
    }

    fn into_part(self, written: OutputEnd) -> Result<MessagePart, &'static str> {
        if self.name.is_empty() {
            return Err("a call without a name");
        }
        let input = match written {
            // An empty input of a cut call is not what the model meant.
            OutputEnd::Cut if self.arguments.trim().is_empty() => self.arguments.as_str().into(),
            _ => read_arguments(&self.arguments),
        };
        let mut item = self.rest;
        item.entry("type").or_insert_with(|| "function".into());
        item.insert("id".into(), self.id.as_str().into());
        let function = json!({"name": self.name, "arguments": self.arguments});
        item.insert("function".into(), function);
        Ok(MessagePart::tool_call(self.id, self.name, input).with_wire(PROTOCOL, item.into()))
    }
}
