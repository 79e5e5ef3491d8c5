//! Files in which a script keeps the id of its own job: `server & echo $! > FILE`.

use super::pid_file_writers::may_write_again;
use super::{is_last_job, simple};
use crate::check::call::{Call, Owner};
use crate::check::path;
use crate::check::scope::Scope;
use crate::policy::Mode;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{
    ArgWord, Command, CommandKind, Connector, Item, Part, RedirectOperator, RedirectTarget, Runs,
    Script, ShellPipeline, SimpleCommand, Span,
};

/// The least number of bytes of a name that is not a part of other words by accident.
const SHORTEST_NAME: usize = 5;

/// Returns whether a script is `cat FILE`, and the text has certainly written `$!` to that file
/// before.
pub(super) fn prints_own(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let Some(file) = printed_file(script).filter(|file| has_one_writer(scope, file)) else {
        return false;
    };
    is_written_before(scope, script.span, &|items, last| {
        let certain = items.iter().any(|item| first_writes(item, &file));
        // The pipelines before it in the same list have all succeeded.
        let joined = || last.iter().any(|pipeline| writes(pipeline, &file));
        certain || joined()
    })
}

/// Returns whether the parts of a word are `$(cat FILE)`, and a server that the text starts before
/// writes its id to that file, if the commands in front of it succeed.
///
/// Otherwise the file may be an old one. This is for policies under which code of the project, which
/// could end any process of the user, runs anyway.
pub(crate) fn may_be_own(call: &Call<'_, '_, '_>, parts: &[Part<'_>]) -> bool {
    if call.mode() != Mode::Run || !call.policy().runs_code() {
        return false;
    }
    let script = match parts {
        [Part::CommandSubstitution(inner)] => &inner.script,
        [Part::DoubleQuoted(inner)] => match &inner[..] {
            [Part::CommandSubstitution(inner)] => &inner.script,
            _ => return false,
        },
        _ => return false,
    };
    let scope = call.context.scope;
    let file = printed_file(script).filter(|file| has_one_writer(scope, file));
    let Some(file) = file.filter(|file| call.is_in_reach(file)) else {
        return false;
    };
    let starts = |pipeline: &ShellPipeline<'_>| {
        starts_and_writes(pipeline, &file) || is_server_with(pipeline, &file)
    };
    is_written_before(scope, script.span, &|items, _| {
        items.iter().any(|item| {
            let at = item.pipelines.iter().position(|(_, it)| starts(it));
            at.is_some_and(|at| {
                let (before, server) = item.pipelines.split_at(at);
                let is_joined = |connector: Connector| connector != Connector::Or;
                is_joined(server[0].0)
                    && before
                        .iter()
                        .all(|(connector, it)| is_joined(*connector) && prepares(call, it))
            })
        })
    })
}

/// Returns the file that `cat FILE` or `< FILE` prints.
fn printed_file(script: &Script<'_>) -> Option<String> {
    let command = script.only_command()?;
    if let (CommandKind::Simple(alone), [redirect]) = (&command.kind, &command.redirects[..])
        && alone.words.is_empty()
        && alone.assignments.is_empty()
        && redirect.operator == RedirectOperator::Read
        && let RedirectTarget::Word(file) = &redirect.target
    {
        return file.static_text().map(|file| file.to_string());
    }
    let words = simple(command)?.static_words()?;
    match &words[..] {
        [name, file] if name == "cat" => Some(file.to_string()),
        _ => None,
    }
}

/// Returns whether the text names `file` once, apart from `$(cat FILE)`, and writes it once at most.
fn has_one_writer(scope: &Scope<'_>, file: &str) -> bool {
    let name = path::file_name(file);
    let reads = ["cat ", "<", "< "].map(|read| format!("$({read}{file})"));
    let count = |read: &String| scope.text().matches(read.as_str()).count();
    let reads: usize = reads.iter().map(count).sum();
    name.len() >= SHORTEST_NAME
        && scope.text().matches(name).count() == reads.max(1) + 1
        && scope.reserve_search()
        && !may_write_again(scope.script(), file)
}

/// Returns whether `holds` is true for the items before `span` in one of the lists around it, and
/// the pipelines that have succeeded before it in its own item.
fn is_written_before(
    scope: &Scope<'_>,
    span: Span,
    holds: &dyn Fn(&[Item<'_>], &[ShellPipeline<'_>]) -> bool,
) -> bool {
    if !scope.reserve_search() {
        return false;
    }
    let mut lists = Lists {
        span,
        holds,
        found: false,
    };
    lists.script(scope.script());
    lists.found
}

struct Lists<'h> {
    span: Span,
    holds: &'h dyn Fn(&[Item<'_>], &[ShellPipeline<'_>]) -> bool,
    found: bool,
}

