//! Criterion: a model judges a statement.

use async_trait::async_trait;
use autonoe_core::tool::JudgeVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Criterion, Verification, VerificationContext};
use crate::executor::JudgeQuestion;

/// A statement that a model judges, in a session of its own: `{"type": "judge", "statement": ..}`, or just the statement as a string.
///
/// Without a judge, and if the model gives no verdict, the criterion is unverified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
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

    /// Sets the model of the judge.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns the statement of a serialised criterion that has no other settings.
    pub(super) fn plain_statement(json: &Value) -> Option<&str> {
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
        let question = JudgeQuestion {
            task: context.task,
            folder: context.folder,
            statement: &self.statement,
            output: &context.result.output,
            model: self.model.as_deref(),
            budget: context.budget,
        };
        match judge.judge(&question).await {
            Ok(Some(JudgeVerdict {
                passed: true,
                reason,
            })) => Verification::passed(reason),
            Ok(Some(JudgeVerdict {
                passed: false,
                reason,
            })) => Verification::failed(reason),
            Ok(None) => Verification::unverified("the judge returned no verdict"),
            Err(error) => Verification::unverified(format!("the judge failed: {error}")),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), JudgeCriterion, "judge", {
    "statement": "The page is accessible."
});
