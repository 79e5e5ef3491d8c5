//! Conversation that the next turn of a task continues.

use autonoe_core::time::AgentSessionId;

use crate::executor::ExecutionOutcome;
use crate::recovery::RecoveryChange;

/// A conversation about a task. Only the same backend and model can continue it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conversation {
    cli: String,
    model: Option<String>,
    id: AgentSessionId,
}

impl Conversation {
    /// Returns the conversation of a turn on a backend and a model; `None` if the backend reported
    /// no ID.
    pub(super) fn of_turn(
        cli: &str,
        model: Option<&str>,
        id: Option<&AgentSessionId>,
    ) -> Option<Self> {
        id.map(|id| Self {
            cli: cli.to_owned(),
            model: model.map(str::to_owned),
            id: id.clone(),
        })
    }

    /// Returns the conversation to continue after a turn that ended with `end` and had the
    /// conversation `of_turn`.
    pub(super) fn after_turn(
        before: Option<Self>,
        end: &ExecutionOutcome,
        of_turn: Option<Self>,
    ) -> Option<Self> {
        match end {
            ExecutionOutcome::Completed
            | ExecutionOutcome::QuotaExceeded { .. }
            | ExecutionOutcome::MaxTurns
            | ExecutionOutcome::TimedOut { .. } => of_turn,
            // The conversation itself may be the cause of the failure.
            ExecutionOutcome::Failed { .. } => None,
            // The turn was stopped from outside, and may not be in the conversation.
            ExecutionOutcome::Cancelled | ExecutionOutcome::BudgetSpent { .. } => before,
        }
    }

    /// Returns the conversation to continue after a recovery change. If the goal changes, the
    /// conversation is abandoned: the agent would see the old goal, and its work on it.
    pub(super) fn after_change(before: Option<Self>, change: &RecoveryChange) -> Option<Self> {
        match change {
            RecoveryChange::Prompt { .. } | RecoveryChange::Escalate { .. } => None,
            RecoveryChange::Explore { .. } | RecoveryChange::Ask { .. } => before,
        }
    }

    /// Returns the ID for a turn on a backend and a model; `None` if they cannot continue it.
    pub(super) fn id_for(&self, cli: &str, model: Option<&str>) -> Option<&AgentSessionId> {
        (self.cli == cli && self.model.as_deref() == model).then_some(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::agent::BudgetKind;
    use autonoe_core::event::Failure;

    use super::*;
    use crate::recovery::BackendModel;

    fn conversation(id: &str) -> Conversation {
        Conversation {
            cli: "codex".to_owned(),
            model: Some("big".to_owned()),
            id: AgentSessionId::new(id),
        }
    }

    #[test]
    fn a_failure_ends_the_conversation_and_a_stop_keeps_the_one_before() {
        let error = Failure::retryable("network", "no answer");
        let spent = Some(BudgetKind::Cost);
        for (end, expected) in [
            (ExecutionOutcome::Completed, Some("new")),
            (ExecutionOutcome::MaxTurns, Some("new")),
            (ExecutionOutcome::TimedOut { after_seconds: 1 }, Some("new")),
            (
                ExecutionOutcome::QuotaExceeded {
                    message: String::new(),
                    resets_at: None,
                },
                Some("new"),
            ),
            (ExecutionOutcome::Failed { error }, None),
            (ExecutionOutcome::Cancelled, Some("old")),
            (ExecutionOutcome::BudgetSpent { budget: spent }, Some("old")),
        ] {
            let (before, of_turn) = (Some(conversation("old")), Some(conversation("new")));

            let after = Conversation::after_turn(before.clone(), &end, of_turn);

            assert_eq!(after, expected.map(conversation), "{end:?}");
            let unnamed = Conversation::after_turn(before, &end, None);
            let retained = expected.filter(|id| *id == "old").map(conversation);
            assert_eq!(unnamed, retained, "{end:?}");
        }
    }

    #[test]
    fn only_a_question_and_an_exploration_keep_the_conversation() {
        let goal = "Another.".to_owned();
        let question = "Which?".to_owned();
        let to = BackendModel::new("claude");
        let (branches, iterations) = (Vec::new(), 1);
        for (change, is_retained) in [
            (RecoveryChange::Prompt { goal }, false),
            (RecoveryChange::Escalate { to }, false),
            (RecoveryChange::Ask { question }, true),
            (
                RecoveryChange::Explore {
                    branches,
                    iterations,
                },
                true,
            ),
        ] {
            let after = Conversation::after_change(Some(conversation("old")), &change);

            assert_eq!(after.is_some(), is_retained, "{change:?}");
        }
    }

    #[test]
    fn another_backend_or_model_cannot_continue_a_conversation() {
        for (cli, model, can) in [
            ("codex", Some("big"), true),
            ("codex", Some("small"), false),
            ("codex", None, false),
            ("claude", Some("big"), false),
        ] {
            let found = conversation("one").id_for(cli, model).cloned();

            let expected = can.then(|| AgentSessionId::new("one"));
            assert_eq!(found, expected, "{cli} {model:?}");
        }
    }
}
