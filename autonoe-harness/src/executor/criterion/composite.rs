//! Criteria composed of other criteria: all of them, or any of them.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Criterion, SuccessCriteria, Verification, VerificationContext};

/// Criteria that must all hold: `{"type": "all", "criteria": [..]}`.
///
/// All of them are verified, one after the other, so that every violation is reported.
///
/// ```
/// use autonoe_harness::executor::{AllOf, CommandCriterion, FileCriterion};
///
/// let both = AllOf::new([
///     FileCriterion::new("README.md").into(),
///     CommandCriterion::new(["cargo", "check"]).into(),
/// ]);
/// # drop(both);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllOf {
    /// The criteria, at least one.
    pub criteria: Vec<SuccessCriteria>,
}

/// Criteria of which one must hold: `{"type": "any", "criteria": [..]}`.
///
/// They are verified one after the other. After the first success the others are verified as well, to count how many hold, except those that a model judges: a judge is only consulted while no criterion holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnyOf {
    /// The criteria, at least one.
    pub criteria: Vec<SuccessCriteria>,
}

impl AllOf {
    /// Combines criteria.
    pub fn new(criteria: impl IntoIterator<Item = SuccessCriteria>) -> Self {
        Self {
            criteria: criteria.into_iter().collect(),
        }
    }
}

impl AnyOf {
    /// Combines criteria.
    pub fn new(criteria: impl IntoIterator<Item = SuccessCriteria>) -> Self {
        Self {
            criteria: criteria.into_iter().collect(),
        }
    }
}

fn describe(title: &str, criteria: &[SuccessCriteria]) -> String {
    let lines = criteria.iter().map(|criterion| {
        // Nested parts are indented further.
        let text = criterion.describe().replace('\n', "\n  ");
        format!("\n- {text}")
    });
    format!("{title}:{}", lines.collect::<String>())
}

fn problems(tag: &str, criteria: &[SuccessCriteria]) -> Vec<String> {
    match criteria {
        [] => vec![format!("`{tag}` is empty")],
        parts => parts.iter().flat_map(|part| part.problems()).collect(),
    }
}

#[typetag::serde(name = "all")]
#[async_trait]
impl Criterion for AllOf {
    fn describe(&self) -> String {
        describe("All of these hold", &self.criteria)
    }

    fn problems(&self) -> Vec<String> {
        problems("all", &self.criteria)
    }

    fn needs_judge(&self) -> bool {
        self.criteria.iter().any(|part| part.needs_judge())
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let mut found = Vec::new();
        for criterion in &self.criteria {
            found.push(criterion.verify(context).await);
        }
        Verification::all(found)
    }
}

#[typetag::serde(name = "any")]
#[async_trait]
impl Criterion for AnyOf {
    fn describe(&self) -> String {
        describe("At least one of these holds", &self.criteria)
    }

    fn problems(&self) -> Vec<String> {
        problems("any", &self.criteria)
    }

    fn needs_judge(&self) -> bool {
        self.criteria.iter().any(|part| part.needs_judge())
    }

    async fn verify(&self, context: &VerificationContext<'_>) -> Verification {
        let mut found = Vec::new();
        for criterion in &self.criteria {
            let is_decided = found.iter().any(Verification::is_success);
            if is_decided && criterion.needs_judge() {
                continue;
            }
            found.push(criterion.verify(context).await);
        }
        Verification::any(found)
    }
}

autonoe_core::register_spec!(Other("criterion"), AllOf, "all", {
    "criteria": ["The page is accessible.", {"type": "file", "path": "index.html"}]
});

autonoe_core::register_spec!(Other("criterion"), AnyOf, "any", {
    "criteria": [{"type": "file", "path": "index.html"}, {"type": "file", "path": "index.htm"}]
});
