//! Goes through a script and writes down what it does to its variables.

use std::borrow::Cow;

use super::arithmetic::assigned_in;
use super::failures::Failures;
use super::{Given, Stands, Survey, Value, is_magic};
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    Arithmetic, AssignedValue, Assignment, Command, CommandKind, For, Item, Operation, Parameter,
    Runs, Script, SimpleCommand, Substitute, Text,
};

/// One way through a script.
pub(super) struct Surveyor<'s> {
    pub(super) survey: Survey<'s>,
    /// Where the command stands that is looked at.
    pub(super) stands: Stands,
    /// Only plain assignments have been seen so far.
    is_sure: bool,
    failures: Failures<'s>,
}

impl<'s> Surveyor<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self {
            survey: Survey::default(),
            stands: Stands::AtTop,
            is_sure: true,
            failures: Failures::in_text(text),
        }
    }

    pub(super) fn look_through(mut self, script: &'s Script<'s>) -> Survey<'s> {
        for item in &script.items {
            self.stands = Stands::AtTop;
            self.failures.next_item(item.span);
            self.item(item);
            self.is_sure &= is_plain_assignment(item);
        }
        self.survey
    }

    pub(super) fn set(&mut self, name: Text<'s>, at: usize, value: Value<'s>, stands: Stands) {
        let is_magic = is_magic(&name);
        if is_magic {
            // Some of them cannot be set at all.
            self.failures.may_happen();
        }
        let given = Given {
            // The shell sets these by itself as well.
            value: if is_magic { Value::Unknown } else { value },
            stands,
            is_sure: self.is_sure,
            may_be_left_out: self.failures.are_possible(),
            at,
        };
        let variable = self.survey.variable_mut(name);
        variable.is_array |= matches!(value, Value::Array(_));
        variable.given.push(given);
    }

    /// Tells whether what stands here may be left out, because something in front of it fails.
    pub(super) fn may_be_left_out(&self) -> bool {
        self.failures.are_possible()
    }

    /// Takes notice that from here on any assignment may fail.
    pub(super) fn assignments_may_fail(&mut self) {
        self.failures.may_always_happen();
    }

    /// Looks at something while it counts as standing at `stands`.
    fn standing(&mut self, stands: Stands, look: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.stands, stands);
        look(self);
        self.stands = before;
    }
}

impl<'s> Visitor<'s, 's> for Surveyor<'s> {
    /// Looks at a script inside of the script.
    fn script(&mut self, script: &'s Script<'s>) {
        self.standing(Stands::Elsewhere, |this| visit::script(this, script));
    }

    fn item(&mut self, item: &'s Item<'s>) {
        for (number, (_, pipeline)) in item.pipelines.iter().enumerate() {
            let is_first = number == 0 && item.runs == Runs::InOrder;
            let stands = match &pipeline.commands[..] {
                [_] if is_first => self.stands,
                _ => Stands::Elsewhere,
            };
            self.standing(stands, |this| {
                for command in &pipeline.commands {
                    this.command(command);
                }
            });
        }
    }

    fn command(&mut self, command: &'s Command<'s>) {
        let stands = if command.redirects.is_empty() {
            self.stands
        } else {
            // With a redirection that fails it is not carried out.
            Stands::Elsewhere
        };
        self.standing(stands, |this| visit::command(this, command));
    }

    fn simple(&mut self, simple: &'s SimpleCommand<'s>) {
        self.names_of_builtin(simple);
        let stands = if simple.words.is_empty() {
            self.stands
        } else {
            // For that command alone, but what it runs sees it.
            Stands::Elsewhere
        };
        self.standing(stands, |this| visit::simple(this, simple));
    }

    fn each(&mut self, each: &'s For<'s>) {
        let value = each.words.as_deref().map_or(Value::Unknown, Value::OneOf);
        let at = each.variable_span.start();
        self.set(Cow::Borrowed(&each.variable), at, value, Stands::Elsewhere);
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
        // What `+=` and a subscript leave is not what the assignment says.
        let stands = if !assignment.appends && assignment.subscript.is_none() {
            self.stands
        } else {
            Stands::Elsewhere
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
            self.set(Cow::Borrowed(&parameter.name), at, value, Stands::Elsewhere);
        }
    }

    fn arithmetic(&mut self, arithmetic: &'s Arithmetic<'s>) {
        for (name, at) in assigned_in(arithmetic) {
            self.set(Cow::Borrowed(name), at, Value::Number, Stands::Elsewhere);
        }
        visit::arithmetic(self, arithmetic);
        self.failures.in_arithmetic(arithmetic);
    }
}

/// Tells whether an item only sets variables to plain text, which cannot fail.
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
