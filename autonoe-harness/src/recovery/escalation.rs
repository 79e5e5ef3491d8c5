//! Another backend or model.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};
use crate::Allowance;

/// Lets a more able backend or model go on: `{"type": "escalate", "to": [..]}`.
///
/// They are named in the order of what they are able to do. If the one at work is among them, only
/// those after it count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Escalation {
    /// Backends and models, the least able first.
    pub to: Vec<BackendModel>,
}

/// A backend and a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackendModel {
    /// The executor, by name.
    pub cli: String,
    /// The model; that of the executor by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What must be left for it; nothing by default.
    #[serde(default, skip_serializing_if = "asks_for_nothing")]
    pub needs: Allowance,
}

fn asks_for_nothing(needs: &Allowance) -> bool {
    *needs == Allowance::default()
}

impl BackendModel {
    /// Names a backend, with its own model.
    pub fn new(cli: impl Into<String>) -> Self {
        Self {
            cli: cli.into(),
            model: None,
            needs: Allowance::default(),
        }
    }

    /// Names the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Says what must be left for it.
    #[must_use]
    pub fn needing(mut self, needs: Allowance) -> Self {
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
    /// Names backends and models, the least able first.
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
    fn most_uses(&self) -> u32 {
        // One that names nobody is asked as well, and says so.
        u32::try_from(self.to.len()).unwrap_or(u32::MAX).max(1)
    }

    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        context.can_pay(1)?;
        match self.next(context) {
            Some(_) => Ok(()),
            None => Err("no more able backend is named that could be paid".to_owned()),
        }
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let at_work = BackendModel {
            model: context.model.clone(),
            ..BackendModel::new(&context.backend)
        };
        let to = self.next(context).cloned().unwrap_or(at_work);
        let said = format!("let {to} go on");
        RecoveryStep::new(to.to_string(), said, RecoveryChange::Escalate { to })
    }
}

autonoe_core::register_spec!(Other("recovery"), Escalation, "escalate", {
    "to": [{"cli": "codex", "model": "gpt-5.5"}]
});
