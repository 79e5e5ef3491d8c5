//! The success criteria of a task.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{Criterion, JudgeCriterion};

/// What must hold after a task: a [`Criterion`], or words, for a model to judge.
///
/// ```
/// use autonoe_harness::{FileCriterion, SuccessCriteria};
///
/// let words: SuccessCriteria = serde_json::from_str(r#""The page looks good.""#)?;
/// let file: SuccessCriteria = serde_json::from_str(r#"{"type": "file", "path": "index.html"}"#)?;
///
/// assert_eq!(words, "The page looks good.".into());
/// assert_eq!(file, FileCriterion::new("index.html").into());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct SuccessCriteria(Arc<dyn Criterion>);

impl SuccessCriteria {
    /// Makes it of a criterion.
    pub fn new(criterion: impl Criterion + 'static) -> Self {
        Self(Arc::new(criterion))
    }

    /// Returns it as JSON, in which words are a text.
    fn to_json(&self) -> serde_json::Result<Value> {
        let json = serde_json::to_value(&*self.0)?;
        Ok(match JudgeCriterion::words_in(&json) {
            Some(words) => Value::from(words),
            None => json,
        })
    }
}

impl Deref for SuccessCriteria {
    type Target = dyn Criterion;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl<C: Criterion + 'static> From<C> for SuccessCriteria {
    fn from(criterion: C) -> Self {
        Self::new(criterion)
    }
}

impl From<&str> for SuccessCriteria {
    fn from(words: &str) -> Self {
        Self::new(JudgeCriterion::new(words))
    }
}

impl From<String> for SuccessCriteria {
    fn from(words: String) -> Self {
        Self::new(JudgeCriterion::new(words))
    }
}

impl Serialize for SuccessCriteria {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = self.to_json().map_err(serde::ser::Error::custom)?;
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SuccessCriteria {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(words) => Ok(words.into()),
            other => {
                let criterion: Result<Box<dyn Criterion>, _> = serde_json::from_value(other);
                let criterion = criterion.map_err(serde::de::Error::custom)?;
                Ok(Self(Arc::from(criterion)))
            }
        }
    }
}

impl PartialEq for SuccessCriteria {
    /// Two are equal that are written alike.
    fn eq(&self, other: &Self) -> bool {
        matches!((self.to_json(), other.to_json()), (Ok(one), Ok(other)) if one == other)
    }
}

impl fmt::Debug for SuccessCriteria {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for SuccessCriteria {
    fn schema_name() -> Cow<'static, str> {
        "SuccessCriteria".into()
    }

    // Criteria have criteria in them, so the fields of each are described where a task has them.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"type": {"type": "string"}},
                "required": ["type"],
            },
        ]})
    }
}
