//! How much a model can read and write, as data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a model can read and write at once, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelLimits {
    /// How many tokens the conversation may have, the answer included.
    pub context: u64,
    /// How many tokens an answer may have.
    pub output: u32,
}

impl Default for ModelLimits {
    /// What nearly every model of today can do.
    fn default() -> Self {
        Self {
            context: 128_000,
            output: 8_192,
        }
    }
}

/// How much models can read and write, by the beginnings of their names.
///
/// ```
/// use autonoe_model::{LimitTable, ModelLimits};
///
/// let limits = LimitTable::built_in();
///
/// assert_eq!(limits.of("claude-sonnet-4-5-20250929").context, 200_000);
/// assert_eq!(limits.of("nobody-knows"), ModelLimits::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LimitTable(BTreeMap<String, ModelLimits>);

impl LimitTable {
    /// Returns the limits that this version of the library knows.
    pub fn built_in() -> Self {
        static TEXT: &str = include_str!("limits.json");
        serde_json::from_str(TEXT).unwrap_or_default()
    }

    /// Adds other limits; where both know a name, `others` count.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Returns the limits of a model: those of the longest name that its own begins with.
    pub fn of(&self, model: &str) -> ModelLimits {
        // `openrouter` and others put the maker before the name.
        let model = model.rsplit('/').next().unwrap_or(model);
        let known = self
            .0
            .iter()
            .filter(|(name, _)| model.starts_with(name.as_str()));
        let longest = known.max_by_key(|(name, _)| name.len());
        longest.map(|(_, limits)| *limits).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_that_come_with_the_library_can_be_read() {
        let limits = LimitTable::built_in();

        assert!(!limits.0.is_empty());
        for (model, limits) in &limits.0 {
            assert!(u64::from(limits.output) < limits.context, "{model}");
        }
    }

    #[test]
    fn the_longest_name_that_fits_counts() {
        let limits: LimitTable = serde_json::from_str(
            r#"{"gpt": {"context": 10, "output": 1}, "gpt-5": {"context": 20, "output": 2}}"#,
        )
        .expect("limits");

        for (model, context) in [
            ("gpt-4", 10),
            ("gpt-5-mini", 20),
            ("openai/gpt-5", 20),
            ("other", 128_000),
        ] {
            assert_eq!(limits.of(model).context, context, "{model}");
        }
    }
}
