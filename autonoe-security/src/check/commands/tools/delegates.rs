//! Tools that pass the rest of their arguments to themselves, or to a module.

use super::own_options::own_options;
use super::packages::{self, Package};
use super::{CommandReading, runners};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::code_source::{is_address, is_repository};
use crate::check::commands::tool_options;
use crate::check::path;
use crate::check::write_target::escapes;
use crate::option_table::OptionTable;
use crate::policy::Profile;
use crate::{Denial, Rule};

const NO_OPTIONS: OptionTable = options!("");

/// Creates the denial of a subcommand that starts an unknown program.
pub(super) fn unknown_plugin(call: &Call<'_, '_, '_>, word: &str) -> Denial {
    let reason = format!("'{} {word}' is no known subcommand", call.name);
    call.deny(Rule::R103, reason)
}

/// The options of `yarn workspaces foreach`.
const FOREACH: OptionTable = options!(
    "ARWpitnj:",
    "include= exclude= from= since= jobs= all recursive worktree parallel interlaced topological",
    "topological-dev dry-run",
);

/// Judges `yarn workspace NAME ..` and `pnpm recursive ..` by the command that runs in the
/// packages.
pub(super) fn check<'s>(call: &Call<'_, '_, 's>, words: &CommandReading<'_, 's>) -> Checked {
    let rest = words.rest();
    let in_packages = |args: &[Arg<'s>]| match args {
        [] => Ok(()),
        args => call.inner(&with_name(call.name, call, args)),
    };
    match (call.name, words.first()) {
        ("yarn", Some("workspace")) => in_packages(rest.get(1..).unwrap_or_default()),
        ("yarn", Some("workspaces")) if rest.first().is_some_and(|arg| arg.is("foreach")) => {
            let places = FOREACH.first_operands(call, rest, 1)?;
            let mut places = places.into_iter().flatten();
            places.try_for_each(|at| in_packages(&rest[at..]))
        }
        ("yarn", Some("workspaces")) | ("pnpm", Some("recursive" | "multi" | "m")) => {
            in_packages(rest)
        }
        _ => Ok(()),
    }
}

/// Judges `python -m MODULE ..` by its module.
pub(super) fn python(call: &Call<'_, '_, '_>) -> Checked {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        let Some(letters) = first.text.strip_prefix('-').filter(|it| !it.is_empty()) else {
            return script(call, first, rest);
        };
        if letters.starts_with('-') {
            args = rest;
            continue;
        }
        let Some(at) = letters.find(['c', 'm', 'W', 'X']) else {
            args = rest;
            continue;
        };
        let is_last = at + 1 == letters.len() && first.is_static();
        match (letters.as_bytes()[at], is_last) {
            (b'c', _) => return Ok(()),
            (b'm', true) => {
                return rest
                    .split_first()
                    .map_or(Ok(()), |(name, rest)| module(call, name, rest));
            }
            (b'm', false) => return module(call, &first.without_first(at + 2), rest),
            (_, true) => args = rest.get(1..).unwrap_or_default(),
            (_, false) => args = rest,
        }
    }
    Ok(())
}

/// Checks that `setup.py` does not publish.
fn script(call: &Call<'_, '_, '_>, file: &Arg<'_>, args: &[Arg<'_>]) -> Checked {
    let publishes = |arg: &&Arg<'_>| arg.is("upload") || arg.is("register");
    let is_setup = path::file_name(&file.text) == "setup.py";
    match args.iter().find(publishes).filter(|_| is_setup) {
        Some(word) => Err(call
            .deny(Rule::R51, format!("'setup.py {}' publishes", word.text))
            .instead("leave it to the user")),
        None => Ok(()),
    }
}

/// Modules of installed packages, whose options are unknown.
const INSTALLED: &[&str] = words!(
    "PyInstaller asyncio build cookiecutter cython debugpy dotenv grpc_tools honcho keyring kernprof",
    "lib2to3 memray nbconvert nuitka py_spy pyftpdlib pyperf pyrasite pystack pytest_watch reindent",
    "scalene semantic_release sphinx twisted uploadserver viztracer watchfiles watchmedo",
);

fn module<'s>(call: &Call<'_, '_, 's>, name: &Arg<'s>, rest: &[Arg<'s>]) -> Checked {
    let Some(text) = name.known() else {
        return Ok(());
    };
    let command = text.replace('_', "-");
    if Profile::from_command(&command) == Some(Profile::Python) {
        return call.inner(&with_name(&command, call, rest));
    }
    tool_options::check_as(call, text, rest)?;
    if text == "runpy" {
        return rest
            .split_first()
            .map_or(Ok(()), |(inner, rest)| module(call, inner, rest));
    }
    let names_module = |arg: &Arg<'_>| match text {
        "cProfile" | "profile" | "pdb" => arg.is("-m"),
        "trace" => arg.text.starts_with("--mo"),
        _ => false,
    };
    if let Some(at) = tool_options::own_args(text, rest)
        .iter()
        .position(names_module)
        && let Some((inner, rest)) = rest[at + 1..].split_first()
    {
        return module(call, inner, rest);
    }
    let names = [text.split('.').next(), text.rsplit('.').next()];
    let mut names = names.into_iter().flatten();
    let Some(package) = names.find(|name| INSTALLED.contains(name)) else {
        return Ok(());
    };
    let name = Arg::plain(package.replace('_', "-"), name.span);
    runners::check_program(call, &name, rest, true)
}

