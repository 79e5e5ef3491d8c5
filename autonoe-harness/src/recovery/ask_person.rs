//! Recovery by asking a person.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Attendance, LoopContext, RecoveryChange, RecoveryStep, RecoveryStrategy};

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
