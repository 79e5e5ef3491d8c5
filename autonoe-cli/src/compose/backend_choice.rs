//! A backend, as people name it: on the command line, or in a file of the project.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

// Linked, so that their specs are known.
use autonoe_acp as _;
use autonoe_claude::ClaudeBackend;
use autonoe_codex as _;
use autonoe_core::{BackendSpec, SpecPort, json_complaint, plain_backend, registered_specs};
use serde_json::{Value, json};

use super::ModelName;

/// The forms of those that need more than a name.
const FORMS: [(&str, &str); 3] = [
    ("acp", "acp:COMMAND"),
    ("model", ModelName::FORM),
    ("scripted", "scripted:FILE"),
];

/// The name that the spec of Claude Code had before.
const FORMER_CLAUDE: &str = "claude-code";

/// A backend, as people name it.
#[derive(Clone, Debug)]
pub(crate) enum BackendChoice {
    /// `scripted:FILE`: agents that do what a file says.
    Scripted(PathBuf),
    /// `model:PROVIDER/MODEL`: agents in this process.
    Model(ModelName),
    /// `claude`, `codex`, `acp:COMMAND`, the name of any other spec, or the JSON of one.
    Spec(Arc<dyn BackendSpec>),
}

impl Default for BackendChoice {
    fn default() -> Self {
        Self::Spec(Arc::new(ClaudeBackend::default()))
    }
}

impl FromStr for BackendChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with('{') {
            return of_json(text);
        }
        match text.split_once(':') {
            Some(("scripted", "")) => Err("write scripted:FILE".to_owned()),
            Some(("scripted", file)) => Ok(Self::Scripted(file.into())),
            Some(("model", name)) => name.parse().map(Self::Model),
            Some(("acp", command)) => agent_of_command(command),
            Some((tag, _)) if is_registered(tag) => Err(format!("behind {tag} comes nothing")),
            _ => by_name(text),
        }
    }
}

impl BackendChoice {
    /// Returns the tag of the spec.
    pub(crate) fn tag(&self) -> &str {
        match self {
            Self::Scripted(_) => "scripted",
            Self::Model(_) => "model",
            Self::Spec(spec) => match spec.typetag_name() {
                FORMER_CLAUDE => "claude",
                tag => tag,
            },
        }
    }

    /// Takes files from `root` on.
    pub(super) fn in_folder(self, root: &Path) -> Self {
        match self {
            Self::Scripted(file) => Self::Scripted(root.join(file)),
            other => other,
        }
    }

    /// Returns what the command line would say, with files from `root` on, so that another process
    /// reads the same.
    pub(crate) fn word(&self, root: &Path) -> String {
        match self {
            Self::Scripted(file) => format!("scripted:{}", root.join(file).display()),
            Self::Model(name) => name.to_string(),
            Self::Spec(spec) => serde_json::to_string(&**spec).unwrap_or_default(),
        }
    }

    /// Says how the backend of a tag is named that needs more than its name.
    pub(crate) fn form_of(tag: &str) -> Option<&'static str> {
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

fn of_json(text: &str) -> Result<BackendChoice, String> {
    let spec: Box<dyn BackendSpec> = serde_json::from_str(text).map_err(|error| {
        let complaint = json_complaint(&error);
        format!("{complaint}; {}", known())
    })?;
    Ok(BackendChoice::Spec(spec.into()))
}

/// Makes the spec of an agent that a command starts: words with blanks between them.
fn agent_of_command(command: &str) -> Result<BackendChoice, String> {
    if command.contains(['"', '\'', '\\']) {
        let example = json!({"type": "acp", "command": "agent", "args": ["--name", "a b"]});
        return Err(format!("write JSON where quotes are needed: {example}"));
    }
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else {
        return Err("write acp:COMMAND, for example 'acp:goose acp'".to_owned());
    };
    let spec = json!({"type": "acp", "command": program, "args": Vec::from_iter(words)});
    of_json(&spec.to_string())
}

fn by_name(name: &str) -> Result<BackendChoice, String> {
    let tag = match name {
        FORMER_CLAUDE => "claude",
        name => name,
    };
    if !is_registered(tag) {
        return Err(format!("there is no such backend; {}", known()));
    }
    plain_backend(tag)
        .map(BackendChoice::Spec)
        .map_err(|fields| match BackendChoice::form_of(tag) {
            Some(form) if tag == "model" => {
                let example = "model:anthropic/claude-sonnet-4-5";
                format!("write {form}, for example {example}")
            }
            Some(form) => format!("write {form}"),
            None => format!("it needs {}; write its JSON", fields.join(", ")),
        })
}

fn is_registered(tag: &str) -> bool {
    let specs = registered_specs(SpecPort::Backend);
    specs.iter().any(|spec| spec.tag == tag)
}

fn known() -> String {
    let specs = registered_specs(SpecPort::Backend);
    let names: Vec<_> = specs
        .iter()
        .map(|spec| BackendChoice::form_of(spec.tag).unwrap_or(spec.tag))
        .collect();
    format!("it is one of {}, or JSON with a `type`", names.join(", "))
}

/// Returns what a spec says, without its `type`.
pub(super) fn fields_of(spec: &dyn BackendSpec) -> Value {
    let mut written = serde_json::to_value(spec).unwrap_or_default();
    if let Some(fields) = written.as_object_mut() {
        fields.remove("type");
    }
    written
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
    fn what_is_wrong_is_told_with_what_would_be_right() {
        for (text, expected) in [
            (
                "gpt",
                &["acp:COMMAND", "codex", "gemini", "scripted:FILE"][..],
            ),
            ("model", &["model:PROVIDER/MODEL"]),
            ("acp", &["acp:COMMAND"]),
            ("codex:gpt-5", &["behind codex comes nothing"]),
            ("acp:x 'y'", &["write JSON"]),
        ] {
            let error = text.parse::<BackendChoice>().expect_err("it is wrong");
            for words in expected {
                assert!(error.contains(words), "{text}: {error}");
            }
        }
    }
}
