//! Calls of tools, put together from their fragments.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::PROTOCOL;
use crate::contract::{ModelEvent, Part};
use crate::wire::openai::read_arguments;

/// Calls of tools, whose fragments may come in turns.
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
    /// What else it came with, a signature for example.
    rest: Map<String, Value>,
    told: bool,
}

/// Whether the model came to the end of what it wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It did.
    Wholly,
    /// It was cut.
    Cut,
}

impl Calls {
    /// Takes a fragment of an answer with this id.
    pub(super) fn take(&mut self, fragment: &Value, answer: &str, news: &mut Vec<ModelEvent>) {
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
            // Not by the book, but seen: the arguments as an object.
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

    /// Finds the call of a fragment. Some services give every call the same index, or none; then
    /// a new id is a new call, and so is another name where there are no ids.
    fn call(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Call {
        let found = self
            .calls
            .iter()
            .rposition(|call| match (index, call.index) {
                (Some(index), Some(its)) if index != its => false,
                _ if !id.is_empty() => call.id == id,
                _ => name.is_empty() || call.may_go_on(index, name),
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

    /// Returns the parts that they are, in the order of the service.
    ///
    /// # Errors
    ///
    /// One does not say what is called; the words say so.
    pub(super) fn into_parts(mut self, written: Written) -> Result<Vec<Part>, &'static str> {
        self.calls.sort_by_key(|call| call.index);
        let calls = self.calls.into_iter();
        calls.map(|call| call.into_part(written)).collect()
    }
}

impl Call {
    /// Tells whether a fragment without an id that names a tool can be a part of this call: one
    /// that has no name yet, or one that its service names again in every fragment.
    fn may_go_on(&self, index: Option<u64>, name: &str) -> bool {
        let is_written = || serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok();
        self.name.is_empty() || (index.is_some() && self.name == name && !is_written())
    }

    fn into_part(self, written: Written) -> Result<Part, &'static str> {
        if self.name.is_empty() {
            return Err("a call without a name");
        }
        let input = match written {
            // Even if it says nothing, that is not what the model meant.
            Written::Cut if self.arguments.trim().is_empty() => self.arguments.as_str().into(),
            _ => read_arguments(&self.arguments),
        };
        let mut item = self.rest;
        item.entry("type").or_insert_with(|| "function".into());
        item.insert("id".into(), self.id.as_str().into());
        let function = json!({"name": self.name, "arguments": self.arguments});
        item.insert("function".into(), function);
        Ok(Part::tool_call(self.id, self.name, input).as_it_came(PROTOCOL, item.into()))
    }
}
