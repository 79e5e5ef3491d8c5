//! Programs in `/tmp` that the same text has just built from sources of the project.
//!
//! `go build -o /tmp/app ./cmd/app && /tmp/app` runs what `go run ./cmd/app` runs. The build must
//! certainly have succeeded and written the file, and nothing else in the text may write it.
//!
//! Folders of builds (`javac -d /tmp/out`, `cmake -B /tmp/build`) may be in `/tmp` under the first of
//! these conditions.

use super::tools::is_on_hard_list;
use crate::check::call::{Call, Owner};
use crate::check::path;
use crate::check::preceding::has_succeeded;
use crate::check::text::has_only;
use crate::policy::Mode;
use crate::syntax::visit::{self, Visitor};
use crate::syntax::{ArgWord, Command, CommandKind, Redirect, RedirectTarget, SimpleCommand};

/// Returns whether `written` is a program in `/tmp` that the text has just built.
pub(in crate::check) fn is_built(call: &Call<'_, '_, '_>, written: &str) -> bool {
    if call.mode() != Mode::Run || !call.policy().runs_code() || !is_plain_place(call, written) {
        return false;
    }
    let scope = call.context.scope;
    if !scope.reserve_search()
        || scope.survey().variable("GOFLAGS").is_some()
        || scope.inherits("GOFLAGS")
    {
        return false;
    }
    if !has_succeeded(scope, call.span, &|simple| is_build(simple, written)) {
        return false;
    }
    let mut writers = Writers {
        call,
        program: written,
        found: false,
    };
    writers.script(scope.script());
    !writers.found
}

/// Returns whether `folder` is a folder in `/tmp` that the text has just filled or configured from
/// sources of the project.
pub(super) fn is_built_folder(call: &Call<'_, '_, '_>, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    call.policy().runs_code()
        && is_below_tmp(folder)
        && !path::is_protected(folder)
        && call.context.scope.reserve_search()
        && has_succeeded(call.context.scope, call.span, &|simple| {
            fills(simple, folder)
        })
}

/// Returns whether a command writes a build to `folder`.
fn fills(simple: &SimpleCommand<'_>, folder: &str) -> bool {
    let is_folder = |word: &str| word.trim_end_matches('/') == folder;
    let follows = |words: &[&str], option| {
        let mut pairs = words.windows(2);
        pairs.any(|pair| pair[0] == option && is_folder(pair[1]))
    };
    simple.has_static_words(|words| match words {
        ["javac", args @ ..] => follows(args, "-d"),
        ["cmake", args @ ..] => {
            let attached = |word: &&str| word.strip_prefix("-B").is_some_and(is_folder);
            follows(args, "-B") || args.iter().any(attached)
        }
        _ => false,
    })
}

/// Returns whether a path is below `/tmp` and has only plain names.
fn is_below_tmp(written: &str) -> bool {
    let is_name =
        |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric()) && has_only(name, "_.-");
    let below = written.strip_prefix("/tmp/");
    below.is_some_and(|below| below.split('/').all(is_name))
}

/// Returns whether a path is a plain file in `/tmp` that has not the name of another program.
fn is_plain_place(call: &Call<'_, '_, '_>, written: &str) -> bool {
    let name = path::file_name(written);
    let program = call.policy().known(name).and_then(|known| known.program);
    let is_listed = program.is_some_and(|program| program.owner != Owner::VersionOnly);
    is_below_tmp(written) && !path::is_protected(written) && !is_listed && !is_on_hard_list(name)
}

fn is_build(simple: &SimpleCommand<'_>, program: &str) -> bool {
    let is_plain = |name: &str| matches!(name, "CGO_ENABLED" | "GOOS" | "GOARCH");
    let builds = |words: &[&str]| match words {
        ["go", "build", args @ ..] => builds_with(args, program, GO, &is_go_source),
        ["rustc", args @ ..] => builds_with(args, program, RUSTC, &|file| file.ends_with(".rs")),
        [
            "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++",
            args @ ..,
        ] => compiles(args, program),
        _ => false,
    };
    simple.assignments.iter().all(|it| is_plain(&it.name)) && simple.has_static_words(builds)
}

/// Options of a compiler under which it still writes its output, besides `-o`: flags, and options
/// with a value.
type BuildOptions = (&'static [&'static str], &'static [&'static str]);

const GO: BuildOptions = (
    words!("-a -cover -race -trimpath -v"),
    words!("-buildvcs -gcflags -ldflags -mod -tags"),
);

const RUSTC: BuildOptions = (words!("-O -g --test"), words!("--edition"));

/// Returns whether the arguments name `program` as the output and one source.
fn builds_with(
    args: &[&str],
    program: &str,
    (flags, values): BuildOptions,
    is_source: &dyn Fn(&str) -> bool,
) -> bool {
    let (mut output, mut sources) = (None, 0);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let name = arg.split('=').next().unwrap_or(arg);
        if *arg == "-o" {
            if output.is_some() {
                return false;
            }
            output = args.next().copied();
        } else if flags.contains(arg) || (values.contains(&name) && arg.contains('=')) {
        } else if values.contains(arg) {
            args.next();
        } else if !arg.starts_with('-') && is_source(arg) {
            sources += 1;
        } else {
            return false;
        }
    }
    output == Some(program) && sources <= 1
}

/// Beginnings of options under which a C compiler still links its output.
const COMPILER: &[&str] = words!(
    "-D -I -L -O -Wall -Wextra -Werror -Wno- -Wpedantic -fsanitize= -g -l -m -pedantic -pthread -s -std="
);

