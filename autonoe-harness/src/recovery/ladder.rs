//! What is tried first, and what then.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AskPerson, Escalation, Exploration, LoopContext, PromptMutation, RecoveryStep, RecoveryStrategy,
};

/// Strategies of recovery in the order in which they are tried, as a list in JSON.
///
/// A rung that is used up or cannot be applied is left for good, so it comes to an end.
///
/// ```
/// use autonoe_harness::Ladder;
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

/// How far up a ladder a task is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Climb {
    /// The rung, from 0.
    pub(super) rung: usize,
    /// The labels of the steps that it made.
    used: Vec<String>,
}

/// What is to be tried next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// The strategy that says what is to change, and what it says; `None` if all is tried.
    pub step: Option<(String, RecoveryStep)>,
    /// The strategies that could not be applied.
    pub passed_over: Vec<PassedOver>,
}

/// A strategy that could not be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedOver {
    /// The `type` of the strategy.
    pub strategy: String,
    /// Why.
    pub why: String,
}

impl Ladder {
    /// Makes a ladder without a rung: whoever is stuck has failed.
    pub fn none() -> Self {
        Self { rungs: Vec::new() }
    }

    /// Adds a rung.
    #[must_use]
    pub fn then(mut self, strategy: impl RecoveryStrategy + 'static) -> Self {
        self.rungs.push(Arc::new(strategy));
        self
    }

    /// Adds a rung before all others.
    #[must_use]
    pub fn first(mut self, strategy: impl RecoveryStrategy + 'static) -> Self {
        self.rungs.insert(0, Arc::new(strategy));
        self
    }

    /// Returns the `type` of each rung, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.rungs.iter().map(|rung| rung.typetag_name())
    }

    /// Returns what is to be tried next, and takes note of it in `climb`.
    pub fn climb(&self, climb: &mut Climb, context: &LoopContext) -> Recovery {
        let mut passed_over = Vec::new();
        while let Some(rung) = self.rungs.get(climb.rung) {
            let context = LoopContext {
                used: climb.used.clone(),
                ..context.clone()
            };
            match step(&**rung, &context) {
                Some(Ok(step)) => {
                    climb.used.push(step.label.clone());
                    return Recovery {
                        step: Some((rung.typetag_name().to_owned(), step)),
                        passed_over,
                    };
                }
                // It did what it could.
                None => {}
                Some(Err(why)) => passed_over.push(PassedOver {
                    strategy: rung.typetag_name().to_owned(),
                    why,
                }),
            }
            climb.rung += 1;
            climb.used.clear();
        }
        Recovery {
            step: None,
            passed_over,
        }
    }
}

/// Asks a rung; `None` if it is used up.
fn step(
    rung: &dyn RecoveryStrategy,
    context: &LoopContext,
) -> Option<Result<RecoveryStep, String>> {
    if context.used.len() >= usize::try_from(rung.most_uses()).unwrap_or(usize::MAX) {
        return None;
    }
    // Whatever it says: nothing begins that cannot be paid.
    if let Err(why) = context.can_pay(1).and_then(|()| rung.can_apply(context)) {
        return Some(Err(why));
    }
    let step = rung.apply(context);
    if context.used.contains(&step.label) {
        return Some(Err(format!("it says {:?} again", step.label)));
    }
    Some(context.can_pay(step.iterations()).map(|()| step))
}

impl Default for Ladder {
    /// Three other prompts, more able backends if any are named, three branches, a person.
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
    /// Two are equal that are written alike.
    fn eq(&self, other: &Self) -> bool {
        let json = |ladder: &Self| serde_json::to_value(ladder).ok();
        matches!((json(self), json(other)), (Some(one), Some(other)) if one == other)
    }
}
