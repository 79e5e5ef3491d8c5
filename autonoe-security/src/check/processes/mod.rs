//! Processes that a script may kill: its own jobs, and those that listen on a port of the project.

use super::numeric;
use super::scope::Scope;
use super::survey::Value;
use crate::syntax::{
    ArgWord, Command, CommandKind, Connector, Operation, Parameter, Part, Redirect,
    RedirectOperator, RedirectTarget, Script, SimpleCommand, Text, Word, static_text,
};

/// Maximum depth of variables that are assigned from one another.
const DEEPEST: usize = 4;

/// Placeholder for an unknown number.
const SOME_PORT: &str = "9999";

/// The source of a process id.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// From `$!`, set by the shell itself.
    Shell,
    /// From `$!`, or from a program that lists processes.
    Listed,
}

/// Returns whether the parts of a word are the id of a process that may be killed.
pub(crate) fn are_own(scope: &Scope<'_>, parts: &[Part<'_>]) -> bool {
    is_own(scope, parts, Source::Listed, DEEPEST)
}

/// Returns whether the parts of a word are the id of a job, which is one word of digits.
pub(crate) fn are_job(scope: &Scope<'_>, parts: &[Part<'_>]) -> bool {
    is_own(scope, parts, Source::Shell, DEEPEST)
}

/// Returns whether every assignment of the variable `name` is the id of such a process.
pub(crate) fn is_own_variable(scope: &Scope<'_>, name: &str) -> bool {
    variable_is_own(scope, name, Source::Listed, DEEPEST)
}

fn is_own(scope: &Scope<'_>, parts: &[Part<'_>], source: Source, depth: usize) -> bool {
    let [part] = parts else {
        return false;
    };
    match part {
        Part::DoubleQuoted(inner) => is_own(scope, inner, source, depth),
        Part::Parameter(parameter) => {
            is_plain(parameter)
                && (parameter.name == "!" || variable_is_own(scope, &parameter.name, source, depth))
        }
        Part::CommandSubstitution(inner) => {
            source == Source::Listed && prints_own(scope, &inner.script)
        }
        _ => false,
    }
}

fn variable_is_own(scope: &Scope<'_>, name: &str, source: Source, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let Some(variable) = scope.survey().variable(name) else {
        return source == Source::Listed && scope.is_child(name);
    };
    !scope.appends_to(name)
        && variable.always(|given| match given.value {
            Value::String { head: "", rest } => is_own(scope, rest, source, depth),
            Value::OneOf(words) => words
                .iter()
                .all(|word| is_own(scope, &word.parts, source, depth)),
            _ => false,
        })
}

fn is_plain(parameter: &Parameter<'_>) -> bool {
    parameter.operation == Operation::Value && parameter.subscript.is_none()
}

/// Returns whether a script only prints ids of such processes.
fn prints_own(scope: &Scope<'_>, script: &Script<'_>) -> bool {
    let [item] = &script.items[..] else {
        return false;
    };
    match &item.pipelines[..] {
        [(_, pipeline)] => lists_own(scope, &pipeline.commands),
        // `|| true` prints nothing.
        [(_, pipeline), (Connector::Or, other)] => {
            let is_silent = match &other.commands[..] {
                [command] => simple(command)
                    .and_then(SimpleCommand::static_words)
                    .is_some_and(
                        |words| matches!(&words[..], [only] if only == "true" || only == ":"),
                    ),
                _ => false,
            };
            is_silent && lists_own(scope, &pipeline.commands)
        }
        _ => false,
    }
}

/// Returns whether a pipeline of `commands` only prints ids of such processes.
fn lists_own(scope: &Scope<'_>, commands: &[Command<'_>]) -> bool {
    let [first, filters @ ..] = commands else {
        return false;
    };
    let is_list = simple(first).is_some_and(|list| {
        let words: Option<Vec<String>> = list.words.iter().map(|word| text(scope, word)).collect();
        words.is_some_and(|words| is_list_of_jobs(&words) || is_list_of_port(&words))
    });
    is_list && filters.iter().all(is_filter)
}

