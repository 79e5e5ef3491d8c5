//! Other words for the same goal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};
use crate::StuckReason;

/// Tells the agent its goal in other words: `{"type": "prompt"}`.
///
/// Which words come first is a matter of what is wrong: who repeats a mistake is told not to, who
/// comes to nothing is told to take small steps. None comes twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct PromptMutation {
    /// How often; 3 times by default.
    pub uses: u32,
    /// The kinds that may be used.
    pub kinds: Vec<MutationKind>,
}

/// A way to say a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MutationKind {
    /// The agent says first what it understands.
    Rephrase,
    /// The agent takes small steps.
    Decompose,
    /// The agent may do less.
    Constrain,
    /// The agent looks for something like it that works.
    Examples,
    /// The agent is told what not to do again.
    Negative,
}

impl MutationKind {
    /// All of them.
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

    /// Returns the kind that helps most with what is wrong.
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

    fn said(self) -> &'static str {
        match self {
            Self::Rephrase => "asked it to say first what it understands",
            Self::Decompose => "asked it to take small steps",
            Self::Constrain => "asked it to do no more than is needed, with what is allowed",
            Self::Examples => "asked it to follow something that works already",
            Self::Negative => "told it what did not work, and to do something else",
        }
    }

    /// Says the goal in this way.
    fn goal(self, context: &LoopContext) -> String {
        let goal = &context.task.goal;
        let tried = match &context.problem {
            Some(problem) => format!(" What came of it: {problem}."),
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
    fn most_uses(&self) -> u32 {
        self.uses
    }

    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        if context.backend_failed {
            return Err("the backend itself failed, and other words do not help".to_owned());
        }
        if self.next(context).is_none() {
            return Err("there are no other words left".to_owned());
        }
        context.can_pay(1)
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let kind = self.next(context).unwrap_or(MutationKind::Rephrase);
        let goal = kind.goal(context);
        RecoveryStep::new(kind.label(), kind.said(), RecoveryChange::Prompt { goal })
    }
}

autonoe_core::register_spec!(Other("recovery"), PromptMutation, "prompt", {"uses": 3});
