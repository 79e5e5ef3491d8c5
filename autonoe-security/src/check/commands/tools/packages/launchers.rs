//! Packages that start commands: coverage tools, watchers, and programs that set variables.

use super::Package;
use crate::check::arg::Arg;
use crate::check::builtins::is_identifier;
use crate::check::call::{Call, Checked};
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tools::runners::{StartedCommand, check_started, name_of};
use crate::check::commands::tools::{denied_programs, is_one_word};
use crate::check::judge::MOST_WRAPPERS;
use crate::check::{assignments, nested};
use crate::option_table::{OptionArity, OptionTable};
use crate::syntax::Span;
use crate::{Denial, Rule};

/// A package that starts commands.
struct Launcher {
    names: &'static [&'static str],
    /// Subcommands, of which one precedes the command; none if the list is empty.
    words: &'static [&'static str],
    options: OptionTable,
    command: Command,
    /// Options whose value is a command line.
    texts: &'static [&'static str],
}

/// The place of the command in the operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Command {
    /// All operands together.
    Operands,
    /// The first operand is a command line.
    First,
    /// Every operand is a command line.
    Each,
    /// Only the values of options.
    InOptions,
}

const LAUNCHERS: &[Launcher] = &[
    Launcher {
        names: words!("nyc c8"),
        words: &[],
        options: options!(
            "r:o:x:n:e:t:a",
            "reporter= report-dir= reports-dir= exclude= include= extension= temp-directory=",
            "temp-dir= cwd= src= branches= functions= lines= statements= check-coverage all clean",
            "exclude-after-remap skip-full silent per-file 100 nycrc-path= config= resolve=",
        ),
        command: Command::Operands,
        texts: &[],
    },
    Launcher {
        names: words!("cross-env"),
        words: &[],
        options: options!(""),
        command: Command::Operands,
        texts: &[],
    },
    Launcher {
        names: words!("dotenv dotenv-cli env-cmd"),
        words: &[],
        options: options!(
            "e:v:p:c?f:r:o",
            "file= environments= rc-file= fallback no-override silent quiet verbose override",
        ),
        command: Command::Operands,
        texts: &[],
    },
    Launcher {
        names: words!(
            "is-ci is-ci-cli ddtrace-run opentelemetry-instrument watchexec watchexec-cli with-local-ip xvfb-maybe"
        ),
        words: &[],
        options: options!(
            "w:e:f:i:rcdn",
            "watch= exts= filter= ignore= restart clear debug"
        ),
        command: Command::Operands,
        texts: &[],
    },
    Launcher {
        names: words!(
            "dotenv dotenvx doppler foreman honcho infisical lerna newrelic-admin nx op varlock"
        ),
        words: words!("run exec run-program"),
        options: options!(
            "e:f:p:q",
            "env= env-file= file= scope= ignore= concurrency= project= config= stream parallel overload quiet",
        ),
        command: Command::Operands,
        texts: words!("--command"),
    },
    Launcher {
        names: words!("watchmedo"),
        words: words!("auto-restart"),
        options: options!(
            "d:p:i:R",
            "directory= pattern= patterns= ignore-pattern= recursive signal="
        ),
        command: Command::Operands,
        texts: words!("-c --command"),
    },
    Launcher {
        names: words!("watchmedo"),
        words: words!("shell-command"),
        options: options!(""),
        command: Command::InOptions,
        texts: words!("-c --command"),
    },
    Launcher {
        names: words!("concurrently conc"),
        words: &[],
        options: options!(
            "n:c:p:l:t:s:m:P:krgi",
            "names= prefix-colors= prefix= prefix-length= timestamp-format= success= max-processes=",
            "default-input-target= restart-tries= restart-after= kill-timeout= kill-signal= hide=",
            "name-separator= cwd= teardown= kill-others kill-others-on-fail raw group no-color timings",
            "passthrough-arguments pad-prefix handle-input",
        ),
        command: Command::Each,
        texts: words!("--teardown"),
    },
    Launcher {
        names: words!(
            "cross-env-shell glob-exec hyperfine rerun shell-exec start-server-and-test start-test watch"
        ),
        words: &[],
        options: options!(
            "w:r:m:M:p:d:n:b",
            "warmup= runs= min-runs= max-runs= prepare= setup= cleanup= dir= pattern= name= ignore= expect=",
            "export-json= export-markdown= background clear no-notify wait= interval= filter=",
        ),
        command: Command::Each,
        texts: words!("-p --prepare --setup --cleanup"),
    },
    Launcher {
        names: words!("watchfiles"),
        words: &[],
        options: options!(
            "",
            "ignore-paths= target-type= filter= args= sigint-timeout= grace-period= sigkill-timeout=",
            "verbose non-recursive",
        ),
        command: Command::First,
        texts: &[],
    },
    Launcher {
        names: words!("firebase firebase-tools pm2"),
        words: words!("emulators:exec start"),
        options: options!("P:", "only= project= import= export-on-exit= name= watch"),
        command: Command::First,
        texts: words!("--interpreter"),
    },
    Launcher {
        names: words!(
            "air autocannon chokidar chokidar-cli foreach forever glob gotestsum nodemon nx",
            "lint-staged parallel_rspec parallel_test ptw pytest-watch supervisor tsc-watch wsrun",
        ),
        words: &[],
        options: options!(""),
        command: Command::InOptions,
        texts: words!(
            "-c --cmd --command -x --exec --execute --runner --onpass --onfail --onexit --beforerun",
            "--afterrun --onSuccess --onFailure --onFirstSuccess --onCompilationStarted --onEmit",
            "--onCompilationComplete --post-run-command --build.cmd --build.bin --build.full_bin",
            "-cmd --build.pre_cmd --build.post_cmd --on-port -e --shell",
        ),
    },
];

