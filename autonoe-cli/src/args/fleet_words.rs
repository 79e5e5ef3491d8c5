//! Backends and strategies of a fleet, as people write them.

use std::str::FromStr;

use autonoe_harness::VotingCriterion;

use crate::compose::BackendChoice;

/// A backend of a fleet: `codex`, `codex@gpt-5.5`, `fast=model:openai/gpt-5.5-mini`.
#[derive(Clone, Debug)]
pub(crate) struct FleetBackend {
    /// What it is called, if it was given a name.
    pub(crate) name: Option<String>,
    pub(crate) choice: BackendChoice,
    pub(crate) model: Option<String>,
}

impl FleetBackend {
    /// Returns what it is called.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| self.choice.tag())
    }
}

impl FromStr for FleetBackend {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once('=') {
            Some(("", _)) => return Err("write a name before `=`".to_owned()),
            Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest),
            _ => (None, text),
        };
        // Behind a colon, and in JSON, an `@` belongs to what stands there.
        let is_plain = !rest.contains([':', '{']);
        let (choice, model) = match rest.rsplit_once('@') {
            Some((_, "")) if is_plain => return Err("write a model behind `@`".to_owned()),
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

/// Names of members and executors become names of folders and branches.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !text.is_empty() && text.chars().all(fits)
}

/// How the members of a fleet work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FleetStrategy {
    Graph,
    Parallel,
    Pipeline,
    Race,
    Voting(VotingCriterion),
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
        match text.split_once(':').unwrap_or((text, "first")) {
            ("graph", "first") => Ok(Self::Graph),
            ("parallel", "first") => Ok(Self::Parallel),
            ("pipeline", "first") => Ok(Self::Pipeline),
            ("race", "first") => Ok(Self::Race),
            ("voting", criterion) => {
                let mut known = CRITERIA.into_iter();
                let found = known.find(|(name, _)| *name == criterion);
                found.map(|(_, it)| Self::Voting(it)).ok_or_else(|| {
                    let names = CRITERIA.map(|(name, _)| name);
                    format!("a vote goes by {}", names.join(", "))
                })
            }
            _ => Err(
                "it is one of graph, parallel, pipeline, race, voting, voting:CRITERION".to_owned(),
            ),
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
        for (text, strategy) in [
            ("graph", Some(FleetStrategy::Graph)),
            ("race", Some(FleetStrategy::Race)),
            (
                "voting",
                Some(FleetStrategy::Voting(VotingCriterion::First)),
            ),
            (
                "voting:best-tests",
                Some(FleetStrategy::Voting(VotingCriterion::BestTests)),
            ),
            ("voting:loudest", None),
            ("race:fastest", None),
            ("swarm", None),
        ] {
            assert_eq!(text.parse::<FleetStrategy>().ok(), strategy, "{text}");
        }
    }
}
