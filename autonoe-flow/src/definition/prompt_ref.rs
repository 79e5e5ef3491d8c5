//! [`PromptRef`]: reference to the prompt of a step.

use std::path::{Component, Path, PathBuf};

use autonoe_core::project::config_parts::read_part;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Reference to a prompt: a file, or a location in the prompt scheme.
///
/// In a file it is a path, an object with `path`, or an object with `c1`, `c2`, `c3` and optionally
/// `edition` and `adaptation`.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_flow::definition::PromptRef;
///
/// let by_path: PromptRef = serde_json::from_str(r#""prompts/draft.md""#)?;
/// let by_scheme: PromptRef =
///     serde_json::from_str(r#"{"c1": "write", "c2": "draft", "c3": "issue", "adaptation": "short"}"#)?;
///
/// assert_eq!(by_path.file(Path::new("prompts")), Path::new("prompts/draft.md"));
/// assert_eq!(
///     by_scheme.file(Path::new("prompts")),
///     Path::new("prompts/write/draft/issue/f_default_short.md")
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PromptRef {
    /// A file.
    Path(PathRef),
    /// A location in the scheme `{base}/{c1}/{c2}/{c3}/f_{edition}[_{adaptation}].md`.
    Scheme(SchemeRef),
}

/// A prompt, referenced by its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathRef {
    /// The file, relative to the folder of the flow.
    pub path: FlowPath,
    /// The prompt to use if the file does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<PromptRef>>,
}

/// A prompt, referenced by its location in the prompt scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SchemeRef {
    /// The first part, usually a verb.
    pub c1: SchemePart,
    /// The second part, usually the object of the verb.
    pub c2: SchemePart,
    /// The third part, usually the kind of input.
    pub c3: SchemePart,
    /// The edition.
    #[serde(default = "default_edition")]
    pub edition: SchemePart,
    /// A variant of the edition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptation: Option<SchemePart>,
    /// The prompt to use if the file does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<PromptRef>>,
}

fn default_edition() -> SchemePart {
    SchemePart("default".to_owned())
}

impl PromptRef {
    /// Creates a reference to the file at `path`.
    pub fn path(path: FlowPath) -> Self {
        Self::Path(PathRef {
            path,
            fallback: None,
        })
    }

    /// Returns the file, relative to the folder of the flow; `base` is the root of the scheme.
    pub fn file(&self, base: &Path) -> PathBuf {
        match self {
            Self::Path(reference) => reference.path.as_path().to_owned(),
            Self::Scheme(reference) => base.join(reference.file()),
        }
    }

    /// Returns the prompt to use if the file does not exist.
    pub fn fallback(&self) -> Option<&PromptRef> {
        match self {
            Self::Path(reference) => reference.fallback.as_deref(),
            Self::Scheme(reference) => reference.fallback.as_deref(),
        }
    }
}

impl SchemeRef {
    fn file(&self) -> PathBuf {
        let name = match &self.adaptation {
            Some(adaptation) => format!("f_{}_{}.md", self.edition.0, adaptation.0),
            None => format!("f_{}.md", self.edition.0),
        };
        [&self.c1.0, &self.c2.0, &self.c3.0, &name].iter().collect()
    }
}

impl<'de> Deserialize<'de> for PromptRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let read = match &value {
            Value::String(_) => read_part(&value).map(Self::path),
            Value::Object(fields) if fields.contains_key("path") => {
                read_part(&value).map(Self::Path)
            }
            Value::Object(fields)
                if ["c1", "c2", "c3"].iter().any(|it| fields.contains_key(*it)) =>
            {
                read_part(&value).map(Self::Scheme)
            }
            _ => {
                Err("expected a path, or an object with `path` or with `c1`, `c2` and `c3`".into())
            }
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PromptRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PromptRef".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A reference to a prompt: a path, or an object with `path` or `c1` to `c3`.",
            "anyOf": [
                generator.subschema_for::<FlowPath>(),
                generator.subschema_for::<PathRef>(),
                generator.subschema_for::<SchemeRef>(),
            ],
        })
    }
}

/// A path inside the folder of a flow: relative, and without `..`.
///
/// ```
/// use autonoe_flow::definition::FlowPath;
///
/// let path: FlowPath = serde_json::from_str(r#""prompts/draft.md""#)?;
///
/// assert!(serde_json::from_str::<FlowPath>(r#""../secrets.md""#).is_err());
/// assert!(serde_json::from_str::<FlowPath>(r#""/etc/passwd""#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FlowPath(PathBuf);

impl FlowPath {
    /// Creates a path that is known to be valid.
    pub(super) fn from_static(path: &'static str) -> Self {
        Self(path.into())
    }

    /// Returns the path, relative to the folder of the flow.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl TryFrom<String> for FlowPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_outside = Path::new(&text)
            .components()
            .any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
        // A backslash is part of a file name on Unix and a separator on Windows.
        let is_odd = text.trim().is_empty() || text.contains(['\\', '\0']) || text.contains(':');
        if is_outside {
            return Err(format!(
                "{text:?} is outside the folder of the flow; use a path inside it, without `..`"
            ));
        }
        if is_odd {
            return Err(format!(
                "{text:?} is not a path; use names separated by /, like prompts/draft.md"
            ));
        }
        let plain = Path::new(&text).components();
        Ok(Self(
            plain.filter(|part| *part != Component::CurDir).collect(),
        ))
    }
}

impl From<FlowPath> for String {
    fn from(path: FlowPath) -> Self {
        // Lossless: the path was created from a string.
        path.0.to_string_lossy().into_owned()
    }
}

impl JsonSchema for FlowPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FlowPath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A path inside the folder of the flow.",
            "type": "string",
            "pattern": r"^(?!/)(?!(.*/)?\.\.(/|$))[^\\:]+$",
        })
    }
}

/// One component of the prompt scheme: a plain name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SchemePart(String);

impl TryFrom<String> for SchemePart {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
            Ok(Self(text))
        } else {
            Err(format!(
                "{text:?} is not a valid part of a prompt reference; use letters, digits, - and _"
            ))
        }
    }
}

impl From<SchemePart> for String {
    fn from(part: SchemePart) -> Self {
        part.0
    }
}

impl JsonSchema for SchemePart {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemePart".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_-]+$", "maxLength": 64})
    }
}
