//! Judges a simple command.

use super::{Checked, looped_names};
use crate::check::arg::{Arg, mention};
use crate::check::assignments::{self, Setting};
use crate::check::context::Context;
use crate::check::directories::Directories;
use crate::check::resolve::arguments;
use crate::check::{credentials, judge, process_memory, protected_state, redirects};
use crate::syntax::{
    ArgWord, AssignedValue, Assignment, Command, Part, Redirect, RedirectOperator, RedirectTarget,
    SimpleCommand, Word,
};
use crate::{Denial, Rule};

impl<'w, 's> Context<'w, 's> {
    pub(super) fn simple(
        &self,
        simple: &'s SimpleCommand<'s>,
        command: &'s Command<'s>,
        found_names: &[Arg<'s>],
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        for assignment in &simple.assignments {
            self.assigned(assignment, here)?;
        }
        if let Some(names) = looped_names::read(self, simple) {
            return self.named_by_loop(&names, simple, command, here);
        }
        self.name_is_written_out(simple)?;
        let mut args: Vec<Arg<'s>> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            match word {
                ArgWord::Word(word) => {
                    self.word(word, here)?;
                    arguments(word, self.scope, &mut args)?;
                }
                ArgWord::Array(assignment) => self.assigned(assignment, here)?,
            }
        }
        let setting = match args.first() {
            _ if simple.words.is_empty() => Setting::Unexported,
            Some(name) if name.is("read") => Setting::ForRead,
            _ => Setting::Exported,
        };
        for assignment in &simple.assignments {
            self.assignment(assignment, setting, here)?;
        }
        for redirect in &command.redirects {
            self.redirect(redirect, here)?;
        }
        if args.is_empty() {
            return Ok(None);
        }
        let arrays = arrays_of(simple);
        let judged = judge::Argv {
            context: self,
            directories: here,
            args: &args,
            arrays: &arrays,
            wrapper_variables: &[],
            input: literal_input(&command.redirects),
            input_file: input_file(&command.redirects),
            found_names,
            depth: self.depth,
        }
        .judge()?;
        self.inputs(judged.name, &args, &command.redirects, here)?;
        Ok(judged.new_directories)
    }

    /// Judges a command once for each of its possible names.
    fn named_by_loop(
        &self,
        names: &[String],
        simple: &'s SimpleCommand<'s>,
        command: &'s Command<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        for redirect in &command.redirects {
            self.redirect(redirect, here)?;
        }
        let mut args: Vec<Arg<'s>> = Vec::with_capacity(simple.words.len());
        for word in &simple.words {
            args.push(Arg::plain(
                word.static_text().unwrap_or_default(),
                word.span(),
            ));
        }
        for name in names {
            args[0] = Arg::plain(name.clone(), args[0].span);
            let judged = judge::Argv {
                context: self,
                directories: here,
                args: &args,
                arrays: &[],
                wrapper_variables: &[],
                input: None,
                input_file: None,
                found_names: &[],
                depth: self.depth,
            }
            .judge()?;
            self.inputs(judged.name, &args, &command.redirects, here)?;
            self.report.inner(name, simple.span);
        }
        Ok(None)
    }

    /// Checks that the first word is not an expansion: if it were empty, the next word would be the
    /// name.
    fn name_is_written_out(&self, simple: &'s SimpleCommand<'s>) -> Checked {
        let Some(ArgWord::Word(first)) = simple.words.first() else {
            return Ok(());
        };
        let is_text = |part: &Part<'_>| {
            matches!(
                part,
                Part::Literal(_)
                    | Part::Quoted(_)
                    | Part::DoubleQuoted(_)
                    | Part::Glob(_)
                    | Part::Tilde(_)
                    | Part::Brace(_)
            )
        };
        if first.parts.iter().all(is_text) {
            Ok(())
        } else {
            // Commands in it come first in the text.

            let reason = "the name of the command is unknown until it runs";
            Err(Denial::by(Rule::R5, first.span, reason).instead("write the name literally"))
        }
    }

    /// Checks the input that here-documents and here-strings pass to the command `name`.
    fn inputs(
        &self,
        name: &str,
        args: &[Arg<'_>],
        redirects: &'s [Redirect<'s>],
        here: &Directories<'w>,
    ) -> Checked {
        if redirects.is_empty() {
            return Ok(());
        }
        let is_patch = name == "git" && args.iter().any(protected_state::applies_input);
        let known = self.policy.known(name);
        if !is_patch && known.is_some_and(|known| known.only_reads) {
            return Ok(());
        }
        let project = self.policy.project_dir();
        let is_mentioned_in = |text: &str| {
            if is_patch {
                protected_state::is_mentioned_in_patch(text, project)
            } else {
                protected_state::is_mentioned_in(text, project)
            }
        };
        for redirect in redirects {
            let parts = match &redirect.target {
                RedirectTarget::HereDocument(document) => &document.body[..],
                RedirectTarget::Word(word) if redirect.operator == RedirectOperator::HereString => {
                    &word.parts[..]
                }
                RedirectTarget::Word(_) => continue,
            };
            if mention(parts, is_mentioned_in) {
                let is_run_state = mention(parts, protected_state::names_run_state);
                return Err(protected_state::deny(name, is_run_state, redirect.span));
            }
            if is_patch && mention(parts, protected_state::makes_symlink) {
                let reason = "the input of git makes a symlink";
                return Err(Denial::by(Rule::R93, redirect.span, reason)
                    .instead("edit the files of the project instead"));
            }
            process_memory::check_word(parts, redirect.span)?;
            credentials::check_program_input(self, here, name, parts, redirect.span)?;
        }
        Ok(())
    }

    /// Judges the commands in the assigned value.
    fn assigned(&self, assignment: &'s Assignment<'s>, here: &Directories<'w>) -> Checked {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(&assignment.name, subscript, here)?;
        }
        match &assignment.value {
            AssignedValue::Word(word) => {
                self.word(word, here)?;
                credentials::check_value(self, here, &word.parts, word.span)
            }
            AssignedValue::Array(elements) => {
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.subscript(&assignment.name, subscript, here)?;
                    }
                    self.word(&element.value, here)?;
                    let value = &element.value;
                    credentials::check_value(self, here, &value.parts, value.span)?;
                }
                Ok(())
            }
        }
    }

    /// Checks the variable that is assigned to.
    fn assignment(
        &self,
        assignment: &'s Assignment<'s>,
        setting: Setting,
        here: &Directories<'w>,
    ) -> Checked {
        let is_whole = !assignment.appends && assignment.subscript.is_none();
        let value = match &assignment.value {
            AssignedValue::Word(word) if is_whole => Some(&word.parts[..]),
            _ => None,
        };
        let (name, span) = (&assignment.name, assignment.span);
        assignments::check(self.policy, here, name, value, setting, span)
    }

    pub(super) fn redirect(&self, redirect: &'s Redirect<'s>, here: &Directories<'w>) -> Checked {
        match &redirect.target {
            RedirectTarget::Word(word) => self.word(word, here)?,
            RedirectTarget::HereDocument(document) => self.parts(&document.body, here)?,
        }
        redirects::check(self, here, redirect)
    }
}

