//! Goes through a script and judges every command in it.

use super::arg::Arg;
use super::assignments::{self, Setting};
use super::directories::Directories;
use super::report::Report;
use super::resolve::arguments;
use super::scope::Scope;
use super::survey::assigned_in;
use super::{conditions, judge, numeric, pipes, protected_state, redirects};
use crate::policy::Policy;
use crate::syntax::{
    ArgWord, Arithmetic, ArithmeticToken, AssignedValue, Assignment, Brace, Command, CommandKind,
    Connector, Item, Operation, Parameter, Part, Pipeline, Redirect, RedirectTarget, Runs, Script,
    SimpleCommand, Span, Substitute, Word,
};
use crate::{Denial, ResolveSymlinks, Rule};

/// One walk through one script.
pub(crate) struct Walk<'w, 's> {
    pub(crate) policy: &'w Policy,
    pub(crate) scope: &'w Scope<'s>,
    pub(crate) report: &'w Report,
    pub(crate) links: Option<&'w dyn ResolveSymlinks>,
    /// How many wrappers stand around this script: `bash -c`, each of them a text of its own.
    pub(crate) depth: usize,
}

type Checked = Result<(), Denial>;

impl<'w, 's> Walk<'w, 's> {
    /// Judges what runs one after another. Afterwards, `here` is where the shell may be.
    pub(crate) fn script(&self, script: &'s Script<'s>, here: &mut Directories<'w>) -> Checked {
        for item in &script.items {
            match item.runs {
                Runs::InOrder => self.item(item, here)?,
                // A job of its own does not move the shell.
                Runs::InBackground => self.item(item, &mut here.clone())?,
            }
        }
        Ok(())
    }

    /// Judges what runs in a shell of its own, which does not move this one.
    fn apart(&self, script: &'s Script<'s>, here: &Directories<'w>) -> Checked {
        self.script(script, &mut here.clone())
    }

    fn item(&self, item: &'s Item<'s>, here: &mut Directories<'w>) -> Checked {
        if let [(_, pipeline)] = &item.pipelines[..] {
            if let Some(moved) = self.pipeline(pipeline, here)? {
                here.include(&moved);
            }
            return Ok(());
        }
        // Where the next one runs, and wherever the item has been.
        let (mut now, mut seen) = (here.clone(), here.clone());
        for (connector, pipeline) in &item.pipelines {
            if *connector == Connector::Or {
                now = seen.clone();
            }
            if let Some(moved) = self.pipeline(pipeline, &now)? {
                seen.include(&moved);
                now = match connector {
                    // It may have been left out, because what stands in front succeeded.
                    Connector::Or => seen.clone(),
                    Connector::First | Connector::And => moved,
                };
            }
        }
        *here = seen;
        Ok(())
    }