/// The options of `coverage run`.
const COVERAGE: OptionTable = options!(
    "apLm",
    "source= include= omit= rcfile= data-file= context= concurrency= debug= save-signal= append",
    "branch pylib parallel-mode timid module",
);

/// Judges `coverage run -m MODULE ..` by its module.
pub(super) fn coverage(call: &Call<'_, '_, '_>) -> Checked {
    let Some((_, args)) = call.args.split_first().filter(|(first, _)| first.is("run")) else {
        return Ok(());
    };
    for at in COVERAGE
        .first_operands(call, args, 0)?
        .into_iter()
        .flatten()
    {
        let (options, rest) = args.split_at(at);
        let is_module = |arg: &Arg<'_>| {
            let text = arg.text.as_ref();
            let is_cluster = text.starts_with('-') && !text.starts_with("--");
            text.starts_with("--mo") || (is_cluster && text.ends_with('m'))
        };
        if let Some((name, rest)) = rest.split_first().filter(|_| options.iter().any(is_module)) {
            module(call, name, rest)?;
        }
    }
    Ok(())
}

/// Judges `ruby -S COMMAND ..` by the command, and `ruby -run -e COMMAND ..`: a server of the
/// project's files is allowed, and commands that change files are not.
pub(super) fn ruby(call: &Call<'_, '_, '_>) -> Checked {
    let own = tool_options::own_args("ruby", call.args).len();
    let is_search = |arg: &Arg<'_>| {
        let letters = arg.text.strip_prefix('-');
        letters.is_some_and(|letters| letters.ends_with('S') && !letters.starts_with('-'))
    };
    let (options, command) = call.args.split_at(own);
    if options.last().is_some_and(is_search) && !command.is_empty() {
        return call.inner(command);
    }
    let is_library = |arg: &Arg<'_>| arg.is("-run") || arg.is("-run.rb");
    let is_library_next =
        |pair: &[Arg<'_>]| pair[0].is("-r") && (pair[1].is("un") || pair[1].is("un.rb"));
    if !call.args.iter().any(is_library) && !call.args.windows(2).any(is_library_next) {
        return Ok(());
    }
    let mut args = call.args.iter();
    let code = args.find_map(|arg| match arg.text.strip_prefix("-e") {
        Some("") => Some(None),
        Some(code) => Some(Some(code.to_owned())),
        None => None,
    });
    let code = match code {
        Some(None) => args.next().map(|arg| arg.text.to_string()),
        Some(code) => code,
        None => None,
    };
    let is_outside = |arg: &&Arg<'_>| {
        let text = arg.text.as_ref();
        !text.starts_with('-') && (arg.is_in_home() || !call.is_in_reach(text))
    };
    match (code.as_deref(), args.find(is_outside)) {
        (Some("httpd" | "help"), None) => Ok(()),
        (Some("httpd"), Some(folder)) => Err(escapes(folder, Rule::R92)),
        _ => Err(call
            .deny(Rule::R92, "'ruby -run' changes files like cp, mv and rm")
            .instead("use cp, mkdir and touch; ruby -run -e httpd DIR serves a folder")),
    }
}

/// Checks that a debugger starts its program, instead of attaching to a running process.
pub(super) fn debugger(call: &Call<'_, '_, '_>) -> Checked {
    let mut own = call.args.iter().take_while(|arg| !arg.is("--"));
    let attaches = match call.name {
        "dlv" => own.any(|arg| arg.is("attach")),
        "node" if own.next().is_some_and(|first| first.is("inspect")) => {
            own.next().is_some_and(|target| {
                let text = target.text.as_ref();
                text.starts_with("-p") || text.starts_with("--pid") || text.contains(':')
            })
        }
        _ => false,
    };
    if attaches {
        Err(call
            .deny(
                Rule::R92,
                format!("'{}' would attach to a running process", call.name),
            )
            .instead("start the program with the debugger: dlv debug, node inspect FILE"))
    } else {
        Ok(())
    }
}

/// Judges a program by the rules of packages whose options are known.
pub(super) fn package(call: &Call<'_, '_, '_>) -> Checked {
    package_as(call, false)
}