/// Returns the text of the here-document that is the only redirection, if it is literal.
fn literal_input<'s>(redirects: &'s [Redirect<'s>]) -> Option<&'s str> {
    match redirects {
        [
            Redirect {
                target: RedirectTarget::HereDocument(document),
                descriptor: None,
                ..
            },
        ] => match &document.body[..] {
            [Part::Quoted(text)] => Some(text),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the file of the only redirection of the input.
fn input_file<'s>(redirects: &'s [Redirect<'s>]) -> Option<&'s Word<'s>> {
    let mut inputs = redirects.iter().filter(|redirect| {
        use RedirectOperator::{DuplicateInput, HereDocument, HereString, Read, ReadWrite};
        let reads = matches!(
            redirect.operator,
            Read | ReadWrite | DuplicateInput | HereDocument | HereString
        );
        reads || redirect.descriptor == Some(0)
    });
    match (inputs.next(), inputs.next()) {
        (Some(only), None) if only.operator == RedirectOperator::Read => match &only.target {
            RedirectTarget::Word(word) if matches!(only.descriptor, None | Some(0)) => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the arrays passed to a declaration.
fn arrays_of<'s>(simple: &'s SimpleCommand<'s>) -> Vec<&'s Assignment<'s>> {
    let arrays = simple.words.iter().filter_map(|word| match word {
        ArgWord::Array(assignment) => Some(assignment.as_ref()),
        ArgWord::Word(_) => None,
    });
    arrays.collect()
}