    /// Judges a pipeline, and returns where the shell is if it succeeded and moved.
    fn pipeline(
        &self,
        pipeline: &'s Pipeline<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        let [command] = &pipeline.commands[..] else {
            // Each runs in a shell of its own.
            for command in &pipeline.commands {
                self.command(command, here)?;
            }
            pipes::check(self, pipeline)?;
            return Ok(None);
        };
        let moved = self.command(command, here)?;
        Ok(match (moved, pipeline.negated) {
            // With `!` it goes on where the command failed.
            (Some(mut moved), true) => {
                moved.include(here);
                Some(moved)
            }
            (moved, _) => moved,
        })
    }

    fn command(
        &self,
        command: &'s Command<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        if let CommandKind::Simple(simple) = &command.kind {
            let judged = self.simple(simple, command, here);
            return self.report.command(simple, command.span, judged);
        }
        let moved = self.compound(command, here)?;
        for redirect in &command.redirects {
            let judged = self.redirect(redirect, here);
            self.report.other(redirect.span, judged)?;
        }
        Ok(moved)
    }

    fn compound(
        &self,
        command: &'s Command<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        let mut after = here.clone();
        match &command.kind {
            CommandKind::Simple(_) => {}
            CommandKind::Subshell(script) => self.apart(script, here)?,
            CommandKind::Group(script) => self.script(script, &mut after)?,
            CommandKind::If(choice) => {
                let mut tested = here.clone();
                for branch in &choice.branches {
                    self.script(&branch.condition, &mut tested)?;
                    let mut done = tested.clone();
                    self.script(&branch.body, &mut done)?;
                    after.include(&done);
                }
                if let Some(script) = &choice.otherwise {
                    self.script(script, &mut tested)?;
                }
                after.include(&tested);
            }
            CommandKind::While(repeat) => self.repeated(here, &mut after, |now| {
                self.script(&repeat.condition, now)?;
                self.script(&repeat.body, now)
            })?,
            CommandKind::For(each) => {
                let judged = assignments::check_name(&each.variable, each.variable_span);
                self.report.other(each.variable_span, judged)?;
                for word in each.words.iter().flatten() {
                    self.word(word, here)?;
                }
                self.repeated(here, &mut after, |now| self.script(&each.body, now))?;
            }
            CommandKind::ArithmeticFor(each) => {
                for clause in &each.clauses {
                    self.arithmetic(clause, here)?;
                }
                self.repeated(here, &mut after, |now| self.script(&each.body, now))?;
            }
            CommandKind::Case(case) => {
                self.word(&case.subject, here)?;
                // With `;&` an arm goes on into the next one, from wherever it is then.
                let mut start = here.clone();
                for arm in &case.arms {
                    for pattern in &arm.patterns {
                        self.word(pattern, here)?;
                    }
                    let mut done = start.clone();
                    self.script(&arm.body, &mut done)?;
                    start.include(&done);
                    after.include(&done);
                }
            }
            CommandKind::Condition(condition) => conditions::check(self, condition, here)?,
            CommandKind::Arithmetic(arithmetic) => self.arithmetic(arithmetic, here)?,
        }
        Ok((after != *here).then_some(after))
    }

    /// Judges what may run several times. If it moves the shell, the next time begins elsewhere.
    fn repeated(
        &self,
        here: &Directories<'w>,
        after: &mut Directories<'w>,
        body: impl Fn(&mut Directories<'w>) -> Checked,
    ) -> Checked {
        let mut now = here.clone();
        body(&mut now)?;
        if now != *here {
            now.include(here);
            now.include_below();
            body(&mut now)?;
        }
        after.include(&now);
        Ok(())
    }

    fn simple(
        &self,
        simple: &'s SimpleCommand<'s>,
        command: &'s Command<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        for assignment in &simple.assignments {
            self.assigned(assignment, here)?;
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
            Some(name) if name.is("read") => Setting::ForRead,
            _ => Setting::Other,
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
            walk: self,
            here,
            args: &args,
            arrays: &arrays,
            depth: self.depth,
        }
        .judge()?;
        self.inputs(judged.name, &command.redirects)?;
        Ok(judged.moved)
    }

    /// Checks that the first word is no expansion: an empty one would leave the name to the next.
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
        match first.parts.iter().all(is_text) {
            true => Ok(()),
            // Commands in it come first in the text.
            false => {
                let reason = "the name of the command is not known before it runs";
                Err(Denial::by(Rule::R5, first.span, reason).instead("write the name literally"))
            }
        }
    }

    /// Checks what here-documents and here-strings hand to the command `name`.
    fn inputs(&self, name: &str, redirects: &'s [Redirect<'s>]) -> Checked {
        if redirects.is_empty() || protected_state::is_reader(name) {
            return Ok(());
        }
        for redirect in redirects {
            let parts = match &redirect.target {
                RedirectTarget::HereDocument(document) => &document.body[..],
                RedirectTarget::Word(word)
                    if redirect.operator == crate::syntax::RedirectOperator::HereString =>
                {
                    &word.parts[..]
                }
                RedirectTarget::Word(_) => continue,
            };
            if super::arg::mention(parts, protected_state::is_mentioned_in) {
                return Err(protected_state::deny(name, redirect.span));
            }
        }
        Ok(())
    }

    /// Judges the commands in what is assigned.
    fn assigned(&self, assignment: &'s Assignment<'s>, here: &Directories<'w>) -> Checked {
        if let Some(subscript) = &assignment.subscript {
            self.subscript(&assignment.name, subscript, here)?;
        }
        match &assignment.value {
            AssignedValue::Word(word) => self.word(word, here),
            AssignedValue::Array(elements) => {
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.subscript(&assignment.name, subscript, here)?;
                    }
                    self.word(&element.value, here)?;
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

    fn redirect(&self, redirect: &'s Redirect<'s>, here: &Directories<'w>) -> Checked {
        match &redirect.target {
            RedirectTarget::Word(word) => self.word(word, here)?,
            RedirectTarget::HereDocument(document) => self.parts(&document.body, here)?,
        }
        redirects::check(self, here, redirect)
    }

    /// Judges the commands in a word, and the arithmetic.
    pub(crate) fn word(&self, word: &'s Word<'s>, here: &Directories<'w>) -> Checked {
        self.parts(&word.parts, here)
    }

    fn parts(&self, parts: &'s [Part<'s>], here: &Directories<'w>) -> Checked {
        for part in parts {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
                Part::DoubleQuoted(inner) => self.parts(inner, here)?,
                Part::Brace(brace) => {
                    if let Brace::Alternatives(alternatives) = brace.as_ref() {
                        for alternative in alternatives {
                            self.parts(alternative, here)?;
                        }
                    }
                }
                Part::Parameter(parameter) => self.parameter(parameter, here)?,
                Part::CommandSubstitution(inner) | Part::ProcessSubstitution(inner) => {
                    self.apart(&inner.script, here)?;
                }
                Part::Arithmetic(arithmetic) => self.arithmetic(arithmetic, here)?,
            }
        }
        Ok(())
    }

    fn parameter(&self, parameter: &'s Parameter<'s>, here: &Directories<'w>) -> Checked {
        if let Some(subscript) = &parameter.subscript {
            self.subscript(&parameter.name, subscript, here)?;
        }
        match &parameter.operation {
            Operation::Value | Operation::Length | Operation::Keys | Operation::Names => Ok(()),
            Operation::Transform(_) => Ok(()),
            Operation::Substitute { when, word, .. } => {
                self.word(word, here)?;
                match when {
                    Substitute::Assign => assignments::check_name(&parameter.name, parameter.span),
                    _ => Ok(()),
                }
            }
            Operation::Trim { pattern } | Operation::ChangeCase { pattern } => {
                self.word(pattern, here)
            }
            Operation::Replace {
                pattern,
                replacement,
            } => {
                self.word(pattern, here)?;
                replacement
                    .iter()
                    .try_for_each(|word| self.word(word, here))
            }
            Operation::Substring { offset, length } => {
                self.arithmetic(offset, here)?;
                length
                    .iter()
                    .try_for_each(|length| self.arithmetic(length, here))
            }
        }
    }

    fn subscript(
        &self,
        name: &str,
        subscript: &'s crate::syntax::Subscript<'s>,
        here: &Directories<'w>,
    ) -> Checked {
        if let crate::syntax::Subscript::Index(index) = subscript {
            self.commands_in(index, here)?;
            self.assigned_names(index)?;
        }
        numeric::check_subscript(self.scope, name, Some(subscript))
    }

    fn arithmetic(&self, arithmetic: &'s Arithmetic<'s>, here: &Directories<'w>) -> Checked {
        self.commands_in(arithmetic, here)?;
        self.assigned_names(arithmetic)?;
        numeric::check(self.scope, arithmetic)
    }

    fn assigned_names(&self, arithmetic: &Arithmetic<'_>) -> Checked {
        for (name, at) in assigned_in(arithmetic) {
            assignments::check_name(name, Span::new(at, at + name.len()))?;
        }
        Ok(())
    }

    fn commands_in(&self, arithmetic: &'s Arithmetic<'s>, here: &Directories<'w>) -> Checked {
        for token in &arithmetic.tokens {
            if let ArithmeticToken::Part(part) = token {
                self.parts(std::slice::from_ref(part), here)?;
            }
        }
        Ok(())
    }
}

/// Returns the arrays that are handed to a declaration.
fn arrays_of<'s>(simple: &'s SimpleCommand<'s>) -> Vec<&'s Assignment<'s>> {
    let arrays = simple.words.iter().filter_map(|word| match word {
        ArgWord::Array(assignment) => Some(assignment.as_ref()),
        ArgWord::Word(_) => None,
    });
    arrays.collect()
}
