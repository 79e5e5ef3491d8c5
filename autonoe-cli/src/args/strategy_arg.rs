//! Parses the backends and the strategy of a fleet from command-line values.

use std::str::FromStr;
use std::sync::Arc;

use autonoe_app::BackendChoice;
use autonoe_core::spec::registered_specs;
use autonoe_harness::Strategy;
use autonoe_harness::strategy::{STRATEGY_PORT, VotingCriterion};
use serde::Deserialize;
use serde_json::json;

/// Value of `--backend` for a fleet: `codex`, `codex@gpt-5.5`, `fast=model:openai/gpt-5.5-mini`.
#[derive(Clone, Debug)]
pub(crate) struct FleetBackend {
    /// The explicit name, if the value has a `NAME=` prefix.
    pub(crate) name: Option<String>,
    pub(crate) choice: BackendChoice,
    pub(crate) model: Option<String>,
}

impl FleetBackend {
    /// Returns the explicit name, or else the tag of the backend.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.choice.tag())
    }
}

impl FromStr for FleetBackend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once('=') {
            Some(("", _)) => return Err("expected a name before `=`".to_owned()),
            Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest),
            _ => (None, text),
        };
        // After a colon and inside JSON, an `@` is part of the value.
        let is_plain = !rest.contains([':', '{']);
        let (choice, model) = match rest.rsplit_once('@') {
            Some((_, "")) if is_plain => return Err("expected a model after `@`".to_owned()),
            Some((choice, model)) if is_plain => (choice, Some(model.to_owned())),
            _ => (rest, None),
        };
        Ok(Self {
            name,
            choice: choice.parse()?,
            model,
        })
    }
}

/// Checks for a name that is safe in directory and branch names, as members and executors need.
fn is_name(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(is_allowed)
}

/// Value of `--strategy`: any registered strategy that needs no options, or a vote.
#[derive(Clone, Debug)]
pub(crate) enum FleetStrategy {
    Voting(VotingCriterion),
    Other(Arc<dyn Strategy>),
}

impl FromStr for FleetStrategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const CRITERIA: [(&str, VotingCriterion); 5] = [
            ("first", VotingCriterion::First),
            ("best-progress", VotingCriterion::BestProgress),
            ("best-tests", VotingCriterion::BestTests),
            ("lowest-failures", VotingCriterion::LowestFailures),
            ("fastest", VotingCriterion::Fastest),
        ];
        let tags: Vec<_> = registered_specs(STRATEGY_PORT)
            .into_iter()
            .map(|entry| entry.tag)
            .collect();
        match text.split_once(':').unwrap_or((text, "first")) {
            ("voting", criterion) => {
                let mut known = CRITERIA.into_iter();
                let found = known.find(|(name, _)| *name == criterion);
                found.map(|(_, it)| Self::Voting(it)).ok_or_else(|| {
                    let names = CRITERIA.map(|(name, _)| name);
                    format!("expected voting:RANKING with one of {}", names.join(", "))
                })
            }
            (tag, "first") if tags.contains(&tag) => {
                let strategy = Box::<dyn Strategy>::deserialize(json!({"type": tag}));
                let strategy = strategy.map_err(|error| error.to_string())?;
                Ok(Self::Other(Arc::from(strategy)))
            }
            _ => Err(format!(
                "expected one of {}, voting:RANKING",
                tags.join(", ")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backends_are_read_with_name_and_model() {
        for (text, name, choice, model) in [
            ("codex", "codex", "codex", None),
            ("codex@gpt-5.5", "codex", "codex", Some("gpt-5.5")),
            ("big=claude@opus", "big", "claude", Some("opus")),
            (
                "model:openai/gpt-5.5",
                "model",
                "model:openai/gpt-5.5",
                None,
            ),
            (
                "a=scripted:/x@y/agents.json",
                "a",
                "scripted:/x@y/agents.json",
                None,
            ),
            ("acp:npx @zed/agent --x=y", "acp", "acp", None),
            (
                "c={\"type\": \"codex\", \"program\": \"/a@b\"}",
                "c",
                "codex",
                None,
            ),
        ] {
            let backend: FleetBackend = text.parse().expect(text);

            assert_eq!(backend.name(), name, "{text}");
            assert_eq!(backend.choice.to_string(), choice, "{text}");
            assert_eq!(backend.model.as_deref(), model, "{text}");
        }
        for text in ["codex@", "=codex", "nobody", "a=nobody@x"] {
            assert!(text.parse::<FleetBackend>().is_err(), "{text}");
        }
    }

    #[test]
    fn strategies_are_read_by_name() {
        for (text, expected) in [
            ("graph", Some("graph")),
            ("race", Some("race")),
            ("voting", Some("First")),
            ("voting:best-tests", Some("BestTests")),
            ("voting:loudest", None),
            ("race:fastest", None),
            ("swarm", None),
        ] {
            let strategy = text.parse().ok().map(|strategy| match strategy {
                FleetStrategy::Voting(criterion) => format!("{criterion:?}"),
                FleetStrategy::Other(strategy) => strategy.typetag_name().to_owned(),
            });

            assert_eq!(strategy.as_deref(), expected, "{text}");
        }
    }
}
