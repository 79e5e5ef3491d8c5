//! Matches calls of Autonoe's tools with the call ids of the agent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use crate::tool::{ToolError, ToolErrorCode, ToolOutput};

/// Records of the calls of Autonoe's tools in one session, each kept until the agent's stream
/// reports its end.
///
/// A tool served over MCP is called without the agent's call id. Every call that the gate allows or
/// the stream reports is therefore announced here. A call without an id then gets the id of the
/// first announced call of the same tool, preferably one with the same input. Both orders work,
/// because the two connections are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallRecords(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    /// Oldest first.
    calls: Vec<Call>,
    next_key: u64,
}

#[derive(Debug)]
struct Call {
    key: u64,
    /// Call id of the agent, once it is known.
    id: Option<String>,
    tool: String,
    input: Value,
    state: CallState,
}

#[derive(Debug, PartialEq)]
enum CallState {
    Announced,
    Denied,
    Running,
    Ended(CallRecord),
}

/// Result that one of Autonoe's tools reported for a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallRecord {
    pub(crate) error: Option<ToolErrorCode>,
    pub(crate) message: Option<String>,
    pub(crate) title: String,
    pub(crate) metadata: Map<String, Value>,
}

/// Running call of a tool. Dropping it removes the call unless it has ended.
pub(crate) struct RunningCall {
    records: CallRecords,
    key: u64,
    pub(crate) id: Option<String>,
}

impl CallRecords {
    /// Adds a call of `tool` that the agent requests.
    pub(crate) fn announce(&self, id: &str, tool: &str, input: &Value) {
        self.add(id, tool, input, CallState::Announced);
    }

    /// Adds a denied call, so that no running tool gets its id.
    pub(crate) fn deny(&self, id: &str, tool: &str, input: &Value) {
        self.add(id, tool, input, CallState::Denied);
        let mut calls = self.lock();
        if let Some(call) = calls.by_id(id)
            && call.state == CallState::Announced
        {
            call.state = CallState::Denied;
        }
    }

    fn add(&self, id: &str, tool: &str, input: &Value, state: CallState) {
        let mut calls = self.lock();
        if calls.by_id(id).is_some() {
            return;
        }
        // An ended call with a different input is one that the agent never reports.
        let is_unknown = |call: &Call| {
            let is_ended = matches!(call.state, CallState::Ended(_));
            call.id.is_none() && (!is_ended || call.input == *input)
        };
        if state == CallState::Announced
            && let Some(call) = calls.first(tool, input, is_unknown)
        {
            call.id = Some(id.to_owned());
            return;
        }
        calls.push(Some(id), tool, input, state);
    }

    /// Starts a call of `tool`, whose id may be unknown.
    pub(crate) fn start(&self, id: Option<&str>, tool: &str, input: &Value) -> RunningCall {
        let mut calls = self.lock();
        let known = match id {
            Some(id) => calls.by_id(id),
            None => calls.first(tool, input, |call| call.state == CallState::Announced),
        };
        let (key, id) = match known {
            Some(call) => {
                call.state = CallState::Running;
                (call.key, call.id.clone())
            }
            None => {
                let key = calls.push(id, tool, input, CallState::Running);
                (key, id.map(str::to_owned))
            }
        };
        drop(calls);
        RunningCall {
            records: self.clone(),
            key,
            id,
        }
    }

