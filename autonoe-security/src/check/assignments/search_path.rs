//! Values that are lists of folders, separated by colons.

use std::borrow::Cow;

use crate::check::directories::Directories;
use crate::check::path;
use crate::policy::Policy;
use crate::syntax::{Operation, Part, Subscript};

/// A component of a search path.
pub(super) enum Component<'v> {
    Text(Cow<'v, str>),
    Variable(&'v str),
}

/// Splits a value at its colons; `None` if a component mixes text and expansions.
pub(super) fn components<'v>(value: &'v [Part<'v>]) -> Option<Vec<Component<'v>>> {
    let mut all = vec![Component::Text(Cow::Borrowed(""))];
    fn add<'v>(parts: &'v [Part<'v>], all: &mut Vec<Component<'v>>) -> Option<()> {
        for part in parts {
            match part {
                Part::DoubleQuoted(inner) => add(inner, all)?,
                Part::Literal(text) | Part::Quoted(text) => {
                    for (number, piece) in text.split(':').enumerate() {
                        if number > 0 {
                            all.push(Component::Text(Cow::Borrowed("")));
                        }
                        match all.last_mut()? {
                            Component::Text(text) => text.to_mut().push_str(piece),
                            Component::Variable(_) if piece.is_empty() => {}
                            Component::Variable(_) => return None,
                        }
                    }
                }
                Part::Parameter(parameter) => {
                    let is_whole =
                        matches!(all.last(), Some(Component::Text(text)) if text.is_empty());
                    let is_plain =
                        is_plain_value(&parameter.operation, parameter.subscript.as_ref());
                    if !is_whole || !is_plain {
                        return None;
                    }
                    *all.last_mut()? = Component::Variable(&parameter.name);
                }
                _ => return None,
            }
        }
        Some(())
    }
    add(value, &mut all)?;
    Some(all)
}

fn is_plain_value(operation: &Operation<'_>, subscript: Option<&Subscript<'_>>) -> bool {
    *operation == Operation::Value && subscript.is_none()
}

pub(super) fn is_search_folder(
    policy: &Policy,
    directories: &Directories<'_>,
    name: &str,
    component: &Component<'_>,
) -> bool {
    match component {
        Component::Variable(variable) => *variable == name,
        Component::Text(text) if text.is_empty() => true,
        Component::Text(text) => {
            directories.all_locations(text, |place| path::is_within(place, policy.project_dir()))
        }
    }
}
