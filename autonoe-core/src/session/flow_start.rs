//! [`FlowStart`], the name and the parameters of a new flow.

use serde_json::{Map, Value};

/// The name and the parameters of a new flow, for observers and the journal.
///
/// ```
/// use autonoe_core::session::FlowStart;
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
    /// Identifies the version of the flow's definition, for example by a hash; empty by default.
    pub definition: String,
    /// The parameters; an empty object by default.
    pub parameters: Value,
}

impl FlowStart {
    /// Creates the start of the flow `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            flow: name.into(),
            definition: String::new(),
            parameters: Value::Object(Map::new()),
        }
    }

    /// Sets the identifier of the definition's version.
    #[must_use]
    pub fn definition(mut self, definition: impl Into<String>) -> Self {
        self.definition = definition.into();
        self
    }

    /// Sets the parameters. They are recorded in the journal, so they must not contain secrets.
    #[must_use]
    pub fn parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }
}