/// Judges a program by the rules of packages.
pub(super) fn installed_package(call: &Call<'_, '_, '_>) -> Checked {
    package_as(call, true)
}

fn package_as(call: &Call<'_, '_, '_>, is_installed: bool) -> Checked {
    let package = Package {
        name: call.name,
        args: call.args,
        span: call.span,
        is_installed,
    };
    packages::check(call, &package)
}

/// Flags of `go run` and `go tool` in front of the program.
const GO_RUN: OptionTable = options!(
    "C:p:",
    "-tags= -ldflags= -gcflags= -asmflags= -mod= -modfile= -modcacherw -race -v -x -a -n -trimpath",
);

/// Subcommands of cargo itself, and plugins with rules of their own.
const CARGO_OWN: &[&str] = words!(
    "add b bench build c check clean clippy d deny doc expand fetch fix fmt generate-lockfile help init",
    "install llvm-cov locate-project metadata miri new nextest owner package pkgid publish r",
    "read-manifest remove report rm run rustc rustdoc search t test tree uninstall update vendor",
    "verify-project version watch yank",
);

/// Plugins of cargo that build, test, check or inspect, and the usual alias of a project's own tasks.
const CARGO_PLUGINS: &[&str] = words!(
    "about afl apk asm audit auditable bisect-rustc bloat bolero build-sbf bundle cache careful chef",
    "component criterion cyclonedx deadlinks deb depgraph diet dinghy dist docs-rs dylint edit",
    "feature flamegraph fuzz geiger generate generate-rpm hack hakari insta instruments",
    "interactive-update kani kcov lambda leptos license lipo llvm-lines loco machete make",
    "minimal-versions modules msrv mutants ndk nm objcopy objdump outdated pgo pgrx pretty-test",
    "profdata public-api rdme readme readobj release-plz run-script sbom script semver-checks",
    "set-version shear shuttle size sort spellcheck sqlx strip supply-chain sweep tarpaulin tauri",
    "test-sbf toml-lint udeps unused-features upgrade upgrades valgrind vet wasi wix workspaces xbuild xtask",
    "xwin zigbuild",
);

/// Judges programs that go and cargo start by the rules of packages: `go run MODULE@VERSION`,
/// `go tool NAME`, `cargo PLUGIN`.
pub(super) fn started<'s>(call: &Call<'_, '_, 's>, words: &CommandReading<'_, 's>) -> Checked {
    let rest = words.rest();
    match (call.name, words.first()) {
        ("go", Some(word @ ("run" | "tool"))) => {
            for at in GO_RUN.first_operands(call, rest, 0)?.into_iter().flatten() {
                let (name, args) = (&rest[at], &rest[at + 1..]);
                let Some(text) = name.known() else {
                    continue;
                };
                let is_module = word == "tool"
                    || text.split('/').next().is_some_and(|it| {
                        it.contains('.') && !it.starts_with('.') && text.contains('/')
                    });
                if is_module {
                    runners::check_program(call, name, args, text.contains('@'))?;
                }
            }
            Ok(())
        }
        ("cargo", Some(plugin)) if !CARGO_OWN.contains(&plugin) => {
            if !CARGO_PLUGINS.contains(&plugin) {
                return Err(unknown_plugin(call, plugin).instead(
                    "use a subcommand of cargo, or run the program of the project itself: cargo run \
                     -p NAME",
                ));
            }
            let name = Arg::plain(plugin.to_owned(), call.span);
            runners::check_program(call, &name, rest, false)
        }
        ("deno", Some("run" | "serve" | "x")) => {
            let is_package = |arg: &Arg<'_>| {
                ["npm:", "jsr:"]
                    .iter()
                    .any(|start| arg.text.starts_with(start))
            };
            match rest.iter().position(is_package) {
                Some(at) => {
                    runners::check_program(call, &rest[at].without_first(4), &rest[at + 1..], true)
                }
                None => Ok(()),
            }
        }
        ("npm" | "pnpm" | "yarn" | "bun", Some("create" | "init" | "innit")) => {
            let options = own_options(call.name).unwrap_or(&NO_OPTIONS);
            for at in options.first_operands(call, rest, 0)?.into_iter().flatten() {
                let template = &rest[at];
                if is_address(&template.text) || is_repository(&template.text) {
                    return Err(runners::from_network(template));
                }
            }
            packages::reaches_no_other_place(call, rest)
        }
        _ => Ok(()),
    }
}

fn with_name<'s>(name: &str, call: &Call<'_, '_, '_>, rest: &[Arg<'s>]) -> Vec<Arg<'s>> {
    let mut args = vec![Arg::plain(name.to_owned(), call.span)];
    args.extend_from_slice(rest);
    args
}