/// Returns a simple command that sets no variable and at most redirects errors.
fn simple<'t, 's>(command: &'t Command<'s>) -> Option<&'t SimpleCommand<'s>> {
    match &command.kind {
        CommandKind::Simple(simple) => {
            let is_plain =
                simple.assignments.is_empty() && command.redirects.iter().all(hides_errors);
            is_plain.then_some(simple)
        }
        _ => None,
    }
}

fn hides_errors(redirect: &Redirect<'_>) -> bool {
    let target = match &redirect.target {
        RedirectTarget::Word(word) => word.static_text(),
        RedirectTarget::HereDocument(_) => None,
    };
    redirect.descriptor == Some(2)
        && redirect.operator == RedirectOperator::Write
        && target.as_deref() == Some("/dev/null")
}

/// Returns the text of a word in which expansions are numbers.
fn text(scope: &Scope<'_>, word: &ArgWord<'_>) -> Option<String> {
    let ArgWord::Word(Word { parts, .. }) = word else {
        return None;
    };
    let mut text = String::new();
    write(scope, parts, &mut text).then_some(text)
}

fn write(scope: &Scope<'_>, parts: &[Part<'_>], text: &mut String) -> bool {
    parts.iter().all(|part| match part {
        Part::Literal(literal) | Part::Quoted(literal) => {
            text.push_str(literal);
            true
        }
        Part::DoubleQuoted(inner) => write(scope, inner, text),
        part => {
            text.push_str(SOME_PORT);
            numeric::is_safe_part(scope, part) && !may_be_port_of_system(scope, part)
        }
    })
}

/// Returns whether a variable may hold a port that servers of a project do not use.
fn may_be_port_of_system(scope: &Scope<'_>, part: &Part<'_>) -> bool {
    let Part::Parameter(parameter) = part else {
        return false;
    };
    let Some(variable) = scope.survey().variable(&parameter.name) else {
        return false;
    };
    let is_low = |text: Text<'_>| text.parse::<u16>().is_ok_and(|port| port < 1024);
    variable.values.iter().any(|given| match given.value {
        Value::String { head: "", rest } => static_text(rest).is_some_and(is_low),
        Value::OneOf(words) => words
            .iter()
            .any(|word| word.static_text().is_some_and(is_low)),
        _ => true,
    })
}

/// Returns whether words are `jobs -p`.
fn is_list_of_jobs(words: &[String]) -> bool {
    match words {
        [name, option] => name == "jobs" && matches!(option.as_str(), "-p" | "-pr" | "-rp"),
        _ => false,
    }
}

/// Returns whether words are `lsof -t` with only ports to look for.
fn is_list_of_port(words: &[String]) -> bool {
    let Some((name, args)) = words.split_first() else {
        return false;
    };
    if name != "lsof" {
        return false;
    }
    let (mut is_terse, mut has_port) = (false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(letters) = arg.strip_prefix('-') else {
            return false;
        };
        for (at, letter) in letters.char_indices() {
            let attached = &letters[at + letter.len_utf8()..];
            match letter {
                't' => is_terse = true,
                'n' | 'P' => {}
                'i' | 's' => {
                    let value = match attached {
                        "" => args.next().map_or("", String::as_str),
                        attached => attached,
                    };
                    let is_fine = match letter {
                        's' => value.eq_ignore_ascii_case("tcp:listen"),
                        _ => is_port(value),
                    };
                    if !is_fine {
                        return false;
                    }
                    has_port |= letter == 'i';
                    break;
                }
                _ => return false,
            }
        }
    }
    is_terse && has_port
}

