//! A place in a configuration file that is being checked.

use serde_json::Value;

use super::document::Document;
use super::expected::Expected;
use super::json_tree::{Content, Node, below};
use super::suggest::suggest;
use super::{ConfigError, ConfigErrorKind};

/// A value of a document, with the pointer to it.
pub(super) struct Cursor<'a> {
    pub(super) document: &'a Document,
    pub(super) node: &'a Node,
    pub(super) pointer: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(document: &'a Document) -> Self {
        Self {
            document,
            node: &document.root,
            pointer: String::new(),
        }
    }

    fn child(&self, name: &str, node: &'a Node) -> Self {
        Self {
            document: self.document,
            node,
            pointer: below(&self.pointer, name),
        }
    }

    /// Returns the error that this value is not `expected`.
    pub(super) fn wrong_type(&self, expected: Expected<'_>) -> ConfigError {
        let message = format!("expected {}, found {}", expected.what, self.node.kind());
        self.error(ConfigErrorKind::WrongType, message)
            .hint(expected.hint(self))
    }

    /// Returns an error about this value.
    pub(super) fn error(&self, kind: ConfigErrorKind, message: impl Into<String>) -> ConfigError {
        let error = ConfigError::new(kind, message);
        self.document.at_value(&self.pointer, error)
    }

    /// Returns an error about the key of this value.
    pub(super) fn key_error(&self, kind: ConfigErrorKind, message: String) -> ConfigError {
        self.document
            .at_key(&self.pointer, ConfigError::new(kind, message))
    }

    /// Returns the value as JSON text.
    pub(super) fn text(&self) -> &'a str {
        &self.document.text[self.node.span.clone()]
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.node.content, Content::Object(_))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.node.content, Content::List(_))
    }

    /// Returns the fields of an object in the order of the file, as a reader would find them.
    pub(super) fn fields(
        &self,
        expected: Expected<'_>,
    ) -> Result<Vec<(&'a str, Self)>, ConfigError> {
        let Content::Object(fields) = &self.node.content else {
            return Err(self.wrong_type(expected));
        };
        let mut children: Vec<(&str, Self)> = fields
            .iter()
            .map(|(name, node)| (name.as_str(), self.child(name, node)))
            .collect();
        children.sort_by_key(|(_, child)| child.node.span.start);
        Ok(children)
    }

    /// Returns the fields of an object that has no others than `known`.
    pub(super) fn known_fields(
        &self,
        expected: Expected<'_>,
        known: &[&str],
    ) -> Result<Vec<(&'a str, Self)>, ConfigError> {
        let fields = self.fields(expected)?;
        let unknown = fields.iter().find(|(name, _)| !known.contains(name));
        match unknown {
            Some((name, child)) => Err(child.unknown_field(name, known)),
            None => Ok(fields),
        }
    }

    /// Returns the error that the field `name` at this place is none of `known`.
    pub(super) fn unknown_field(&self, name: &str, known: &[&str]) -> ConfigError {
        let hint = match self.pointer.as_str() {
            "/permissions/deny" => {
                "rules only open; to block, add a hook of the type `core-deny-tool`".to_owned()
            }
            _ => match suggest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known are {}", known.join(", ")),
            },
        };
        let message = format!("unknown field `{name}`");
        self.key_error(ConfigErrorKind::UnknownField, message)
            .hint(hint)
    }

    /// Returns the items of a list.
    pub(super) fn items(&self, expected: Expected<'_>) -> Result<Vec<Self>, ConfigError> {
        let Content::List(items) = &self.node.content else {
            return Err(self.wrong_type(expected));
        };
        let children = items.iter().enumerate();
        Ok(children
            .map(|(index, node)| self.child(&index.to_string(), node))
            .collect())
    }

    /// Returns the text of a string.
    pub(super) fn string(&self, expected: Expected<'_>) -> Result<&'a str, ConfigError> {
        match &self.node.content {
            Content::Scalar(Value::String(text)) => Ok(text),
            _ => Err(self.wrong_type(expected)),
        }
    }

    /// Checks that the value is `true` or `false`.
    pub(super) fn boolean(&self, expected: Expected<'_>) -> Result<(), ConfigError> {
        match &self.node.content {
            Content::Scalar(Value::Bool(_)) => Ok(()),
            _ => Err(self.wrong_type(expected)),
        }
    }
}
