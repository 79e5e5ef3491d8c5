//! [`KeywordSignal`] and [`StructuredSignal`]: the agent reports that the work is done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CompletionKind, CompletionNeeds, Mistake, Rule, RuleHandler, Unreachable};
use crate::completion::{CompletionDependencies, CompletionHandler};
use crate::definition::KeywordMode;
use crate::definition::quoted;
use crate::error::FlowError;
use crate::progress::{AgentSignal, FlowProgress};
use crate::walk::Formula;

/// Complete when an answer of the agent contains a keyword.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeywordSignal {
    /// The keywords, case-sensitive and as whole words, in the text parts of answers.
    pub keywords: Vec<String>,
    /// Whether one or all of the keywords are needed.
    #[serde(default)]
    pub mode: KeywordMode,
}

impl CompletionKind for KeywordSignal {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(self.clone())))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        if self.keywords.is_empty() {
            let message = "the list of words is empty, so the condition could never hold";
            let hint = "add a word that the agent writes";
            mistakes.push(Mistake::new("/keywords", message, hint));
        }
        for (index, word) in self.keywords.iter().enumerate() {
            if word.trim().is_empty() {
                let message = "a blank word is in every text";
                let pointer = format!("/keywords/{index}");
                mistakes.push(Mistake::new(pointer, message, "write a word"));
            }
        }
        mistakes
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds {
            keywords: self.keywords.iter().cloned().collect(),
            ..CompletionNeeds::default()
        }
    }
}

impl Rule for KeywordSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_seen = |word: &str| progress.keywords_seen.contains(word);
        if !self.mode.holds(&self.keywords, is_seen) {
            return None;
        }
        let keywords = self.keywords.iter().filter(|word| is_seen(word));
        Some(format!("the agent said {}", quoted(keywords)))
    }
}

/// Complete when the agent has sent a signal with fields, through a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StructuredSignal {
    /// The name of the signal, for example `done`.
    pub signal: String,
    /// The required fields of the signal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_fields: Vec<String>,
}

impl StructuredSignal {
    /// Returns whether `signal` has the name, and a value other than `null` in each required field.
    pub fn matches(&self, signal: &AgentSignal) -> bool {
        signal.name == self.signal && self.missing_in(signal).next().is_none()
    }

    /// Returns the required fields that are missing in `signal` or `null`.
    pub(crate) fn missing_in<'a>(
        &'a self,
        signal: &'a AgentSignal,
    ) -> impl Iterator<Item = &'a str> {
        let fields = self.required_fields.iter().map(String::as_str);
        fields.filter(|field| signal.fields.get(*field).is_none_or(Value::is_null))
    }
}

impl CompletionKind for StructuredSignal {
    fn build(&self, _: &CompletionDependencies) -> Result<Box<dyn CompletionHandler>, FlowError> {
        Ok(Box::new(RuleHandler(self.clone())))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let is_blank = self.signal.trim().is_empty();
        let mistake = is_blank.then(|| {
            let hint = "write one, like \"done\"";
            Mistake::new("/signal", "the signal has no name", hint)
        });
        Vec::from_iter(mistake)
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds {
            signals: vec![self.clone()],
            ..CompletionNeeds::default()
        }
    }
}

impl Rule for StructuredSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_sent = progress.signals.iter().any(|signal| self.matches(signal));
        is_sent.then(|| format!("the agent sent the signal `{}`", self.signal))
    }
}