/// Returns whether an address of lsof is a port, or a list of ports, that servers of a project use.
fn is_port(address: &str) -> bool {
    let Some((protocol, ports)) = address.split_once(':') else {
        return false;
    };
    let protocol = protocol.trim_start_matches(['4', '6']).to_ascii_lowercase();
    let (protocol, host) = protocol.split_once('@').unwrap_or((&protocol, "localhost"));
    matches!(protocol, "" | "tcp" | "udp")
        && matches!(host, "localhost" | "127.0.0.1")
        && ports
            .split(',')
            .all(|port| port.parse::<u16>().is_ok_and(|port| port >= 1024))
}

/// Returns whether a command only passes on some of its input lines.
fn is_filter(command: &Command<'_>) -> bool {
    let passes_on = |words: &[&str]| {
        matches!(
            words,
            ["sort" | "uniq"]
                | ["sort", "-u" | "-n" | "-nu" | "-un"]
                | ["head" | "tail", "-1" | "-n1"]
                | ["head" | "tail", "-n", "1"]
        )
    };
    simple(command).is_some_and(|simple| simple.has_static_words(passes_on))
}

/// Returns whether `command` kills the processes listed by the commands before it in a pipeline:
/// `lsof -ti:3000 | xargs kill`.
pub(crate) fn ends_listed(
    scope: &Scope<'_>,
    before: &[Command<'_>],
    command: &Command<'_>,
) -> bool {
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    let reads_pipe = |redirect: &Redirect<'_>| {
        matches!(
            redirect.operator,
            RedirectOperator::Write
                | RedirectOperator::Append
                | RedirectOperator::WriteAll
                | RedirectOperator::DuplicateOutput
        )
    };
    let is_xargs = |name: &ArgWord<'_>| name.static_text().as_deref() == Some("xargs");
    if before.is_empty() || !simple.words.first().is_some_and(is_xargs) {
        return false;
    }
    if !simple.assignments.is_empty() {
        return false;
    }
    simple.has_static_words(is_kill_of_input)
        && command.redirects.iter().all(reads_pipe)
        && lists_own(scope, before)
}

/// Returns whether words are `xargs kill`, with at most a signal.
fn is_kill_of_input(words: &[&str]) -> bool {
    let ["xargs", rest @ ..] = words else {
        return false;
    };
    let mut rest = rest;
    loop {
        rest = match rest {
            ["-r" | "-t" | "-n1" | "--no-run-if-empty", rest @ ..] => rest,
            ["-n" | "-L", "1", rest @ ..] => rest,
            _ => break,
        };
    }
    let is_signal =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match rest {
        ["kill"] => true,
        ["kill", signal] => signal.strip_prefix('-').is_some_and(is_signal),
        ["kill", "-s" | "-n", signal] => is_signal(signal),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ports_of_servers_are_listed() {
        let is_list = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            is_list_of_port(&words)
        };
        for text in [
            "lsof -ti:3000",
            "lsof -t -i:3000",
            "lsof -t -i :3000",
            "lsof -i :3000 -t",
            "lsof -ti tcp:8080",
            "lsof -tiTCP:8080 -sTCP:LISTEN",
            "lsof -nP -t -iTCP:5173 -s TCP:LISTEN",
            "lsof -ti:3000,3001",
            "lsof -ti tcp@localhost:3000",
        ] {
            assert!(is_list(text), "{text}");
        }
        for text in [
            "lsof -t",
            "lsof -i:3000",
            "lsof -ti",
            "lsof -ti:443",
            "lsof -ti:22",
            "lsof -ti:1024-65535",
            "lsof -ti:3000,22",
            "lsof -ti tcp",
            "lsof -ti @example.com:3000",
            "lsof -t -u root -i:3000",
            "lsof -ti:3000 -c node",
            "lsof -t /srv/project",
            "lsof -ti:3000 /srv",
            "lsof -ti:http",
            "lsof -téi:3000",
            "cat -ti:3000",
        ] {
            assert!(!is_list(text), "{text}");
        }
    }
}
