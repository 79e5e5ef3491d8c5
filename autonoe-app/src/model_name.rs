//! [`ModelName`]: a model as the command line names it.

use std::fmt;
use std::str::FromStr;

/// `PROVIDER/MODEL`, as it follows `model:`. The name of a model may contain slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    pub provider: String,
    pub model: String,
}

impl ModelName {
    pub const FORM: &str = "model:PROVIDER/MODEL";
}

impl FromStr for ModelName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (provider, model) = text.split_once('/').unwrap_or((text, ""));
        let is_name = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
        if !is_name(provider) || !is_name(model) {
            let example = "model:anthropic/claude-sonnet-4-5";
            return Err(format!("expected {}, for example {example}", Self::FORM));
        }
        Ok(Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model:{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_ends_at_the_first_slash_and_a_model_may_have_more() {
        for (text, expected) in [
            ("anthropic/claude-x", Some(("anthropic", "claude-x"))),
            ("router/openai/gpt-5", Some(("router", "openai/gpt-5"))),
            ("local/qwen3:8b", Some(("local", "qwen3:8b"))),
            ("anthropic", None),
            ("anthropic/", None),
            ("/gpt-5", None),
            ("a b/gpt", None),
            ("", None),
        ] {
            let parsed = text.parse::<ModelName>().ok();
            let parsed = parsed
                .as_ref()
                .map(|name| (name.provider.as_str(), name.model.as_str()));
            assert_eq!(parsed, expected, "{text}");
        }
    }
}
