//! [`SuccessCriteria`] of a task, and [`JudgeCriterion`], a statement that a model judges.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::session::{JudgeQuestion, Judged};
use autonoe_core::spec::spec_schema;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::{CRITERION_PORT, Criterion, Verification, VerificationContext};
use crate::budget::{PaidSession, VerificationBudget};
use crate::executor::judge_prompt;

/// Condition that must hold after a task: a [`Criterion`], or a statement for a model to judge.
///
/// ```
/// use autonoe_harness::executor::FileCriterion;
/// use autonoe_harness::SuccessCriteria;
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
    /// Wraps a criterion.
    pub fn new(criterion: impl Criterion + 'static) -> Self {
        Self(Arc::new(criterion))
    }

    /// Returns the JSON form, in which a plain statement is a string.
    fn to_json(&self) -> serde_json::Result<Value> {
        let json = serde_json::to_value(&*self.0)?;
        Ok(match JudgeCriterion::plain_statement(&json) {
            Some(words) => Value::from(words),
            None => json,
        })
    }
}

/// Schema of success criteria: a string, or one of the registered criteria.
pub(crate) fn criteria_schema(generator: &mut SchemaGenerator) -> Schema {
    let spec = spec_schema(CRITERION_PORT, generator);
    json_schema!({"anyOf": [{"type": "string"}, spec, {"type": "null"}]})
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
    /// Two criteria are equal if they serialise alike.
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

    // Criteria contain criteria, so the fields of each are described once, in the schema of a task.
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

/// A statement that a model judges, in a session of its own: `{"type": "judge", "statement": ..}`, or just the statement as a string.
///
/// Without a judge, and if the model gives no verdict, the criterion is unverified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JudgeCriterion {
    /// The statement that must hold.
    pub statement: String,
    /// The model of the judge; the judge's default if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl JudgeCriterion {
    const TAG: &str = "judge";

    /// Requires a model to judge that `statement` holds.
    pub fn new(statement: impl Into<String>) -> Self {
        Self {
            statement: statement.into(),
            model: None,
        }
    }

    /// Returns the statement of a serialised criterion that has no other settings.
    fn plain_statement(json: &Value) -> Option<&str> {
        let fields = json.as_object().filter(|fields| fields.len() == 2)?;
        (fields.get("type")? == Self::TAG).then_some(())?;
        fields.get("statement")?.as_str()
    }
}

#[typetag::serde(name = "judge")]
#[async_trait]
impl Criterion for JudgeCriterion {
    fn describe(&self) -> String {
        self.statement.trim().to_owned()
    }

    fn problems(&self) -> Vec<String> {
        if self.statement.trim().is_empty() {
            vec!["a statement is empty".to_owned()]
        } else {
            Vec::new()
        }
    }

    fn needs_judge(&self) -> bool {
        true
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let Some(judge) = context.judge else {
            return Verification::unverified(format!(
                "no judge is configured for this statement: {}",
                self.statement.trim()
            ));
        };
        let paid = match context.budget.map(VerificationBudget::open).transpose() {
            Ok(paid) => paid,
            Err(kind) => {
                let reason = format!("the {kind} budget is spent; no judge can be started");
                return Verification::unverified(reason);
            }
        };
        let question = JudgeQuestion {
            name: &format!("task-{}-judge", context.task.id),
            prompt: &judge_prompt(context.task, &self.statement, &context.result.output),
            model: self.model.as_deref(),
            budget: paid.as_ref().map(PaidSession::budget).unwrap_or_default(),
        };
        let judged = judge.judge(&question).await;
        if let Some(paid) = paid {
            match &judged {
                Ok(Judged { session, .. }) => {
                    paid.settle(session.cost, session.tokens, session.duration);
                }
                Err(_) => paid.release(),
            }
        }
        match judged {
            Ok(Judged {
                verdict: Some(verdict),
                ..
            }) if verdict.passed => Verification::passed(verdict.reason),
            Ok(Judged {
                verdict: Some(verdict),
                ..
            }) => Verification::failed(verdict.reason),
            Ok(Judged { session, .. }) => {
                Verification::unverified(format!("the judge returned no verdict: it {session}"))
            }
            Err(error) => Verification::unverified(format!("the judge failed: {error}")),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), JudgeCriterion, "judge", {
    "statement": "The page is accessible."
});
