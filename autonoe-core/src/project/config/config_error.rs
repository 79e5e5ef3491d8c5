//! [`ConfigError`], an error in a configuration.

use std::fmt;
use std::path::{Path, PathBuf};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error in a configuration: its position, its message and a suggestion.
///
/// ```
/// use std::path::Path;
///
/// use autonoe_core::project::{AgentConfig, ConfigErrorKind};
///
/// let error = AgentConfig::parse(r#"{"profil": "node"}"#, Path::new(".autonoe/agent.json"))
///     .expect_err("there is no such field");
///
/// assert_eq!(error.kind(), ConfigErrorKind::UnknownField);
/// assert_eq!((error.line(), error.column(), error.pointer()), (Some(1), Some(2), Some("/profil")));
/// assert_eq!(
///     error.to_string(),
///     ".autonoe/agent.json:1:2: /profil: unknown field `profil`; did you mean `profile`?"
/// );
/// ```
#[derive(Debug)]
pub struct ConfigError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: ConfigErrorKind,
    /// `None` for a configuration that was created in code.
    file: Option<PathBuf>,
    /// Line and column, from 1.
    position: Option<(usize, usize)>,
    pointer: Option<String>,
    message: String,
    hint: Option<String>,
    source: Option<BoxError>,
}

/// The kinds of configuration errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The file cannot be read, or is not a text.
    Unreadable,
    /// The text is not JSON.
    Syntax,
    /// A field is unknown.
    UnknownField,
    /// A field occurs twice.
    Duplicate,
    /// A value has the wrong type.
    WrongType,
    /// A value has the right type, but is invalid.
    InvalidValue,
    /// A hook is unknown, or cannot be built.
    Hook,
    /// A backend is unknown or incomplete.
    Backend,
}

impl ConfigError {
    pub(super) fn new(kind: ConfigErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            file: None,
            position: None,
            pointer: None,
            message: message.into(),
            hint: None,
            source: None,
        }))
    }

    pub(super) fn in_file(mut self, file: &Path) -> Self {
        self.0.file = Some(file.to_owned());
        self
    }

    pub(super) fn at_position(mut self, position: impl Into<Option<(usize, usize)>>) -> Self {
        self.0.position = position.into();
        self
    }

    pub(super) fn at_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.0.pointer = Some(pointer.into());
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.0.hint = hint.into();
        self
    }

    pub(super) fn with_kind(mut self, kind: ConfigErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(super) fn caused_by(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the kind of the error, for programs.
    pub fn kind(&self) -> ConfigErrorKind {
        self.0.kind
    }

    /// Returns the file, or `None` for a configuration that was created in code.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// Returns the line, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.position.map(|(line, _)| line)
    }

    /// Returns the column in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.position.map(|(_, column)| column)
    }

    /// Returns the JSON pointer to the wrong value.
    pub fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    /// Returns the message alone, without the position and the suggestion.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns a suggestion for the repair, if there is one.
    pub fn suggestion(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => f.write_str("the configuration")?,
        }
        if let Some((line, column)) = self.0.position {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        if let Some(pointer) = self
            .0
            .pointer
            .as_deref()
            .filter(|pointer| !pointer.is_empty())
        {
            write!(f, "{pointer}: ")?;
        }
        f.write_str(&self.0.message)?;
        match &self.0.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.source {
            Some(source) => Some(source.as_ref()),
            None => None,
        }
    }
}
