//! Recovery by switching to another backend or model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};
use crate::budget::Allowance;

/// Continues with a more capable backend or model: `{"type": "escalate", "to": [..]}`.
///
/// They are listed in order of capability. If the current one is in the list, only those after it
/// count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Escalation {
    /// The backends and models, the least capable first.
    pub to: Vec<BackendModel>,
}

/// A backend and a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackendModel {
    /// The name of the executor.
    pub cli: String,
    /// The model; that of the executor if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The allowance that must be left for it; nothing by default.
    #[serde(default, skip_serializing_if = "needs_nothing")]
    pub needs: Allowance,
}

fn needs_nothing(needs: &Allowance) -> bool {
    *needs == Allowance::default()
}

impl BackendModel {
    /// Creates an entry for a backend with its default model.
    pub fn new(cli: impl Into<String>) -> Self {
        Self {
            cli: cli.into(),
            model: None,
            needs: Allowance::default(),
        }
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the allowance that must be left for it.
    #[must_use]
    pub fn needs(mut self, needs: Allowance) -> Self {
        self.needs = needs;
        self
    }

    fn can_be_paid(&self, context: &LoopContext) -> bool {
        let limits = self.needs.amounts().into_iter().zip(context.free.amounts());
        let mut missing = limits.filter(|(needs, free)| match (needs, free) {
            (Some(needs), Some(free)) => needs > free,
            _ => false,
        });
        missing.next().is_none()
    }
}

impl fmt::Display for BackendModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{}/{model}", self.cli),
            None => f.write_str(&self.cli),
        }
    }
}

impl Escalation {
    /// Lists backends and models, the least capable first.
    pub fn new(to: impl IntoIterator<Item = BackendModel>) -> Self {
        Self {
            to: to.into_iter().collect(),
        }
    }

    fn next(&self, context: &LoopContext) -> Option<&BackendModel> {
        let is_at_work = |it: &BackendModel| it.cli == context.backend && it.model == context.model;
        let after = self.to.iter().rposition(is_at_work);
        let after = after.map_or(0, |place| place + 1);
        self.to.iter().skip(after).find(|it| {
            let label = it.to_string();
            !context.used.contains(&label) && it.can_be_paid(context)
        })
    }
}

#[typetag::serde(name = "escalate")]
impl RecoveryStrategy for Escalation {
    fn max_uses(&self) -> u32 {
        // An empty list is consulted as well, and reports that it is empty.
        u32::try_from(self.to.len()).unwrap_or(u32::MAX).max(1)
    }

    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        context.check_affordable(1)?;
        match self.next(context) {
            Some(_) => Ok(()),
            None => {
                Err("there is no further backend that the remaining budget pays for".to_owned())
            }
        }
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let at_work = BackendModel {
            model: context.model.clone(),
            ..BackendModel::new(&context.backend)
        };
        let to = self.next(context).cloned().unwrap_or(at_work);
        let description = format!("continued with {to}");
        RecoveryStep::new(to.to_string(), description, RecoveryChange::Escalate { to })
    }
}

autonoe_core::register_spec!(Other("recovery"), Escalation, "escalate", {
    "to": [{"cli": "codex", "model": "gpt-5.5"}]
});
