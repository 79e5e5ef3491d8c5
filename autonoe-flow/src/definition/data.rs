//! What a gateway and a variable read: the data of a flow.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A place in the data of a flow, as a JSON pointer.
///
/// | pointer | what is there |
/// | --- | --- |
/// | `/parameters/{name}` | the value of a parameter |
/// | `/steps/{id}/passed` | whether the step passed when it was visited last |
/// | `/steps/{id}/visits` | how often it was visited |
/// | `/steps/{id}/outputs/{name}` | an output that it set |
/// | `/context/{name}` | what else the flow knows, such as `iteration` |
///
/// ```
/// use autonoe_flow::DataPath;
/// use serde_json::json;
///
/// let verdict: DataPath = serde_json::from_value(json!("/steps/review/outputs/verdict"))?;
/// let data = json!({"steps": {"review": {"outputs": {"verdict": "approve"}}}});
///
/// assert_eq!(verdict.find(&data), Some(&json!("approve")));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataPath(String);

impl DataPath {
    /// Returns the pointer.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what `data` holds there.
    pub fn find<'a>(&self, data: &'a Value) -> Option<&'a Value> {
        data.pointer(&self.0)
    }

    /// Returns the names that lead there, one after the other.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let names = self.0.split('/').skip(1);
        names.map(|name| name.replace("~1", "/").replace("~0", "~"))
    }
}

impl TryFrom<String> for DataPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_known = ["/parameters/", "/steps/", "/context/"]
            .iter()
            .any(|start| text.len() > start.len() && text.starts_with(start));
        match is_known {
            true => Ok(Self(text)),
            false => Err(format!(
                "{text:?} is not a place in the data; use /parameters/NAME, /steps/ID/outputs/NAME, /steps/ID/passed, /steps/ID/visits or /context/NAME"
            )),
        }
    }
}

impl From<DataPath> for String {
    fn from(path: DataPath) -> Self {
        path.0
    }
}

impl JsonSchema for DataPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DataPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A place in the data of a flow, as a JSON pointer.",
            "type": "string",
            "pattern": "^/(parameters|steps|context)/.+$",
        })
    }
}
