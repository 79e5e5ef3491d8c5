//! What is written down when a flow begins.

use serde_json::{Map, Value};

/// What is told and written down when a flow begins.
///
/// ```
/// use autonoe_core::FlowStart;
/// use serde_json::json;
///
/// let start = FlowStart::new("review")
///     .definition("1f0c9a")
///     .parameters(json!({"branch": "main"}));
///
/// assert_eq!(start.flow, "review");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowStart {
    /// The name of the flow.
    pub flow: String,
    /// What tells versions of its definition apart, for example a hash; empty by default.
    pub definition: String,
    /// What it is started with; an empty object by default.
    pub parameters: Value,
}

impl FlowStart {
    /// Begins the flow `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            flow: name.into(),
            definition: String::new(),
            parameters: Value::Object(Map::new()),
        }
    }

    /// Sets what tells versions of the definition apart.
    #[must_use]
    pub fn definition(mut self, definition: impl Into<String>) -> Self {
        self.definition = definition.into();
        self
    }

    /// Sets what it is started with. It is written down: no secrets.
    #[must_use]
    pub fn parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }
}