/// Returns whether a C compiler links `program` from sources of the project.
fn compiles(args: &[&str], program: &str) -> bool {
    let (mut output, mut sources) = (None, 0);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let is_source = [".c", ".cc", ".cpp", ".cxx"]
            .iter()
            .any(|end| arg.ends_with(end));
        if *arg == "-o" && output.is_none() {
            output = args.next().copied();
        } else if matches!(*arg, "-I" | "-L" | "-D") {
            args.next();
        } else if COMPILER.iter().any(|start| arg.starts_with(start)) {
        } else if is_source && !arg.starts_with('-') && is_own_source(arg) {
            sources += 1;
        } else {
            return false;
        }
    }
    output == Some(program) && sources > 0
}

/// Returns whether a source is below the current directory, or in `/tmp`.
fn is_own_source(source: &str) -> bool {
    !source.contains("..") && (!source.starts_with('/') || source.starts_with("/tmp/"))
}

/// Returns whether an argument is one directory or file below the current directory. A pattern such
/// as `./...` may match nothing, and then nothing is written.
fn is_go_source(source: &str) -> bool {
    let is_local = source == "." || source.starts_with("./") || source.ends_with(".go");
    is_local && !source.contains("..") && !source.starts_with('/')
}

/// Finds a command that may write the program, other than its build.
struct Writers<'c, 'p, 'w, 's> {
    call: &'c Call<'p, 'w, 's>,
    program: &'c str,
    found: bool,
}

/// Commands that write no file but those that redirections and the listed options name.
const HARMLESS: &[&str] = words!(
    ": [ break cd continue curl exit export false jobs kill mkdir nc pkill seq set sleep test timeout",
    "true wait xargs",
);

impl<'t, 'a: 't> Visitor<'t, 'a> for Writers<'_, '_, '_, '_> {
    fn command(&mut self, command: &'t Command<'a>) {
        if let CommandKind::Simple(simple) = &command.kind {
            self.found |= !self.is_harmless(simple);
        }
        self.found |= command.redirects.iter().any(|it| self.may_write(it));
        visit::command(self, command);
    }
}

impl Writers<'_, '_, '_, '_> {
    fn is_harmless(&self, simple: &SimpleCommand<'_>) -> bool {
        let Some(name) = simple.words.first().map(ArgWord::static_text) else {
            return true;
        };
        let Some(name) = name else {
            return false;
        };
        if name == self.program || is_build(simple, self.program) {
            return true;
        }
        if name == "trap" {
            return ends_jobs(simple);
        }
        let known = self.call.policy().known(&name);
        let only_reads = known.is_some_and(|known| known.only_reads);
        (only_reads || HARMLESS.contains(&name.as_ref())) && writes_nowhere(simple, self.program)
    }

    fn may_write(&self, redirect: &Redirect<'_>) -> bool {
        let RedirectTarget::Word(word) = &redirect.target else {
            return false;
        };
        match word.static_text() {
            Some(target) => path::file_name(&target) == path::file_name(self.program),
            None => true,
        }
    }
}

/// Returns whether a trap only ends processes.
fn ends_jobs(trap: &SimpleCommand<'_>) -> bool {
    let body = trap.words.get(1).and_then(ArgWord::static_text);
    body.is_some_and(|body| {
        body.starts_with("kill ") && !body.contains([';', '|', '&', '<', '>', '(', '`', '\n'])
    })
}

/// Commands that may write a file that an option or an operand names.
const WRITERS: &[&str] = words!("cp fd fdfind find git ln mv rm sed shuf tee touch tree xxd");

/// Returns whether a command writes no file, apart from `/dev/null`.
fn writes_nowhere(simple: &SimpleCommand<'_>, program: &str) -> bool {
    let texts: Vec<_> = simple.words.iter().map(ArgWord::static_text).collect();
    let words: Vec<&str> = texts.iter().map(|it| it.as_deref().unwrap_or("")).collect();
    let is_known = texts.iter().all(Option::is_some);
    if words.iter().any(|word| WRITERS.contains(word)) {
        return false;
    }
    let is_option = |word: &&str| word.starts_with('-');
    match words[..] {
        ["sort", ref args @ ..] => !args.iter().any(|arg| is_option(arg) && arg.contains('o')),
        ["uniq", ref args @ ..] => args.iter().all(is_option),
        ["timeout", _, name, ..] => name == program,
        ["curl", ref args @ ..] | ["xargs", "curl", ref args @ ..] => {
            is_known && prints_response(args)
        }
        ["xargs", ref args @ ..] => {
            let at = args.iter().position(|arg| *arg == "curl");
            is_known && at.is_some_and(|at| prints_response(&args[at + 1..]))
        }
        _ => true,
    }
}

/// Returns whether the options of `curl` print the response, or discard it.
fn prints_response(args: &[&str]) -> bool {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let Some(option) = arg.strip_prefix('-') else {
            continue;
        };
        let prints = match option.strip_prefix('-') {
            Some("output") => args.next() == Some(&"/dev/null"),
            Some(long) => words!("data fail header include json max-time request retry silent")
                .contains(&long),
            None => {
                let flags = option.trim_start_matches(['f', 'i', 'I', 'k', 's', 'S', 'v']);
                match flags {
                    "" => true,
                    "o" => args.next() == Some(&"/dev/null"),
                    "d" | "H" | "m" | "w" | "X" => args.next().is_some(),
                    _ => false,
                }
            }
        };
        if !prints {
            return false;
        }
    }
    true
}
