//! A statement that a model judges.

use async_trait::async_trait;
use autonoe_core::JudgeVerdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Criterion, Verification, Verifying};
use crate::executor::JudgeQuestion;

/// A statement that a model judges, in a session of its own: `{"type": "judge", "statement": ..}`,
/// or the statement alone as a text.
///
/// Where there is nobody to judge, and where the model gives no verdict, it is not verified.
///
/// ```
/// use autonoe_harness::{JudgeCriterion, Task};
///
/// let by_another = JudgeCriterion::new("The page is accessible.").by_model("claude-opus-5");
/// let task = Task::new("T-001", "Add a login page.")?.success(by_another);
/// # drop(task);
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct JudgeCriterion {
    /// What must hold.
    pub statement: String,
    /// The model that judges; that of the judge by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl JudgeCriterion {
    const TAG: &str = "judge";

    /// Has a model judge whether `statement` holds.
    pub fn new(statement: impl Into<String>) -> Self {
        Self {
            statement: statement.into(),
            model: None,
        }
    }

    /// Sets the model that judges.
    #[must_use]
    pub fn by_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Returns the words of a criterion that says nothing else.
    pub(super) fn words_in(json: &Value) -> Option<&str> {
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
        match self.statement.trim().is_empty() {
            true => vec!["a statement is empty".to_owned()],
            false => Vec::new(),
        }
    }

    fn needs_judge(&self) -> bool {
        true
    }

    async fn verify(&self, look: &Verifying<'_>) -> Verification {
        let Some(judge) = look.judge else {
            return Verification::unverified(format!(
                "there is nobody to judge whether this holds: {}",
                self.statement.trim()
            ));
        };
        let question = JudgeQuestion {
            task: look.task,
            folder: look.folder,
            statement: &self.statement,
            account: &look.result.output,
            model: self.model.as_deref(),
            tab: look.tab,
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
            Ok(None) => Verification::unverified("the model that judges gave no verdict"),
            Err(error) => Verification::unverified(format!(
                "the model that judges could not be asked: {error}"
            )),
        }
    }
}

autonoe_core::register_spec!(Other("criterion"), JudgeCriterion, "judge", {
    "statement": "The page is accessible."
});
