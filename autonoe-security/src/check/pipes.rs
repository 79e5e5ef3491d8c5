//! Pipelines that would run code from the network.

use super::call::Checked;
use super::context::Context;
use super::path;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    ArgWord, Command, CommandKind, Item, Script, ShellPipeline, SimpleCommand, Span, Text,
    commands_in,
};
use crate::{Denial, Rule};

const DOWNLOADS: &[&str] = words!("curl wget");

const INTERPRETERS: &[&str] =
    words!("node deno bun tsx ts-node python python3 ruby irb php bash sh zsh dash ksh");

/// Compilers whose messages quote lines of the files that a program includes, and shells of a
/// language.
const COMPILERS: &[&str] = words!("rustc gcc g++ cc c++ clang clang++ jshell julia perl Rscript");

/// Programs that start another one, whose name is among their words.
const STARTERS: &[&str] = words!(
    "sudo timeout command env nohup nice stdbuf setsid time xargs find npx bunx npm pnpm yarn uv",
    "poetry pdm pipenv hatch pipx conda bundle bundler rustup composer",
);

/// Checks that no download is piped into an interpreter.
pub(crate) fn check(context: &Context<'_, '_>, pipeline: &ShellPipeline<'_>) -> Checked {
    let added = context.policy.extensions();
    let may_download = added
        .iter()
        .any(|name| DOWNLOADS.contains(&path::file_name(name)));
    if !may_download {
        return Ok(());
    }
    let mut downloads = false;
    for command in &pipeline.commands {
        if downloads && runs(command, INTERPRETERS) {
            let reason = "code from the network is piped into an interpreter";
            return Err(Denial::by(Rule::R56, command.span, reason)
                .instead("download to a file and read it first"));
        }
        downloads |= runs(command, DOWNLOADS);
    }
    Ok(())
}

/// Returns whether a script pipes text into an interpreter or a compiler, anywhere in it.
pub(crate) fn feeds_interpreter(script: &Script<'_>) -> bool {
    struct Pipes(bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Pipes {
        fn item(&mut self, item: &'t Item<'a>) {
            let mut behind = item
                .pipelines
                .iter()
                .flat_map(|(_, it)| it.commands.iter().skip(1));
            self.0 |= behind.any(|command| runs(command, INTERPRETERS) || runs(command, COMPILERS));
            visit::item(self, item);
        }
    }
    let mut pipes = Pipes(false);
    pipes.script(script);
    pipes.0
}

/// Returns whether the command at `span` reads the output of another one.
pub(crate) fn reads_pipe(script: &Script<'_>, span: Span) -> bool {
    struct Reads(Span, bool);
    impl<'t, 'a: 't> Visitor<'t, 'a> for Reads {
        fn item(&mut self, item: &'t Item<'a>) {
            let mut behind = item
                .pipelines
                .iter()
                .flat_map(|(_, it)| it.commands.iter().skip(1));
            self.1 |= behind.any(|command| {
                command.redirects.is_empty()
                    && matches!(command.kind, CommandKind::Simple(_))
                    && command.span.start() <= self.0.start()
                    && self.0.end() <= command.span.end()
            });
            visit::item(self, item);
        }
    }
    let mut reads = Reads(span, false);
    reads.script(script);
    reads.1
}

/// Returns whether one of the programs is started anywhere in `command`.
fn runs(command: &Command<'_>, programs: &[&str]) -> bool {
    let mut started = commands_in(command).flat_map(programs_of);
    started.any(|word| programs.contains(&path::file_name(&word)))
}

/// Returns the words that may be the program: the name, and the command that a starter starts.
fn programs_of<'t>(simple: &'t SimpleCommand<'_>) -> Vec<Text<'t>> {
    let mut words: Vec<Text<'_>> = simple
        .words
        .iter()
        .filter_map(ArgWord::static_text)
        .collect();
    let is_starter = words
        .first()
        .is_some_and(|name| STARTERS.contains(&path::file_name(name)));
    if !is_starter {
        words.truncate(1);
    }
    words
}
