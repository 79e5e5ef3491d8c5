//! The conversation that the next turn at a task continues.

use autonoe_core::AgentSessionId;

use crate::{ExecutionEnd, RecoveryChange};

/// A conversation about a task, which only the backend and the model that had it can continue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conversation {
    cli: String,
    model: Option<String>,
    id: AgentSessionId,
}

impl Conversation {
    /// Returns the conversation of a turn on a backend and a model; `None` if the backend told no id.
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

    /// Returns the conversation after a turn that ended as `end` and whose conversation is `of_turn`.
    pub(super) fn after_turn(
        before: Option<Self>,
        end: &ExecutionEnd,
        of_turn: Option<Self>,
    ) -> Option<Self> {
        match end {
            ExecutionEnd::Completed
            | ExecutionEnd::QuotaExceeded { .. }
            | ExecutionEnd::MaxTurns
            | ExecutionEnd::TimedOut { .. } => of_turn,
            // The conversation itself may be what fails.
            ExecutionEnd::Failed { .. } => None,
            // The turn was stopped from outside, and may not be in the conversation.
            ExecutionEnd::Cancelled | ExecutionEnd::BudgetSpent { .. } => before,
        }
    }

    /// Returns the conversation after a change that helps a stuck agent. One whose goal changes is
    /// left: the agent would see the old goal, and what it did about it.
    pub(super) fn after_change(before: Option<Self>, change: &RecoveryChange) -> Option<Self> {
        match change {
            RecoveryChange::Prompt { .. } | RecoveryChange::Escalate { .. } => None,
            RecoveryChange::Explore { .. } | RecoveryChange::Ask { .. } => before,
        }
    }

    /// Returns the id for a turn on a backend and a model; `None` if they cannot continue it.
    pub(super) fn id_for(&self, cli: &str, model: Option<&str>) -> Option<&AgentSessionId> {
        (self.cli == cli && self.model.as_deref() == model).then_some(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{BudgetKind, Failure};

    use super::*;
    use crate::BackendModel;

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
            (ExecutionEnd::Completed, Some("new")),
            (ExecutionEnd::MaxTurns, Some("new")),
            (ExecutionEnd::TimedOut { after_seconds: 1 }, Some("new")),
            (
                ExecutionEnd::QuotaExceeded {
                    message: String::new(),
                    resets_at: None,
                },
                Some("new"),
            ),
            (ExecutionEnd::Failed { error }, None),
            (ExecutionEnd::Cancelled, Some("old")),
            (ExecutionEnd::BudgetSpent { budget: spent }, Some("old")),
        ] {
            let (before, of_turn) = (Some(conversation("old")), Some(conversation("new")));

            let after = Conversation::after_turn(before.clone(), &end, of_turn);

            assert_eq!(after, expected.map(conversation), "{end:?}");
            let unnamed = Conversation::after_turn(before, &end, None);
            let kept = expected.filter(|id| *id == "old").map(conversation);
            assert_eq!(unnamed, kept, "{end:?}");
        }
    }

    #[test]
    fn only_a_question_and_other_ways_leave_the_conversation() {
        let goal = "Another.".to_owned();
        let question = "Which?".to_owned();
        let to = BackendModel::new("claude");
        let (branches, iterations) = (Vec::new(), 1);
        for (change, is_kept) in [
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

            assert_eq!(after.is_some(), is_kept, "{change:?}");
        }
    }

    #[test]
    fn nobody_else_continues_a_conversation() {
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
