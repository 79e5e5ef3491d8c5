//! The calls of one client that are under way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::ToolContext;
use rmcp::model::ErrorData;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::desk::{Desk, told};
use super::message::{failure, result};
use crate::tools::{failed, gave};

/// How many calls one client may have under way.
const MOST: usize = 64;

/// The calls of one client that are under way, by the ids that it gave them.
#[derive(Debug, Default)]
pub(crate) struct Calls(Mutex<HashMap<String, CancellationToken>>);

/// Why a call cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotBegun {
    /// Its id is that of another call.
    IdInUse,
    TooMany,
}

/// A call that has begun. It is over when this is dropped.
#[derive(Debug)]
pub(super) struct Begun {
    calls: Arc<Calls>,
    id: String,
    /// Is cancelled when nobody waits for the result any more.
    pub(super) cancelled: CancellationToken,
}

impl Calls {
    /// Begins a call, which is cancelled at the latest when `over` is.
    pub(super) fn begin(
        self: &Arc<Self>,
        id: &Value,
        over: &CancellationToken,
    ) -> Result<Begun, NotBegun> {
        let mut calls = self.lock();
        // The number 1 is another id than the text "1".
        let id = id.to_string();
        if calls.contains_key(&id) {
            return Err(NotBegun::IdInUse);
        }
        if calls.len() >= MOST {
            return Err(NotBegun::TooMany);
        }
        let cancelled = over.child_token();
        calls.insert(id.clone(), cancelled.clone());
        Ok(Begun {
            calls: self.clone(),
            id,
            cancelled,
        })
    }

    /// Cancels a call, if it is still under way.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(call) = self.lock().get(&id.to_string()) {
            call.cancel();
        }
    }

    /// Cancels all of them.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(CancellationToken::cancel);
    }

    /// Tells whether none is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

/// A call of a tool that has begun and is to be carried out.
pub(crate) struct Call {
    pub(super) desk: Arc<Desk>,
    pub(super) begun: Begun,
    pub(super) id: Value,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// What the client knows the progress of the call by, if it wants to hear of it.
    pub(super) progress: Option<Value>,
}

impl Call {
    /// Returns what ends the call early, for who finds that nobody waits for it any more.
    pub(crate) fn cancellation(&self) -> CancellationToken {
        self.begun.cancelled.clone()
    }

    /// Calls the tool, and tells its progress by `tell`. Returns the answer; `None` if the client
    /// has cancelled the call, and so wants none.
    pub(crate) async fn carry_out(
        self,
        tell: impl Fn(Value) + Send + Sync + 'static,
    ) -> Option<Value> {
        let Self {
            desk,
            begun,
            id,
            tool,
            arguments,
            progress,
        } = self;
        let mut context =
            ToolContext::new(desk.session.clone()).with_cancellation(begun.cancelled.clone());
        if let Some(token) = progress {
            let progress = Mutex::new(Progress::new(token));
            context = context.with_progress_listener(move |title, metadata| {
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                // Told under the lock, so that it is told in order.
                tell(progress.next(title, metadata));
            });
        }
        let arguments = Value::Object(arguments);
        let done = desk.tools.call(&tool, arguments, context).await;
        if begun.cancelled.is_cancelled() && !desk.over.is_cancelled() {
            return None;
        }
        let answer = match done {
            Ok(output) => told(&gave(&output)),
            // The protocol tells a name that no tool has from a tool that failed.
            Err(error) if !desk.has(&tool) => Err(ErrorData::invalid_params(error.message, None)),
            Err(error) => told(&failed(&error)),
        };
        Some(match answer {
            Ok(answer) => result(&id, &answer),
            Err(error) => failure(&id, &error),
        })
    }
}

impl Desk {
    fn has(&self, tool: &str) -> bool {
        self.tools
            .definitions()
            .any(|definition| definition.name == tool)
    }
}

/// Counts the progress of one call: what is told must grow each time.
#[derive(Debug)]
pub(super) struct Progress {
    token: Value,
    last: Option<f64>,
}

impl Progress {
    /// Begins at nothing. `token` is what the client knows the call by.
    pub(super) fn new(token: Value) -> Self {
        Self { token, last: None }
    }

    /// Makes the next notification of what a tool says that it does.
    ///
    /// How far it is is told by the tool's own `progress` and `total`, if it says them and they grow.
    pub(super) fn next(&mut self, title: &str, metadata: &Map<String, Value>) -> Value {
        let number = |name: &str| metadata.get(name).and_then(Value::as_f64);
        let said = number("progress").filter(|said| self.last.is_none_or(|last| *said > last));
        let mut params = json!({"progressToken": self.token});
        if let (Some(_), Some(total)) = (said, number("total")) {
            params["total"] = json!(total);
        }
        let now = said.unwrap_or_else(|| self.last.unwrap_or_default() + 1.0);
        self.last = Some(now);
        params["progress"] = json!(now);
        if !title.is_empty() {
            params["message"] = json!(title);
        }
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_cancelled_by_its_id_and_no_other() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let number = calls.begin(&json!(1), &over).expect("it begins");
        let text = calls.begin(&json!("1"), &over).expect("it begins");

        calls.cancel(&json!(1));
        calls.cancel(&json!(7));

        assert!(number.cancelled.is_cancelled());
        assert!(!text.cancelled.is_cancelled());
        over.cancel();
        assert!(text.cancelled.is_cancelled());
    }

    #[test]
    fn an_id_is_free_again_when_its_call_is_over() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let first = calls.begin(&json!(1), &over).expect("it begins");

        let taken = calls.begin(&json!(1), &over).map(|_| ());
        drop(first);

        assert_eq!(taken, Err(NotBegun::IdInUse));
        assert!(calls.is_idle());
        assert!(calls.begin(&json!(1), &over).is_ok());
    }

    #[test]
    fn there_is_an_end_to_what_one_client_may_have_under_way() {
        let (calls, over) = (Arc::new(Calls::default()), CancellationToken::new());
        let begun: Vec<_> = (0..MOST)
            .map(|id| calls.begin(&json!(id), &over).expect("it begins"))
            .collect();

        let one_more = calls.begin(&json!("more"), &over).map(|_| ());

        assert_eq!(one_more, Err(NotBegun::TooMany));
        assert_eq!(begun.len(), MOST);
    }

    #[test]
    fn progress_grows_each_time() {
        let mut progress = Progress::new(json!("t"));
        let details = |value: Value| value.as_object().cloned().unwrap_or_default();
        for (title, metadata, told) in [
            (
                "none",
                json!({"progress": 0, "total": 100}),
                json!({"progress": 0.0, "total": 100.0, "message": "none"}),
            ),
            ("one", json!({}), json!({"progress": 1.0, "message": "one"})),
            (
                "half",
                json!({"progress": 50, "total": 100}),
                json!({"progress": 50.0, "total": 100.0, "message": "half"}),
            ),
            (
                "back",
                json!({"progress": 20, "total": 100}),
                json!({"progress": 51.0, "message": "back"}),
            ),
            ("", json!({"progress": "far"}), json!({"progress": 52.0})),
        ] {
            let mut expected = told;
            expected["progressToken"] = json!("t");

            let note = progress.next(title, &details(metadata));

            assert_eq!(note["params"], expected, "{title}");
            assert_eq!(note["method"], json!("notifications/progress"));
        }
    }
}
