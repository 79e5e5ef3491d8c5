//! Recovery by rephrasing the prompt.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};
use crate::stuck::StuckReason;

/// Gives the agent its goal in another form: `{"type": "prompt"}`.
///
/// The first form depends on the reason: it forbids a repeated mistake, or demands small steps if
/// there was no progress. Each form is used once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct PromptMutation {
    /// The maximum number of uses; 3 by default.
    pub uses: u32,
    /// The forms that may be used.
    pub kinds: Vec<MutationKind>,
}

/// Form of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MutationKind {
    /// The agent first states what it has understood.
    Rephrase,
    /// The agent takes small steps.
    Decompose,
    /// The agent changes as little as possible.
    Constrain,
    /// The agent looks for a similar solution that works.
    Examples,
    /// The prompt forbids the approach that failed.
    Negative,
}

impl MutationKind {
    /// All forms.
    pub const ALL: [Self; 5] = [
        Self::Rephrase,
        Self::Decompose,
        Self::Constrain,
        Self::Examples,
        Self::Negative,
    ];

    fn label(self) -> &'static str {
        match self {
            Self::Rephrase => "rephrase",
            Self::Decompose => "decompose",
            Self::Constrain => "constrain",
            Self::Examples => "examples",
            Self::Negative => "negative",
        }
    }

    /// Returns the form that helps best against a reason.
    fn against(reason: &StuckReason) -> Option<Self> {
        match reason {
            StuckReason::NoProgress(_) => Some(Self::Decompose),
            StuckReason::RepeatedAction(_)
            | StuckReason::RepeatedError(_)
            | StuckReason::AlternatingPair(_) => Some(Self::Negative),
            StuckReason::IdenticalOutput(_) => Some(Self::Rephrase),
            StuckReason::SuspiciousSpeed(_) => Some(Self::Examples),
            StuckReason::Denied(_) => Some(Self::Constrain),
            StuckReason::NotRecovered => None,
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Rephrase => "asked the agent to state its understanding first",
            Self::Decompose => "asked the agent to take small steps",
            Self::Constrain => "asked the agent for minimal changes with allowed tools",
            Self::Examples => "asked the agent to follow an existing example",
            Self::Negative => "told the agent what failed, and to try something else",
        }
    }

    /// Returns the goal in this form.
    fn goal(self, context: &LoopContext) -> String {
        let goal = &context.task.goal;
        let tried = match &context.problem {
            Some(problem) => format!(" The result was: {problem}."),
            None => String::new(),
        };
        match self {
            Self::Rephrase => format!(
                "Say in one sentence of your own what must be true in the end. Then see to it that it \
                 is.\n\n{goal}"
            ),
            Self::Decompose => format!(
                "{goal}\n\nWrite down at most five small steps. Do the first one that is not done, \
                 check that it is done, and only then go on with the next."
            ),
            Self::Constrain => format!(
                "{goal}\n\nChange as little as possible. Use only tools that you are allowed to use: a \
                 call that was denied will be denied again, so find another way.{tried}"
            ),
            Self::Examples => format!(
                "{goal}\n\nBefore you change anything, look in this project for the nearest thing that \
                 works already, and do it like that.{tried}"
            ),
            Self::Negative => format!(
                "{goal}\n\nWhat you did so far did not work.{tried} Do not do that again: find out why, \
                 and do something else."
            ),
        }
    }
}

impl Default for PromptMutation {
    fn default() -> Self {
        Self {
            uses: 3,
            kinds: MutationKind::ALL.into(),
        }
    }
}

impl PromptMutation {
    fn next(&self, context: &LoopContext) -> Option<MutationKind> {
        let helps = context.report.reasons.iter();
        let helps = helps.filter_map(MutationKind::against);
        let mut kinds = helps
            .filter(|kind| self.kinds.contains(kind))
            .chain(self.kinds.iter().copied());
        kinds.find(|kind| !context.used.iter().any(|used| used == kind.label()))
    }
}

#[typetag::serde(name = "prompt")]
impl RecoveryStrategy for PromptMutation {
    fn max_uses(&self) -> u32 {
        self.uses
    }

    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        if context.backend_failed {
            return Err("the backend itself failed, so another prompt does not help".to_owned());
        }
        if self.next(context).is_none() {
            return Err("all prompt variants were used".to_owned());
        }
        context.check_affordable(1)
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let kind = self.next(context).unwrap_or(MutationKind::Rephrase);
        let goal = kind.goal(context);
        RecoveryStep::new(
            kind.label(),
            kind.description(),
            RecoveryChange::Prompt { goal },
        )
    }
}

autonoe_core::register_spec!(Other("recovery"), PromptMutation, "prompt", {"uses": 3});
