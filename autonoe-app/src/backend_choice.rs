//! [`BackendChoice`]: a backend as users name it, on the command line or in a project file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

// Linked, so that their specs are registered.
use autonoe_acp as _;
use autonoe_claude::ClaudeSpec;
use autonoe_codex as _;
use autonoe_core::project::json_error_message;
use autonoe_core::spec::{BackendSpec, SpecPort, plain_backend, registered_specs};
use serde_json::{Value, json};

/// The forms of backends that need more than a name.
const FORMS: [(&str, &str); 3] = [
    ("acp", "acp:COMMAND"),
    ("model", ModelName::FORM),
    ("scripted", "scripted:FILE"),
];

/// The former name of the Claude Code spec.
const FORMER_CLAUDE: &str = "claude-code";

/// A backend, as users name it.
#[derive(Clone, Debug)]
pub enum BackendChoice {
    /// `scripted:FILE`: agents that follow a script file.
    Scripted(PathBuf),
    /// `model:PROVIDER/MODEL`: agents in this process.
    Model(ModelName),
    /// `claude`, `codex`, `acp:COMMAND`, the name of any other spec, or its JSON.
    Spec(Arc<dyn BackendSpec>),
}

impl Default for BackendChoice {
    fn default() -> Self {
        Self::Spec(Arc::new(ClaudeSpec::default()))
    }
}

impl FromStr for BackendChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with('{') {
            return parse_json(text);
        }
        match text.split_once(':') {
            Some(("scripted", "")) => Err("expected scripted:FILE".to_owned()),
            Some(("scripted", file)) => Ok(Self::Scripted(file.into())),
            Some(("model", name)) => name.parse().map(Self::Model),
            Some(("acp", command)) => parse_acp_command(command),
            Some((tag, _)) if is_registered(tag) => {
                Err(format!("{tag} takes no value: write only {tag}"))
            }
            _ => by_name(text),
        }
    }
}

impl BackendChoice {
    /// Returns the tag of the spec.
    pub fn tag(&self) -> &str {
        match self {
            Self::Scripted(_) => "scripted",
            Self::Model(_) => "model",
            Self::Spec(spec) => match spec.typetag_name() {
                FORMER_CLAUDE => "claude",
                tag => tag,
            },
        }
    }

    /// Returns the model that the backend itself names.
    pub fn model(&self) -> Option<String> {
        match self {
            Self::Scripted(_) => None,
            Self::Model(name) => Some(name.model.clone()),
            Self::Spec(spec) => Some(fields_of(&**spec).get("model")?.as_str()?.to_owned()),
        }
    }

    /// Makes file paths absolute, relative to `root`.
    pub(crate) fn relative_to(self, root: &Path) -> Self {
        match self {
            Self::Scripted(file) => Self::Scripted(root.join(file)),
            other => other,
        }
    }

    /// Returns the command-line form with file paths relative to `root`, so that another process
    /// parses the same backend.
    pub fn to_arg(&self, root: &Path) -> String {
        match self {
            Self::Scripted(file) => format!("scripted:{}", root.join(file).display()),
            Self::Model(name) => name.to_string(),
            Self::Spec(spec) => serde_json::to_string(&**spec).unwrap_or_default(),
        }
    }

    /// Returns the form of a backend that needs more than its name.
    pub fn form_of(tag: &str) -> Option<&'static str> {
        let (_, form) = FORMS.iter().find(|(known, _)| *known == tag)?;
        Some(form)
    }
}

impl fmt::Display for BackendChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scripted(file) => write!(f, "scripted:{}", file.display()),
            Self::Model(name) => name.fmt(f),
            Self::Spec(_) => f.write_str(self.tag()),
        }
    }
}

fn parse_json(text: &str) -> Result<BackendChoice, String> {
    // Deserialising a tag of another type reports the name of a Rust type.
    let written: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(tag) = written.get("type").filter(|tag| !tag.is_string()) {
        return Err(format!(
            "`type` must be a string, not {tag}; {}",
            expected_backends()
        ));
    }
    let spec: Box<dyn BackendSpec> = serde_json::from_str(text).map_err(|error| {
        let reason = json_error_message(&error);
        format!("{reason}; {}", expected_backends())
    })?;
    Ok(BackendChoice::Spec(spec.into()))
}

/// Creates the ACP spec of a command: words separated by blanks.
fn parse_acp_command(command: &str) -> Result<BackendChoice, String> {
    if command.contains(['"', '\'', '\\']) {
        let example = json!({"type": "acp", "command": "agent", "args": ["--name", "a b"]});
        return Err(format!(
            "use JSON for arguments with quotes or backslashes: {example}"
        ));
    }
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Err("expected acp:COMMAND, for example 'acp:goose acp'".to_owned());
    };
    let spec = json!({"type": "acp", "command": program, "args": Vec::from_iter(words)});
    parse_json(&spec.to_string())
}

