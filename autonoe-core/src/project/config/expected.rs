//! What a value must be, and what it was meant to be when it is not.

use serde_json::Value;

use super::cursor::Cursor;
use super::json_tree::Content;

/// What a value must be: in words, and as an example.
#[derive(Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) what: &'a str,
    example: &'a str,
    /// Whether any text will do, so that a number may be a text without its quotes.
    any_text: bool,
}

/// The longest value that a hint repeats.
const LONGEST: usize = 60;

impl<'a> Expected<'a> {
    /// Expects `what`, for example `example`, which is JSON.
    pub(super) const fn new(what: &'a str, example: &'a str) -> Self {
        Self {
            what,
            example,
            any_text: false,
        }
    }

    /// Expects `what`, for which any text will do. Not for what may be secret: a hint repeats it.
    pub(super) const fn any_text(what: &'a str) -> Self {
        Self {
            what,
            example: "\"text\"",
            any_text: true,
        }
    }

    /// Returns how to mend `found`, which is something else.
    pub(super) fn hint(&self, found: &Cursor<'_>) -> String {
        let text = found.text();
        let wants_list = self.example.starts_with('[');
        let wants_text = self.example.starts_with('"');
        let meant = match &found.node.content {
            Content::Scalar(Value::Null) if found.node.key_at.is_some() => {
                return "leave the field out instead".to_owned();
            }
            Content::Scalar(Value::String(_)) if wants_list => Some(format!("[{text}]")),
            Content::Scalar(Value::Number(_) | Value::Bool(_)) if self.any_text => {
                Some(format!("\"{text}\""))
            }
            Content::List(items) if wants_text && items.len() == 1 => {
                let only = &items[0];
                matches!(only.content, Content::Scalar(Value::String(_)))
                    .then(|| found.document.text[only.span.clone()].to_owned())
            }
            _ => None,
        };
        match meant.filter(|meant| meant.len() <= LONGEST) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("for example `{}`", self.example),
        }
    }
}