/// Judges the commands that a package starts.
pub(super) fn check<'s>(call: &Call<'_, '_, 's>, package: &Package<'_, 's>) -> Checked {
    for launcher in LAUNCHERS {
        if launcher.names.contains(&package.name) {
            check_launcher(call, package, launcher)?;
        }
    }
    // A command may follow `--` in every package.
    let dashes = package.args.iter().position(|arg| arg.is("--"));
    let rest = dashes.map_or(&[][..], |at| &package.args[at + 1..]);
    match rest.first().and_then(|first| first.known()) {
        Some(first) if is_known(call, first) => started(call, rest),
        _ => Ok(()),
    }
}

/// Returns whether a program is known to the policy, allowed or denied.
fn is_known(call: &Call<'_, '_, '_>, name: &str) -> bool {
    let known = call.policy().known(name).and_then(|known| known.program);
    known.is_some() || denied_programs::contains(name)
}

fn check_launcher<'s>(
    call: &Call<'_, '_, 's>,
    package: &Package<'_, 's>,
    launcher: &Launcher,
) -> Checked {
    let tool = Tool {
        call,
        name: package.name,
        args: package.args,
        at: None,
    };
    // Options after the command belong to it.
    let own = match launcher.command {
        Command::Operands => &[],
        _ => package.args,
    };
    let tool = Tool { args: own, ..tool };
    for value in tool.values_of(launcher.texts).into_iter().flatten() {
        text(call, &value)?;
    }
    if launcher.command == Command::InOptions {
        return Ok(());
    }
    // `dotenv -v NAME=VALUE COMMAND`
    for pair in package.args.windows(2).filter(|pair| pair[0].is("-v")) {
        if let Some((name, _)) = pair[1]
            .text
            .split_once('=')
            .filter(|it| is_identifier(it.0))
        {
            assignments::check_argument(call, &pair[1], name)?;
        }
    }
    for at in launcher
        .options
        .first_operands(call, package.args, 0)?
        .into_iter()
        .flatten()
    {
        let (first, rest) = (&package.args[at], &package.args[at..]);
        if launcher.words.is_empty() {
            command(call, launcher, rest)?;
        } else if first
            .known()
            .is_some_and(|word| launcher.words.contains(&word))
        {
            let places = launcher.options.first_operands(call, rest, 1)?;
            let mut places = places.into_iter().flatten();
            places.try_for_each(|at| command(call, launcher, &rest[at..]))?;
        }
    }
    Ok(())
}

fn command<'s>(call: &Call<'_, '_, 's>, launcher: &Launcher, args: &[Arg<'s>]) -> Checked {
    let mut args = args;
    while let [first, rest @ ..] = args {
        let Some((name, _)) = first
            .text
            .split_once('=')
            .filter(|(name, _)| is_identifier(name) && !first.text.contains(' '))
        else {
            break;
        };
        if !is_one_word(first) {
            return Err(call.deny_dynamic(first));
        }
        assignments::check_argument(call, first, name)?;
        args = rest;
    }
    let Some(first) = args.first() else {
        return Ok(());
    };
    match launcher.command {
        Command::Operands if first.text.contains(' ') => text(call, first),
        Command::Operands => started(call, args),
        Command::First => text(call, first),
        Command::Each => each(call, launcher, args),
        Command::InOptions => Ok(()),
    }
}

/// Judges every operand as a command line.
fn each(call: &Call<'_, '_, '_>, launcher: &Launcher, args: &[Arg<'_>]) -> Checked {
    let mut is_value = false;
    for arg in args {
        let name = arg.text.as_ref();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if name.starts_with('-') {
            is_value = launcher.options.find(name) == Some(OptionArity::Value);
        } else {
            text(call, arg)?;
        }
    }
    Ok(())
}

/// Judges a command and its arguments.
fn started<'s>(call: &Call<'_, '_, 's>, args: &[Arg<'s>]) -> Checked {
    let Some(first) = args.first() else {
        return Ok(());
    };
    let name = name_of(call, first)?;
    // A path is no name of a package.
    if call.depth >= MOST_WRAPPERS || (first.text.contains('/') && !first.text.contains("://")) {
        return call.inner(args);
    }
    let call = &Call {
        depth: call.depth + 1,
        ..*call
    };
    let started = StartedCommand {
        options: &[],
        args,
        name,
    };
    check_started(call, &started, false)
}

/// Judges a command line for a shell.
fn text(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    let Some(text) = arg.known().filter(|_| arg.is_literal()) else {
        let reason = format!(
            "the command that {} starts is unknown until it runs",
            call.name
        );
        return Err(
            Denial::by(Rule::R54, arg.span, reason).instead("write it literally, in quotes")
        );
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _./:=@,+*-".contains(c);
    if !text.split("&&").all(|part| part.chars().all(is_plain)) {
        return nested::check(call, text, arg.span);
    }
    // Programs of packages run here by their names.
    let mut parts = text.split("&&");
    parts.try_for_each(|part| plain_text(call, part, arg.span))
}

/// Judges a command line without quotes and expansions.
fn plain_text(call: &Call<'_, '_, '_>, text: &str, span: Span) -> Checked {
    let words = text.split_ascii_whitespace();
    let words: Vec<Arg<'_>> = words
        .map(|word| Arg::plain(word.to_owned(), span))
        .collect();
    let name_of_variable = |word: &Arg<'_>| {
        let name = word.text.split_once('=').map(|(name, _)| name.to_owned());
        name.filter(|name| is_identifier(name))
    };
    let mut rest = &words[..];
    while let [word, behind @ ..] = rest
        && let Some(name) = name_of_variable(word)
    {
        assignments::check_argument(call, word, &name)?;
        rest = behind;
    }
    started(call, rest)
}