    /// Removes a call that the agent's stream reported as ended, and returns the result that its
    /// tool reported.
    pub(crate) fn take(&self, id: &str) -> Option<CallRecord> {
        let mut calls = self.lock();
        let has_id = |call: &Call| call.id.as_deref() == Some(id);
        let index = calls.calls.iter().position(has_id)?;
        match calls.calls.remove(index).state {
            CallState::Ended(record) => Some(record),
            CallState::Announced | CallState::Denied | CallState::Running => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calls {
    fn by_id(&mut self, id: &str) -> Option<&mut Call> {
        let has_id = |call: &&mut Call| call.id.as_deref() == Some(id);
        self.calls.iter_mut().find(has_id)
    }

    /// Returns the first call of `tool` that satisfies `predicate`, preferably one with the same
    /// input.
    fn first(
        &mut self,
        tool: &str,
        input: &Value,
        predicate: impl Fn(&Call) -> bool,
    ) -> Option<&mut Call> {
        let is_candidate = |call: &Call| call.tool == tool && predicate(call);
        let same_input = |call: &Call| is_candidate(call) && call.input == *input;
        let calls = &mut self.calls;
        let exact = calls.iter().position(same_input);
        let index = exact.or_else(|| calls.iter().position(is_candidate))?;
        calls.get_mut(index)
    }

    fn push(&mut self, id: Option<&str>, tool: &str, input: &Value, state: CallState) -> u64 {
        let key = self.next_key;
        self.next_key += 1;
        self.calls.push(Call {
            key,
            id: id.map(str::to_owned),
            tool: tool.to_owned(),
            input: input.clone(),
            state,
        });
        key
    }
}

impl RunningCall {
    /// Records the result of the call.
    pub(crate) fn end(self, result: &Result<ToolOutput, ToolError>) {
        let (error, output) = match result {
            Ok(output) => (None, Some(output)),
            Err(error) => (Some(error), error.output.as_deref()),
        };
        let (title, metadata) = output
            .map(|output| (output.title.clone(), output.metadata.clone()))
            .unwrap_or_default();
        let record = CallRecord {
            error: error.map(|error| error.code.clone()),
            message: error.map(|error| error.message.clone()),
            title,
            metadata,
        };
        let mut calls = self.records.lock();
        if let Some(call) = calls.calls.iter_mut().find(|call| call.key == self.key) {
            call.state = CallState::Ended(record);
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let is_running = |call: &Call| call.key == self.key && call.state == CallState::Running;
        let mut calls = self.records.lock();
        calls.calls.retain(|call| !is_running(call));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIST: &str = "list";

    fn titled(title: &str) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::default().with_title(title))
    }

    fn title(records: &CallRecords, id: &str) -> Option<String> {
        records.take(id).map(|record| record.title)
    }

    #[test]
    fn a_call_without_an_id_gets_that_of_the_first_announced_call_of_its_tool() {
        let records = CallRecords::default();
        let input = json!({});
        records.announce("other", "create", &input);
        records.announce("a", LIST, &input);
        records.announce("b", LIST, &input);
        records.announce("a", LIST, &input);

        let first = records.start(None, LIST, &input);
        let second = records.start(None, LIST, &input);
        let third = records.start(None, LIST, &input);

        let ids = [&first, &second, &third].map(|call| call.id.as_deref());
        assert_eq!(ids, [Some("a"), Some("b"), None]);
        second.end(&titled("second"));
        assert_eq!(title(&records, "a"), None);
        assert_eq!(title(&records, "b").as_deref(), Some("second"));
    }

    #[test]
    fn a_call_gets_the_id_of_an_announced_call_with_the_same_input() {
        let records = CallRecords::default();
        records.announce("a", LIST, &json!({"limit": 1}));
        records.announce("b", LIST, &json!({"limit": 2}));

        let call = records.start(None, LIST, &json!({"limit": 2}));

        assert_eq!(call.id.as_deref(), Some("b"));
    }

    // Shows: framework/tools/call-ids-of-served-tools
    #[test]
    fn a_call_with_an_unannounced_input_gets_the_id_of_the_first_call() {
        let records = CallRecords::default();
        records.announce("other", "create", &json!({"limit": 3}));
        records.announce("a", LIST, &json!({}));
        records.announce("b", LIST, &json!({"limit": 2}));

        let call = records.start(None, LIST, &json!({"limit": 3}));

        assert_eq!(call.id.as_deref(), Some("a"));
    }

    #[test]
    fn a_call_announced_after_its_start_has_its_record() {
        let records = CallRecords::default();
        let input = json!({});
        records.start(None, LIST, &input).end(&titled("ended"));
        let running = records.start(None, LIST, &input);

        records.announce("a", LIST, &input);
        records.announce("b", LIST, &input);
        running.end(&titled("ran"));

        assert_eq!(title(&records, "a").as_deref(), Some("ended"));
        assert_eq!(title(&records, "b").as_deref(), Some("ran"));
    }

    #[test]
    fn a_call_that_the_agent_never_reports_takes_no_id_of_a_call_with_another_input() {
        let records = CallRecords::default();
        let unknown = json!({"limit": 1});
        records.start(None, LIST, &unknown).end(&titled("unknown"));

        for limit in 2..5 {
            let (id, input) = (limit.to_string(), json!({"limit": limit}));
            records.announce(&id, LIST, &input);
            let call = records.start(None, LIST, &input);
            call.end(&titled(&id));

            assert_eq!(title(&records, &id), Some(id));
        }
    }

    #[test]
    fn no_call_gets_the_id_of_a_denied_one() {
        let records = CallRecords::default();
        let input = json!({});
        records.deny("a", LIST, &input);
        records.announce("a", LIST, &input);
        records.announce("b", LIST, &input);
        records.deny("b", LIST, &input);

        assert_eq!(records.start(None, LIST, &input).id, None);
        assert_eq!(records.take("a"), None);
    }

    #[test]
    fn a_dropped_call_is_forgotten() {
        let records = CallRecords::default();
        let input = json!({});
        drop(records.start(None, LIST, &input));

        records.announce("a", LIST, &input);

        let call = records.start(None, LIST, &input);
        assert_eq!(call.id.as_deref(), Some("a"));
    }

    #[test]
    fn a_call_with_an_id_keeps_it() {
        let records = CallRecords::default();
        let input = json!({});
        records.announce("a", LIST, &input);
        records.announce("b", LIST, &input);

        let call = records.start(Some("b"), LIST, &input);

        assert_eq!(call.id.as_deref(), Some("b"));
        call.end(&titled("of b"));
        assert_eq!(title(&records, "b").as_deref(), Some("of b"));
        assert_eq!(records.start(None, LIST, &input).id.as_deref(), Some("a"));
    }
}
