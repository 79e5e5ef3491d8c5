//! [`DataTest`]: the condition of a gateway's branch on the data of a flow.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::written_value;

/// A condition on one value of the data.
///
/// ```
/// use autonoe_flow::definition::DataTest;
/// use serde_json::json;
///
/// let test: DataTest =
///     serde_json::from_value(json!({"data": "/steps/review/outputs/score", "atLeast": 8}))?;
///
/// assert!(test.holds(&json!({"steps": {"review": {"outputs": {"score": 9}}}})));
/// assert!(!test.holds(&json!({})));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenTest", into = "WrittenTest")]
pub struct DataTest {
    /// The location of the value.
    pub data: DataPath,
    /// The condition on the value.
    pub question: DataQuestion,
}

/// A condition on a value. For a missing value, only `Exists(false)` and `NotEquals` hold.
#[derive(Clone, Debug, PartialEq)]
pub enum DataQuestion {
    /// It equals this value.
    Equals(Value),
    /// It is another value, or missing.
    NotEquals(Value),
    /// It is one of these values.
    OneOf(Vec<Value>),
    /// Whether a value that is not null must be present.
    Exists(bool),
    /// It is a number of at least this.
    AtLeast(f64),
    /// It is a number of at most this.
    AtMost(f64),
}

impl DataTest {
    /// Returns whether the condition holds for `data`.
    pub fn holds(&self, data: &Value) -> bool {
        let found = self.data.find(data).filter(|value| !value.is_null());
        let number = found.and_then(Value::as_f64);
        match &self.question {
            DataQuestion::Equals(expected) => found.is_some_and(|value| is_same(value, expected)),
            DataQuestion::NotEquals(other) => !found.is_some_and(|value| is_same(value, other)),
            DataQuestion::OneOf(expected) => {
                found.is_some_and(|value| expected.iter().any(|one| is_same(value, one)))
            }
            DataQuestion::Exists(expected) => found.is_some() == *expected,
            DataQuestion::AtLeast(least) => number.is_some_and(|number| number >= *least),
            DataQuestion::AtMost(most) => number.is_some_and(|number| number <= *most),
        }
    }
}

impl fmt::Display for DataTest {
    /// Formats the condition in short: `verdict = "approve"`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.data.names().last().unwrap_or_default();
        match &self.question {
            DataQuestion::Equals(value) => write!(f, "{name} = {value}"),
            DataQuestion::NotEquals(value) => write!(f, "{name} ≠ {value}"),
            DataQuestion::OneOf(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "{name} is {}", values.join(" or "))
            }
            DataQuestion::Exists(true) => write!(f, "{name} exists"),
            DataQuestion::Exists(false) => write!(f, "{name} does not exist"),
            DataQuestion::AtLeast(number) => write!(f, "{name} ≥ {number}"),
            DataQuestion::AtMost(number) => write!(f, "{name} ≤ {number}"),
        }
    }
}

/// Compares two values. `1` and `1.0` are equal.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a_number), Some(b_number)) => a == b || a_number == b_number,
        _ => a == b,
    }
}

/// A condition as it is written in a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "DataTest")]
struct WrittenTest {
    /// The location of the value, as a JSON pointer such as `/steps/review/outputs/verdict`.
    data: DataPath,
    /// The value must equal this one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    equals: Option<Value>,
    /// The value must differ from this one, or be missing.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_value"
    )]
    not_equals: Option<Value>,
    /// The value must be one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Value>")]
    one_of: Option<Vec<Value>>,
    /// Whether a value that is not null must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    exists: Option<bool>,
    /// The value must be a number of at least this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    at_least: Option<f64>,
    /// The value must be a number of at most this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    at_most: Option<f64>,
}

impl TryFrom<WrittenTest> for DataTest {
    type Error = String;

