//! Traverses a script and records its effects on variables.

use std::borrow::Cow;

use super::arithmetic::assigned_in;
use super::failures::Failures;
use super::{AssignmentPosition, AssignmentRecord, Survey, Value, is_magic};
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    Arithmetic, AssignedValue, Assignment, Command, CommandKind, For, Item, Operation, Parameter,
    Runs, Script, SimpleCommand, Substitute, Text,
};

/// The state of a traversal.
pub(super) struct Surveyor<'s> {
    pub(super) survey: Survey<'s>,
    /// The position of the current command.
    pub(super) position: AssignmentPosition,
    /// Whether only plain assignments have been seen so far.
    is_sure: bool,
    failures: Failures<'s>,
}

impl<'s> Surveyor<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self {
            survey: Survey::default(),
            position: AssignmentPosition::AtTop,
            is_sure: true,
            failures: Failures::in_text(text),
        }
    }

    pub(super) fn survey(mut self, script: &'s Script<'s>) -> Survey<'s> {
        for item in &script.items {
            self.position = AssignmentPosition::AtTop;
            self.failures.next_item(item.span);
            self.item(item);
            self.is_sure &= is_plain_assignment(item);
        }
        self.survey
    }

    pub(super) fn set(
        &mut self,
        name: Text<'s>,
        at: usize,
        value: Value<'s>,
        stands: AssignmentPosition,
    ) {
        let is_magic = is_magic(&name);
        if is_magic {
            // Some of them cannot be set at all.
            self.failures.add_possible();
        }
        let given = AssignmentRecord {
            // The shell itself sets these as well.
            value: if is_magic { Value::Unknown } else { value },
            position: stands,
            is_certain: self.is_sure,
            may_be_skipped: self.failures.are_possible(),
            at,
        };
        let variable = self.survey.variable_mut(name);
        variable.is_array |= matches!(value, Value::Array(_));
        variable.values.push(given);
    }

    /// Returns whether the current command may be skipped, because something before it fails.
    pub(super) fn may_be_skipped(&self) -> bool {
        self.failures.are_possible()
    }

    /// Records that from here on any assignment may fail.
    pub(super) fn assignments_may_fail(&mut self) {
        self.failures.add_everywhere();
    }

    /// Visits a node that counts as being at `stands`.
    fn at_position(&mut self, stands: AssignmentPosition, look: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.position, stands);
        look(self);
        self.position = before;
    }
}

impl<'s> Visitor<'s, 's> for Surveyor<'s> {
    /// Visits a nested script.
    fn script(&mut self, script: &'s Script<'s>) {
        self.at_position(AssignmentPosition::Other, |this| {
            visit::script(this, script);
        });
    }

    fn item(&mut self, item: &'s Item<'s>) {
        for (number, (_, pipeline)) in item.pipelines.iter().enumerate() {
            let is_first = number == 0 && item.runs == Runs::InOrder;
            let stands = match &pipeline.commands[..] {
                [_] if is_first => self.position,
                _ => AssignmentPosition::Other,
            };
            self.at_position(stands, |this| {
                for command in &pipeline.commands {
                    this.command(command);
                }
            });
        }
    }

    fn command(&mut self, command: &'s Command<'s>) {
        let stands = if command.redirects.is_empty() {
            self.position
        } else {
            // If its redirection fails, the assignment is not executed.
            AssignmentPosition::Other
        };
        self.at_position(stands, |this| visit::command(this, command));
    }

    fn simple(&mut self, simple: &'s SimpleCommand<'s>) {
        self.names_of_builtin(simple);
        let stands = if simple.words.is_empty() {
            self.position
        } else {
            // It applies to that command only, but commands started by it see it.
            AssignmentPosition::Other
        };
        self.at_position(stands, |this| visit::simple(this, simple));
    }

    fn each(&mut self, each: &'s For<'s>) {
        let value = each.words.as_deref().map_or(Value::Unknown, Value::OneOf);
        let at = each.variable_span.start();
        self.set(
            Cow::Borrowed(&each.variable),
            at,
            value,
            AssignmentPosition::Other,
        );
        visit::each(self, each);
    }

    fn assignment(&mut self, assignment: &'s Assignment<'s>) {
        visit::assignment(self, assignment);
        let value = match &assignment.value {
            AssignedValue::Word(word) => Value::String {
                head: "",
                rest: &word.parts,
            },
            AssignedValue::Array(elements) => Value::Array(elements),
        };
        // The result of `+=` and of a subscript differs from the assigned value.
        let stands = if !assignment.appends && assignment.subscript.is_none() {
            self.position
        } else {
            AssignmentPosition::Other
        };
        let name = Cow::Borrowed(assignment.name.as_ref());
        self.set(name.clone(), assignment.span.start(), value, stands);
        if let Some(subscript) = &assignment.subscript {
            self.failures.in_subscript(subscript);
            self.survey.variable_mut(name).is_array = true;
        }
    }

    fn parameter(&mut self, parameter: &'s Parameter<'s>) {
        visit::parameter(self, parameter);
        self.failures.in_parameter(parameter);
        if let Operation::Substitute {
            when: Substitute::Assign,
            word,
            ..
        } = &parameter.operation
        {
            let value = Value::String {
                head: "",
                rest: &word.parts,
            };
            let at = parameter.span.start();
            self.set(
                Cow::Borrowed(&parameter.name),
                at,
                value,
                AssignmentPosition::Other,
            );
        }
    }

    fn arithmetic(&mut self, arithmetic: &'s Arithmetic<'s>) {
        for (name, at) in assigned_in(arithmetic) {
            self.set(
                Cow::Borrowed(name),
                at,
                Value::Number,
                AssignmentPosition::Other,
            );
        }
        visit::arithmetic(self, arithmetic);
        self.failures.in_arithmetic(arithmetic);
    }
}

/// Returns whether an item only sets variables to plain text, which cannot fail.
fn is_plain_assignment(item: &Item<'_>) -> bool {
    item.pipelines.iter().all(|(_, pipeline)| {
        pipeline.commands.iter().all(|command| match &command.kind {
            CommandKind::Simple(simple) => {
                let is_plain = |assignment: &Assignment<'_>| match &assignment.value {
                    AssignedValue::Word(word) => {
                        assignment.subscript.is_none()
                            && !is_magic(&assignment.name)
                            && word.static_text().is_some()
                    }
                    AssignedValue::Array(_) => false,
                };
                simple.words.is_empty()
                    && command.redirects.is_empty()
                    && simple.assignments.iter().all(is_plain)
            }
            _ => false,
        })
    })
}
