//! Ordered list of recovery strategies.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AskPerson, Escalation, Exploration, LoopContext, PromptMutation, RecoveryStep, RecoveryStrategy,
};

/// Recovery strategies in the order in which they are tried, as a list in JSON.
///
/// A rung that is used up or cannot be applied is never tried again, so recovery always ends.
///
/// ```
/// use autonoe_harness::recovery::Ladder;
///
/// let usual = Ladder::default();
/// assert_eq!(usual.names().collect::<Vec<_>>(), ["prompt", "escalate", "explore", "person"]);
///
/// let own: Ladder = serde_json::from_str(
///     r#"[{"type": "prompt", "uses": 1}, {"type": "escalate", "to": [{"cli": "codex"}]}]"#,
/// )?;
/// assert_eq!(own.names().count(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ladder {
    rungs: Vec<Arc<dyn RecoveryStrategy>>,
}

/// Position of a task on a ladder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryAttempt {
    /// The index of the rung, starting at 0.
    pub(super) rung: usize,
    /// The labels of the steps that the rung has taken.
    used: Vec<String>,
}

/// Next recovery step of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The strategy and its step; `None` if everything was tried.
    pub step: Option<(String, RecoveryStep)>,
    /// The strategies that could not be applied.
    pub skipped: Vec<SkippedStrategy>,
}

/// A strategy that could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedStrategy {
    /// The `type` of the strategy.
    pub strategy: String,
    /// The reason.
    pub reason: String,
}

impl Ladder {
    /// Creates a ladder without rungs: a stuck task fails.
    pub fn none() -> Self {
        Self { rungs: Vec::new() }
    }

    /// Adds a rung at the end.
    #[must_use]
    pub fn then(mut self, strategy: impl RecoveryStrategy + 'static) -> Self {
        self.rungs.push(Arc::new(strategy));
        self
    }

    /// Adds a rung at the start.
    #[must_use]
    pub fn first(mut self, strategy: impl RecoveryStrategy + 'static) -> Self {
        self.rungs.insert(0, Arc::new(strategy));
        self
    }

    /// Returns the `type` of each rung, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rungs.iter().map(|rung| rung.typetag_name())
    }

    /// Returns the next recovery step, and records it in `recovery_attempt`.
    pub fn next_step(
        &self,
        recovery_attempt: &mut RecoveryAttempt,
        context: &LoopContext,
    ) -> Recovery {
        let mut passed_over = Vec::new();
        while let Some(rung) = self.rungs.get(recovery_attempt.rung) {
            let context = LoopContext {
                used: recovery_attempt.used.clone(),
                ..context.clone()
            };
            match step(&**rung, &context) {
                Some(Ok(step)) => {
                    recovery_attempt.used.push(step.label.clone());
                    return Recovery {
                        step: Some((rung.typetag_name().to_owned(), step)),
                        skipped: passed_over,
                    };
                }
                // The rung is used up.
                None => {}
                Some(Err(reason)) => passed_over.push(SkippedStrategy {
                    strategy: rung.typetag_name().to_owned(),
                    reason,
                }),
            }
            recovery_attempt.rung += 1;
            recovery_attempt.used.clear();
        }
        Recovery {
            step: None,
            skipped: passed_over,
        }
    }
}

/// Returns the step of a rung; `None` if it is used up.
fn step(
    rung: &dyn RecoveryStrategy,
    context: &LoopContext,
) -> Option<Result<RecoveryStep, String>> {
    if context.used.len() >= usize::try_from(rung.max_uses()).unwrap_or(usize::MAX) {
        return None;
    }
    // Checked here as well: nothing starts that cannot be paid.
    if let Err(reason) = context
        .check_affordable(1)
        .and_then(|()| rung.can_apply(context))
    {
        return Some(Err(reason));
    }
    let step = rung.apply(context);
    if context.used.contains(&step.label) {
        return Some(Err(format!("it repeats the step {:?}", step.label)));
    }
    Some(context.check_affordable(step.iterations()).map(|()| step))
}

impl Default for Ladder {
    /// Three other prompts, more capable backends if any are listed, three branches, a person.
    fn default() -> Self {
        Self::none()
            .then(PromptMutation::default())
            .then(Escalation::default())
            .then(Exploration::default())
            .then(AskPerson::default())
    }
}

impl Serialize for Ladder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rungs.iter().map(|rung| &**rung))
    }
}

impl<'de> Deserialize<'de> for Ladder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rungs = Vec::<Box<dyn RecoveryStrategy>>::deserialize(deserializer)?;
        Ok(Self {
            rungs: rungs.into_iter().map(Arc::from).collect(),
        })
    }
}

impl PartialEq for Ladder {
    /// Two ladders are equal if they serialise alike.
    fn eq(&self, other: &Self) -> bool {
        let json = |ladder: &Self| serde_json::to_value(ladder).ok();
        matches!((json(self), json(other)), (Some(one), Some(other)) if one == other)
    }
}