fn by_name(name: &str) -> Result<BackendChoice, String> {
    let tag = match name {
        FORMER_CLAUDE => "claude",
        name => name,
    };
    if !is_registered(tag) {
        return Err(format!("unknown backend; {}", expected_backends()));
    }
    plain_backend(tag)
        .map(BackendChoice::Spec)
        .map_err(|fields| match BackendChoice::form_of(tag) {
            Some(form) if tag == "model" => {
                let example = "model:anthropic/claude-sonnet-4-5";
                format!("expected {form}, for example {example}")
            }
            Some(form) => format!("expected {form}"),
            None => format!(
                "it needs the fields {}; write the backend as JSON",
                fields.join(", ")
            ),
        })
}

fn is_registered(tag: &str) -> bool {
    let specs = registered_specs(SpecPort::Backend);
    specs.iter().any(|spec| spec.tag == tag)
}

fn expected_backends() -> String {
    let specs = registered_specs(SpecPort::Backend);
    let names: Vec<_> = specs
        .iter()
        .map(|spec| BackendChoice::form_of(spec.tag).unwrap_or(spec.tag))
        .collect();
    format!(
        "expected one of {}, or JSON with a `type`",
        names.join(", ")
    )
}

/// Returns the fields of a spec, without its `type`.
pub(crate) fn fields_of(spec: &dyn BackendSpec) -> Value {
    let mut written = serde_json::to_value(spec).unwrap_or_default();
    if let Some(fields) = written.as_object_mut() {
        fields.remove("type");
    }
    written
}

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
    fn backends_go_by_name_form_and_json() {
        for (text, tag) in [
            ("claude", Some("claude")),
            ("claude-code", Some("claude")),
            ("codex", Some("codex")),
            ("gemini", Some("gemini")),
            ("scripted:agents.json", Some("scripted")),
            ("model:anthropic/claude-sonnet-4-5", Some("model")),
            ("model:router/openai/gpt-5", Some("model")),
            ("acp:goose acp", Some("acp")),
            ("acp:/opt/agent", Some("acp")),
            (
                r#"{"type": "model", "provider": {"type": "openai"}, "model": "gpt-5"}"#,
                Some("model"),
            ),
            (r#"{"type": "claude", "model": "sonnet"}"#, Some("claude")),
            (
                r#"{"type": "claude-code", "model": "sonnet"}"#,
                Some("claude"),
            ),
            (r#"{"type": "codex", "model": "gpt-5.5"}"#, Some("codex")),
            (r#"{"type": "acp", "command": "goose"}"#, Some("acp")),
            ("model:anthropic", None),
            ("model:", None),
            ("model", None),
            (r#"{"type": "model", "model": "gpt-5"}"#, None),
            ("scripted", None),
            ("scripted:", None),
            ("acp", None),
            ("acp:", None),
            ("acp: ", None),
            ("acp:agent 'a b'", None),
            ("codex:gpt-5", None),
            ("gpt", None),
            (r#"{"type": "unheard-of"}"#, None),
            (r#"{"type": "claude", "modle": "sonnet"}"#, None),
            (r#"{"type": "acp"}"#, None),
            ("", None),
        ] {
            let parsed = text.parse::<BackendChoice>();
            let found = parsed.as_ref().ok().map(BackendChoice::tag);
            assert_eq!(found, tag, "{text}: {parsed:?}");
        }
    }

    #[test]
    fn a_command_is_split_at_its_blanks() {
        let choice: BackendChoice = "acp:goose  acp --fast".parse().expect("a command");

        let BackendChoice::Spec(spec) = &choice else {
            panic!("{choice:?}")
        };
        let fields = fields_of(&**spec);
        assert_eq!(fields["command"], "goose");
        assert_eq!(fields["args"], json!(["acp", "--fast"]));
    }

    #[test]
    fn an_error_contains_the_correct_form() {
        for (text, expected) in [
            (
                "gpt",
                &["acp:COMMAND", "codex", "gemini", "scripted:FILE"][..],
            ),
            ("model", &["model:PROVIDER/MODEL"]),
            ("acp", &["acp:COMMAND"]),
            ("codex:gpt-5", &["codex takes no value"]),
            ("acp:x 'y'", &["use JSON"]),
            (
                r#"{"type": 5}"#,
                &["`type` must be a string, not 5", "codex"],
            ),
        ] {
            let error = text.parse::<BackendChoice>().expect_err("it is wrong");
            assert!(!error.contains("dyn "), "{error}");
            for part in expected {
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }

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
