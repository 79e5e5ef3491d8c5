//! Built-in recovery strategies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Attendance, BackendModel, ExplorationBranch, LoopContext, RecoveryChange, RecoveryStep,
    RecoveryStrategy, WorkFolderKind,
};
use crate::pluralize::pluralize;
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
            Self::Negative => "reported the failures to the agent and asked for another approach",
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

/// Asks a person: `{"type": "person"}`.
///
/// The task waits for an instruction, without a limit; the wait does not count as time of the task.
/// It applies only to work with [`Attendance::Attended`]; other work fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct AskPerson {
    /// The maximum number of questions; 3 by default.
    pub uses: u32,
}

impl Default for AskPerson {
    fn default() -> Self {
        Self { uses: 3 }
    }
}

#[typetag::serde(name = "person")]
impl RecoveryStrategy for AskPerson {
    fn max_uses(&self) -> u32 {
        self.uses
    }

    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        match context.attendance {
            Attendance::Attended => context.check_affordable(1),
            Attendance::Unattended => Err("nobody is available to answer".to_owned()),
        }
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let reasons = context.report.reasons.iter().map(ToString::to_string);
        let reasons = reasons.collect::<Vec<_>>().join(", ");
        let mut question = format!("The task {} is stuck: {reasons}.", context.task.id);
        if let Some(problem) = &context.problem {
            question.push_str(&format!(" The last problem: {problem}."));
        }
        question.push_str(" What should the agent do?");
        let label = format!("person {}", context.used.len() + 1);
        RecoveryStep::new(label, "asked a person", RecoveryChange::Ask { question })
    }
}

autonoe_core::register_spec!(Other("recovery"), AskPerson, "person", {});

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

/// Additional prompts of the branches, in turn.
const WAYS: [&str; 4] = [
    "Do the simplest thing that could work, even if it is not pretty.",
    "Begin with what must hold in the end, write that down as a check, and work backwards from it.",
    "Do it in a wholly different way than it was tried so far.",
    "Look for the cause before you change anything: reproduce what is wrong, and explain it.",
];

/// Explores several approaches, each in a worktree of its own: `{"type": "explore"}`.
///
/// The first approach that passes its checks is merged; the work of the others is kept on their
/// branches. The remaining budget may pay for fewer iterations than configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Exploration {
    /// The number of approaches; 3 by default.
    pub branches: u32,
    /// The maximum number of iterations of each; 10 by default.
    pub iterations: u32,
}

impl Default for Exploration {
    fn default() -> Self {
        Self {
            branches: 3,
            iterations: 10,
        }
    }
}

impl Exploration {
    /// Returns the number of iterations that each branch can have.
    fn each(&self, context: &LoopContext) -> u32 {
        match (context.affordable(), self.branches) {
            (_, 0) => 0,
            (None, _) => self.iterations,
            (Some(affordable), branches) => self.iterations.min(affordable / branches),
        }
    }
}

#[typetag::serde(name = "explore")]
impl RecoveryStrategy for Exploration {
    fn can_apply(&self, context: &LoopContext) -> Result<(), String> {
        if context.work_folder_kind == WorkFolderKind::Folder {
            return Err("the agent has no worktree to branch from".to_owned());
        }
        if self.each(context) == 0 {
            return Err(format!(
                "the remaining budget does not pay for {} branches",
                self.branches
            ));
        }
        Ok(())
    }

    fn apply(&self, context: &LoopContext) -> RecoveryStep {
        let (iterations, goal) = (self.each(context), &context.task.goal);
        let branches: Vec<_> = (1..=self.branches)
            .zip(WAYS.iter().cycle())
            .map(|(number, way)| ExplorationBranch {
                name: format!("way-{number}"),
                goal: format!("{goal}\n\n{way}"),
            })
            .collect();
        let description = format!(
            "tries {} of at most {}, each in its own worktree",
            pluralize(branches.len(), "way"),
            pluralize(iterations as usize, "iteration")
        );
        let change = RecoveryChange::Explore {
            branches,
            iterations,
        };
        RecoveryStep::new("explore", description, change)
    }
}

autonoe_core::register_spec!(Other("recovery"), Exploration, "explore", {
    "branches": 3, "iterations": 10
});