impl<'t, 'a: 't> Visitor<'t, 'a> for Lists<'_> {
    fn script(&mut self, script: &'t Script<'a>) {
        let contains =
            |span: Span| span.start() <= self.span.start() && self.span.end() <= span.end();
        if self.found || !contains(script.span) {
            return;
        }
        let at = script.items.iter().position(|item| contains(item.span));
        if let Some(at) = at {
            let pipelines = &script.items[at].pipelines;
            let succeeded = pipelines
                .iter()
                .take_while(|(connector, it)| {
                    *connector != Connector::Or && !it.negated && !contains(it.span)
                })
                .map(|(_, pipeline)| pipeline.clone());
            let succeeded: Vec<ShellPipeline<'_>> = succeeded.collect();
            let next = pipelines.get(succeeded.len());
            // With `||` in between, they may have failed.
            let are_joined = next
                .is_some_and(|(connector, it)| *connector == Connector::And && contains(it.span));
            let succeeded = if are_joined { &succeeded[..] } else { &[] };
            self.found = (self.holds)(&script.items[..at], succeeded);
        }
        visit::script(self, script);
    }
}

/// Returns whether an item certainly starts with a command that writes `$!` to `file`.
fn first_writes(item: &Item<'_>, file: &str) -> bool {
    let first = item.pipelines.first();
    first.is_some_and(|(_, pipeline)| writes(pipeline, file))
}

/// Returns whether a pipeline is a subshell or a group that starts with a command that writes `$!` to
/// `file`, or such a command itself.
fn writes(pipeline: &ShellPipeline<'_>, file: &str) -> bool {
    let [command] = &pipeline.commands[..] else {
        return false;
    };
    match &command.kind {
        CommandKind::Subshell(inner) | CommandKind::Group(inner) => {
            let mut items = inner.items.iter();
            let next = items.find(|item| item.runs == Runs::InOrder);
            next.is_some_and(|item| first_writes(item, file))
        }
        CommandKind::Simple(simple) => writes_job(simple, command, file),
        _ => false,
    }
}

/// Returns whether a command is `echo $! > FILE`.
fn writes_job(simple: &SimpleCommand<'_>, command: &Command<'_>, file: &str) -> bool {
    let [ArgWord::Word(name), ArgWord::Word(word)] = &simple.words[..] else {
        return false;
    };
    let is_job = match &word.parts[..] {
        [Part::DoubleQuoted(inner)] => matches!(&inner[..], [part] if is_last_job(part)),
        [part] => is_last_job(part),
        _ => false,
    };
    let [redirect] = &command.redirects[..] else {
        return false;
    };
    let RedirectTarget::Word(target) = &redirect.target else {
        return false;
    };
    is_job
        && name.static_text().as_deref() == Some("echo")
        && redirect.descriptor.is_none()
        && redirect.operator == RedirectOperator::Write
        && target.static_text().as_deref() == Some(file)
}

/// Returns whether a pipeline is `( JOB & echo $! > FILE )`, or the same as a group.
fn starts_and_writes(pipeline: &ShellPipeline<'_>, file: &str) -> bool {
    let [command] = &pipeline.commands[..] else {
        return false;
    };
    let (CommandKind::Subshell(inner) | CommandKind::Group(inner)) = &command.kind else {
        return false;
    };
    let starts = inner.items.first();
    starts.is_some_and(|item| item.runs == Runs::InBackground) && writes(pipeline, file)
}

/// Returns whether a pipeline is a server with `file` as the value of its option for such a file.
fn is_server_with(pipeline: &ShellPipeline<'_>, file: &str) -> bool {
    let [command] = &pipeline.commands[..] else {
        return false;
    };
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    let Some(words) = simple.static_words() else {
        return false;
    };
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let words = match &words[..] {
        ["bundle", "exec", rest @ ..] | ["uv" | "poetry" | "pipenv" | "pdm", "run", rest @ ..] => {
            rest
        }
        words => words,
    };
    let Some((name, args)) = words.split_first() else {
        return false;
    };
    let options: &[&str] = match (path::file_name(name), args.first()) {
        ("rails", Some(&("s" | "server"))) | ("rackup", _) => &["-P", "--pid"],
        ("gunicorn" | "hypercorn", _) => &["-p", "--pid"],
        ("puma", _) => &["--pidfile"],
        _ => return false,
    };
    let is_attached = |arg: &&str| {
        let value = arg.strip_suffix(file).and_then(|it| it.strip_suffix('='));
        value.is_some_and(|option| options.contains(&option))
    };
    let is_next = |pair: &[&str]| pair[1] == file && options.contains(&pair[0]);
    !pipeline.negated && (args.windows(2).any(is_next) || args.iter().any(is_attached))
}

/// Returns whether a pipeline prepares a server, and succeeds if nothing is wrong: a change of the
/// directory, a build, or output cut to a few lines.
fn prepares(call: &Call<'_, '_, '_>, pipeline: &ShellPipeline<'_>) -> bool {
    let Some(command) = pipeline.commands.last().filter(|_| !pipeline.negated) else {
        return false;
    };
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    let Some(name) = simple.words.first().and_then(ArgWord::static_text) else {
        return false;
    };
    let is_tool = || {
        let program = call.policy().known(&name).and_then(|known| known.program);
        program.is_some_and(|program| matches!(program.owner, Owner::Profile(_)))
    };
    let is_builtin = words!("cd cp echo export head make mkdir sleep source tail touch");
    is_builtin.contains(&name.as_ref()) || name.contains('/') || is_tool()
}
