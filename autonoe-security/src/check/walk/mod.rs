//! Traverses a script and judges every command in it.

mod expansions;
mod looped_names;
mod simple;

use super::commands::searched_names;
use super::context::Context;
use super::directories::Directories;
use super::{assignments, conditions, credentials, pipes, processes};
use crate::Denial;
use crate::syntax::{
    Arithmetic, ArithmeticToken, Command, CommandKind, Connector, Item, Runs, Script, ShellPipeline,
};

type Checked = Result<(), Denial>;

impl<'w, 's> Context<'w, 's> {
    /// Judges sequential commands. Afterwards, `here` contains the possible directories of the
    /// shell.
    pub(crate) fn script(&self, script: &'s Script<'s>, here: &mut Directories<'w>) -> Checked {
        for item in &script.items {
            match item.runs {
                Runs::InOrder => self.item(item, here)?,
                // A background job does not change the directory of the shell.
                Runs::InBackground => self.item(item, &mut here.clone())?,
            }
        }
        Ok(())
    }

    /// Judges commands in a subshell, which does not change the directory of this shell.
    fn in_subshell(&self, script: &'s Script<'s>, here: &Directories<'w>) -> Checked {
        self.script(script, &mut here.clone())
    }

    fn item(&self, item: &'s Item<'s>, here: &mut Directories<'w>) -> Checked {
        if let [(_, pipeline)] = &item.pipelines[..] {
            if let Some(moved) = self.pipeline(pipeline, here)? {
                here.include(&moved);
            }
            return Ok(());
        }
        // The directories for the next pipeline, and all directories that the item has visited.
        let (mut now, mut parsed) = (here.clone(), here.clone());
        for (connector, pipeline) in &item.pipelines {
            if *connector == Connector::Or {
                now = parsed.clone();
            }
            if let Some(moved) = self.pipeline(pipeline, &now)? {
                parsed.include(&moved);
                now = match connector {
                    // It may have been skipped, because the previous one succeeded.
                    Connector::Or => parsed.clone(),
                    Connector::First | Connector::And => moved,
                };
            }
        }
        *here = parsed;
        Ok(())
    }

    /// Judges a pipeline, and returns the directories of the shell if it succeeded and changed
    /// them.
    fn pipeline(
        &self,
        pipeline: &'s ShellPipeline<'s>,
        here: &Directories<'w>,
    ) -> Result<Option<Directories<'w>>, Denial> {
        let [command] = &pipeline.commands[..] else {
            // Each runs in its own subshell.
            for (at, command) in pipeline.commands.iter().enumerate() {
                let before = &pipeline.commands[..at];
                let names = if pipeline.pipes_errors {
                    Vec::new()
                } else {
                    searched_names::read(self, before, command, here)
                };
                match &command.kind {
                    CommandKind::Simple(simple) if !names.is_empty() => {
                        let judged = self.simple(simple, command, &names, here);
                        self.report.command(simple, command.span, judged)?;
                    }
                    CommandKind::Simple(simple)
                        if !pipeline.pipes_errors
                            && processes::ends_listed(self.scope, before, command) =>
                    {
                        let mut redirects = command.redirects.iter();
                        let judged = redirects.try_for_each(|it| self.redirect(it, here));
                        self.report.command(simple, command.span, judged)?;
                    }
                    _ => {
                        self.command(command, here)?;
                    }
                }
            }
            pipes::check(self, pipeline)?;
            return Ok(None);
        };
        let moved = self.command(command, here)?;
        Ok(match (moved, pipeline.negated) {
            // With `!` it continues where the command failed.
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
            let judged = self.simple(simple, command, &[], here);
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
            CommandKind::Subshell(script) => self.in_subshell(script, here)?,
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
                    let judged = credentials::check_value(self, here, &word.parts, word.span);
                    self.report.other(word.span, judged)?;
                }
                self.scope.in_loop(&each.variable, || {
                    self.repeated(here, &mut after, |now| self.script(&each.body, now))
                })?;
            }
            CommandKind::ArithmeticFor(each) => {
                for clause in &each.clauses {
                    self.arithmetic(clause, here)?;
                }
                let mut judge =
                    || self.repeated(here, &mut after, |now| self.script(&each.body, now));
                match first_assigned(&each.clauses[0]) {
                    Some(variable) => self.scope.in_loop(variable, judge)?,
                    None => judge()?,
                }
            }
            CommandKind::Case(case) => {
                self.word(&case.subject, here)?;
                // With `;&` an arm falls through to the next one, in whatever directory it is then.
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

    /// Judges commands that may run several times. If they change the directory, the next iteration
    /// starts in another one.
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
}

/// Returns the variable that an expression sets first: `i` of `i = 0`.
fn first_assigned<'t>(arithmetic: &'t Arithmetic<'_>) -> Option<&'t str> {
    match &arithmetic.tokens[..] {
        [
            ArithmeticToken::Name { name, .. },
            ArithmeticToken::Operator(operator),
            ArithmeticToken::Number(_),
            ..,
        ] if operator == "=" => Some(name),
        _ => None,
    }
}
