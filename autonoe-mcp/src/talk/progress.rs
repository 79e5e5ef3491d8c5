//! The progress of a call, as its client is told.

use serde_json::{Map, Value, json};

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
    use super::*;

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