    fn try_from(written: WrittenTest) -> Result<Self, String> {
        let questions = [
            written.equals.map(DataQuestion::Equals),
            written.not_equals.map(DataQuestion::NotEquals),
            written.one_of.map(DataQuestion::OneOf),
            written.exists.map(DataQuestion::Exists),
            written.at_least.map(DataQuestion::AtLeast),
            written.at_most.map(DataQuestion::AtMost),
        ];
        let mut questions = questions.into_iter().flatten();
        match (questions.next(), questions.next()) {
            (Some(question), None) => Ok(Self {
                data: written.data,
                question,
            }),
            _ => Err("expected exactly one of `equals`, `notEquals`, `oneOf`, `exists`, `atLeast`, `atMost`".into()),
        }
    }
}

impl From<DataTest> for WrittenTest {
    fn from(test: DataTest) -> Self {
        let mut written = Self {
            data: test.data,
            equals: None,
            not_equals: None,
            one_of: None,
            exists: None,
            at_least: None,
            at_most: None,
        };
        match test.question {
            DataQuestion::Equals(value) => written.equals = Some(value),
            DataQuestion::NotEquals(value) => written.not_equals = Some(value),
            DataQuestion::OneOf(values) => written.one_of = Some(values),
            DataQuestion::Exists(expected) => written.exists = Some(expected),
            DataQuestion::AtLeast(least) => written.at_least = Some(least),
            DataQuestion::AtMost(most) => written.at_most = Some(most),
        }
        written
    }
}

impl JsonSchema for DataTest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DataTest".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenTest::json_schema(generator);
        schema.insert("minProperties".to_owned(), 2.into());
        schema.insert("maxProperties".to_owned(), 2.into());
        schema
    }
}

/// A location in the data of a flow, as a JSON pointer.
///
/// | pointer | value |
/// | --- | --- |
/// | `/parameters/{name}` | the value of a parameter |
/// | `/steps/{id}/passed` | whether the step passed on its last visit |
/// | `/steps/{id}/visits` | how often the step was visited |
/// | `/steps/{id}/outputs/{name}` | an output that the step set |
/// | `/context/{name}` | other facts of the flow, such as `iteration` |
///
/// ```
/// use autonoe_flow::definition::DataPath;
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

    /// Returns the value at this location in `data`.
    pub fn find<'a>(&self, data: &'a Value) -> Option<&'a Value> {
        data.pointer(&self.0)
    }

    /// Returns the unescaped segments of the pointer.
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
        if is_known {
            Ok(Self(text))
        } else {
            Err(format!(
                "{text:?} is not a path in the data; use /parameters/NAME, \
                 /steps/ID/outputs/NAME, /steps/ID/passed, /steps/ID/visits or /context/NAME"
            ))
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
            "description": "A path in the data of a flow, as a JSON pointer.",
            "type": "string",
            "pattern": "^/(parameters|steps|context)/.+$",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_is_answered_by_the_value_and_by_none() {
        let data = json!({"context": {"score": 8, "word": "yes", "nothing": null}});
        for (question, of_score, of_word, of_nothing) in [
            (json!({"equals": 8}), true, false, false),
            (json!({"equals": 8.0}), true, false, false),
            (json!({"notEquals": "yes"}), true, false, true),
            (json!({"oneOf": [7, 8, "yes"]}), true, true, false),
            (json!({"exists": true}), true, true, false),
            (json!({"exists": false}), false, false, true),
            (json!({"atLeast": 8}), true, false, false),
            (json!({"atLeast": 8.5}), false, false, false),
            (json!({"atMost": 8}), true, false, false),
        ] {
            for (name, holds) in [
                ("score", of_score),
                ("word", of_word),
                ("nothing", of_nothing),
                ("absent", of_nothing),
            ] {
                let mut written = question.clone();
                written["data"] = format!("/context/{name}").into();

                let test: DataTest = serde_json::from_value(written.clone()).expect("a question");

                assert_eq!(test.holds(&data), holds, "{written}");
                let reread = serde_json::to_value(&test).expect("JSON");
                let reread: DataTest = serde_json::from_value(reread).expect("a question");
                assert_eq!(reread, test, "{written}");
            }
        }
    }
}
