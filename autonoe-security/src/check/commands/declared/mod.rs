//! Commands whose rules a table describes completely.
//!
//! An entry names the allowed options with the meaning of their values, and the meaning of the
//! operands. One function judges every entry.

mod languages;
mod services;

use super::java;
use super::option_allow_list::OptionAllowList;
use super::scripts::{self, runs_code_of_project};
use super::server_url::is_local_host;
use super::strict_options::{
    Item, StrictOptions, Value, check_input, check_source, check_source_path, nothing_special,
};
use super::{Commands, version_probe, writers};
use crate::check::arg::Arg;
use crate::check::builtins::is_identifier;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::text::{has_only, is_number};
use crate::check::write_target::{Root, escapes};
use crate::check::{assignments, extensions, nested, path, remedy, spelled_options};
use crate::option_table::OptionTable;
use crate::{Denial, Rule};

/// A command and its rules.
struct Declared {
    names: &'static [&'static str],
    /// The first operands, joined by `:`; any, if the list is empty.
    subcommands: &'static [&'static str],
    access: Access,
    options: Options,
    /// Options of which one must be present, unless the list is empty.
    required: &'static [&'static str],
    operands: Operands,
    /// Subcommands that pass the arguments after `--` to a program of the project.
    passes_rest: &'static [&'static str],
    /// Whether it must start in the project, where its settings are.
    in_project: bool,
}

/// A tool of the project without options and operands.
const PROJECT_CODE: Declared = Declared {
    names: &[],
    subcommands: &[],
    access: Access::ProjectCode("tools of the project"),
    options: words(Rule::R104, "run it without options", &[]),
    required: &[],
    operands: Operands::Sources,
    passes_rest: &[],
    in_project: false,
};

/// The condition under which a command may run at all.
#[derive(Clone, Copy)]
enum Access {
    /// In both modes.
    Reader,
    /// In run mode, if a language of the project can run its code. The text names that code.
    ProjectCode(&'static str),
}

/// The notation of options.
enum Options {
    /// Clusters of letters, and long names.
    Letters(OptionAllowList),
    /// Words of their own, in full.
    Words(StrictOptions),
}

/// The meaning of operands.
#[derive(Clone, Copy)]
enum Operands {
    /// Texts such as queries, which name no file.
    Texts,
    /// Files to read.
    Files,
    /// Files or folders of the project that are rewritten.
    Rewritten,
    /// Files or folders of the project that are run or configured.
    Sources,
    /// Programs of the project.
    Programs,
    /// Names of tasks, and `NAME=VALUE`.
    Tasks,
    /// Names of targets and queries, which no shell reads.
    Targets,
    /// A command, which is judged by itself.
    Command,
    /// Command lines, which are judged like the text of a shell.
    CommandLines,
    /// None.
    Nothing,
    /// A program of the project, or `-` for the input, and any arguments of it.
    Program,
    /// A program of the project by its path, and nothing else.
    Executable,
    /// Targets of the project, also with `@` in front.
    Aliases,
    /// Lines that begin with one of these tasks.
    TaskLines(&'static [&'static str]),
    /// A server of this machine, and texts.
    LocalServer,
}

impl Options {
    fn rule(&self) -> Rule {
        match self {
            Self::Letters(allowed) => allowed.rule,
            Self::Words(allowed) => allowed.rule,
        }
    }
}

const READ: &str = "print only, and redirect the output to a file";

const fn reader(options: OptionTable) -> Options {
    Options::Letters(OptionAllowList {
        options,
        refused: &[],
        rule: Rule::R83,
        instead: READ,
    })
}

const fn words(
    rule: Rule,
    instead: &'static str,
    groups: &'static [(&'static [&'static str], Value)],
) -> Options {
    Options::Words(StrictOptions {
        rule,
        instead,
        groups,
    })
}

/// The commands that every project may use.
pub(super) const COMMANDS: Commands = &[
    (
        words!("addr2line c++filt nm objdump readelf size xmllint"),
        check,
    ),
    (
        words!("aclocal autoconf autoheader automake autoreconf just ldd libtoolize shfmt task"),
        check,
    ),
    (words!("valgrind"), check),
    (words!("bazel bazelisk"), bazel),
    (
        words!(
            "actionlint ansible-lint ansible-playbook benchstat buf cloc docker grpcurl hadolint helm",
            "hyperfine kubectl kustomize perf scc terraform tflint tofu tokei xmlstarlet yamllint",
        ),
        check,
    ),
    (
        words!(
            "Rscript busted cabal clj-kondo dart dotnet dune flutter forge fourmolu hlint julia latexmk",
            "lein luacheck mix ormolu perl protoc prove rebar3 sbt stack stylua swift swiftformat",
            "swiftlint zig",
        ),
        check,
    ),
];

/// Commands of [`COMMANDS`] that run code in their arguments.
pub(crate) const EVALUATING: &[&str] = words!("Rscript julia mix");

static TABLE: &[Declared] = &[
    // Missing are plugins, and options that read more options from a file.
    Declared {
        names: words!("nm"),
        access: Access::Reader,
        options: reader(options!(
            "aABCDeghjlnopPrsSuvVWf:t:X:",
            "debug-syms defined-only demangle? dynamic extern-only format= help line-numbers",
            "no-demangle no-sort no-weak numeric-sort portability print-armap print-file-name",
            "print-size radix= reverse-sort size-sort special-syms undefined-only version",
            "with-symbol-versions without-symbol-versions",
        )),
        operands: Operands::Files,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("size"),
        access: Access::Reader,
        options: reader(options!(
            "ABGdoxtVf",
            "common format= help radix= totals version",
        )),
        operands: Operands::Files,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("objdump"),
        access: Access::Reader,
        options: reader(options!(
            "aCdDfFghlprRsStTwxzj:m:M:",
            "all-headers archive-headers demangle? disassemble? disassemble-all",
            "disassembler-options= dynamic-reloc dynamic-syms file-headers full-contents help",
            "line-numbers no-addresses no-show-raw-insn private-headers reloc section= section-headers",
            "source? start-address= stop-address= syms version visualize-jumps? wide",
        )),
        operands: Operands::Files,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("readelf"),
        access: Access::Reader,
        options: reader(options!(
            "aAcCdDeghHIlnrsStTuvVWp:x:",
            "all arch-specific archive-index demangle? dyn-syms dynamic file-header headers help",
            "hex-dump= histogram notes program-headers relocs section-details section-groups",
            "section-headers sections segments string-dump= symbols syms unwind use-dynamic version",
            "version-info wide",
        )),
        operands: Operands::Files,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("addr2line"),
        access: Access::Reader,
        options: reader(options!(
            "aCfipse:j:",
            "addresses basenames demangle? exe= functions help inlines pretty-print section= version",
        )),
        operands: Operands::Texts,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("c++filt"),
        access: Access::Reader,
        options: reader(options!(
            "_inprt",
            "help no-params no-recurse-limit no-strip-underscore no-verbose strip-underscore types",
            "version",
        )),
        operands: Operands::Texts,
        ..PROJECT_CODE
    },
    // Missing are options that write a file, expand entities or load definitions of documents, which
    // may be files of other places or addresses.
    Declared {
        names: words!("xmllint"),
        access: Access::Reader,
        options: words(
            Rule::R83,
            "use xmllint --xpath EXPRESSION FILE, --noout or --format",
            &[
                (
                    words!(
                        "--format --html --nocdata --noblanks --nodefdtd --nonet --noout --nowarning",
                        "--nowrap --quiet --recover --version",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("--encode= --maxmem= --pattern= --pretty= --xpath="),
                    Value::Text,
                ),
                (words!("--relaxng= --schema= --schematron="), Value::Source),
            ],
        ),
        operands: Operands::Files,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("ldd"),
        access: Access::ProjectCode("programs of the project"),
        options: words(
            Rule::R88,
            "use ldd PROGRAM",
            &[(
                words!("-d -r -u -v --data-relocs --function-relocs --unused --verbose --version"),
                Value::Nothing,
            )],
        ),
        operands: Operands::Programs,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("shfmt"),
        access: Access::ProjectCode("scripts of the project"),
        options: words(
            Rule::R104,
            "use shfmt -d or -w with files of the project, and with options such as -i 2 and -ci",
            &[
                (
                    words!(
                        "-bn -ci -d -f -fn -kp -l -mn -s -sr -w --binary-next-line --case-indent --diff",
                        "--find --func-next-line --keep-padding --list --minify --simplify",
                        "--space-redirects --version --write",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("-i= -ln= --indent= --language-dialect= --filename="),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Rewritten,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("just"),
        access: Access::ProjectCode("recipes of the project"),
        // Missing are a shell (`--shell`), a chooser, an editor and variables for the recipes.
        options: words(
            Rule::R104,
            "use just RECIPE, just --list or just --dry-run RECIPE",
            &[
                (
                    words!(
                        "-l -n -q -u -v --check --dry-run --dump --evaluate --explain --groups --list",
                        "--no-deps --no-dotenv --no-highlight --one --quiet --summary --unsorted",
                        "--variables --verbose --version --yes",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("--color= --list-heading= --list-prefix= --show= -s="),
                    Value::Text,
                ),
                (
                    words!("-d= -f= --justfile= --working-directory="),
                    Value::Source,
                ),
            ],
        ),
        operands: Operands::Tasks,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("task"),
        access: Access::ProjectCode("tasks of the project"),
        options: words(
            Rule::R104,
            "use task NAME or task --list",
            &[
                (
                    words!(
                        "-a -f -l -n -p -s -v -x -y --dry --exit-code --force --list --list-all --parallel",
                        "--silent --status --summary --verbose --version --yes",
                    ),
                    Value::Nothing,
                ),
                (words!("-C= --concurrency= -o= --output="), Value::Text),
                (words!("-d= -t= --dir= --taskfile="), Value::Source),
            ],
        ),
        operands: Operands::Tasks,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("bazel bazelisk"),
        access: Access::ProjectCode("targets of the project"),
        // Missing are options that start a program (`--run_under`), read other settings or name
        // another place for outputs.
        options: words(
            Rule::R104,
            "use bazel build, test, run or query with targets of the project, and with options such \
             as --config and --test_output",
            &[
                (
                    words!(
                        "-k -s --build_tests_only --keep_going --nobuild --nocache_test_results",
                        "--noimplicit_deps --nokeep_going --noshow_loading_progress --noshow_progress",
                        "--notool_deps --subcommands --verbose_failures --version",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "-c= -j= --build_tag_filters= --cache_test_results= --color= --compilation_mode=",
                        "--config= --curses= --flaky_test_attempts= --jobs= --local_test_jobs= --output=",
                        "--runs_per_test= --show_result= --test_arg= --test_filter= --test_output=",
                        "--test_size_filters= --test_summary= --test_tag_filters= --test_timeout=",
                        "--ui_event_filters=",
                    ),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Targets,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("autoconf autoheader automake autoreconf aclocal libtoolize"),
        access: Access::ProjectCode("the configuration of the project"),
        options: words(
            Rule::R104,
            "use autoreconf -fi",
            &[
                (
                    words!(
                        "-a -c -f -fi -fiv -fvi -i -if -ivf -s -v -vfi --add-missing --copy --force",
                        "--foreign --gnu --install --no-force --no-recursive --symlink --verbose",
                        "--version",
                    ),
                    Value::Nothing,
                ),
                (words!("-W= --warnings="), Value::Text),
                (words!("-I= --include="), Value::Source),
            ],
        ),
        operands: Operands::Sources,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("valgrind"),
        access: Access::ProjectCode("programs of the project"),
        // Missing are commands for a debugger.
        options: words(
            Rule::R104,
            "use valgrind --leak-check=full PROGRAM",
            &[
                (
                    words!("-q -s -v --quiet --verbose --version"),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--alignment? --branch-sim? --cache-sim? --child-silent-after-fork?",
                        "--collect-jumps? --demangle? --dump-instr? --error-exitcode? --error-limit?",
                        "--errors-for-leak-kinds? --exit-on-first-error? --fair-sched? --free-fill?",
                        "--freelist-vol? --gen-suppressions? --heap? --keep-debuginfo?",
                        "--keep-stacktraces? --leak-check? --leak-check-heuristics? --leak-resolution?",
                        "--main-stacksize? --malloc-fill? --max-stackframe? --num-callers?",
                        "--partial-loads-ok? --read-var-info? --redzone-size? --show-leak-kinds?",
                        "--show-possibly-lost? --show-reachable? --stacks? --time-unit?",
                        "--trace-children? --track-fds? --track-origins? --undef-value-errors? --xml?",
                    ),
                    Value::Text,
                ),
                (
                    words!("--tool?"),
                    Value::OneOf(words!(
                        "cachegrind callgrind dhat drd helgrind massif memcheck none",
                    )),
                ),
                (words!("--suppressions?"), Value::Source),
                (
                    words!(
                        "--cachegrind-out-file? --callgrind-out-file? --dhat-out-file? --log-file?",
                        "--massif-out-file? --xml-file?",
                    ),
                    Value::Output,
                ),
            ],
        ),
        operands: Operands::Command,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("clang-format"),
        access: Access::ProjectCode("sources of the project"),
        options: words(
            Rule::R101,
            "use clang-format -i FILES, with --style=NAME",
            &[
                (
                    words!(
                        "-i -n -Werror --Werror --dry-run --dump-config --sort-includes --verbose",
                        "--version",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--assume-filename= -assume-filename= --fallback-style= -fallback-style=",
                        "--ferror-limit= --lines= -lines=",
                    ),
                    Value::Text,
                ),
                (
                    words!("--style= -style="),
                    Value::OneOf(words!(
                        "Chromium GNU Google LLVM Microsoft Mozilla WebKit chromium file gnu google llvm",
                        "microsoft mozilla none webkit",
                    )),
                ),
            ],
        ),
        operands: Operands::Rewritten,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("clang-tidy run-clang-tidy"),
        access: Access::ProjectCode("sources of the project"),
        // Missing are plugins, other programs, and arguments for the compiler.
        options: words(
            Rule::R101,
            "use clang-tidy -p build FILES, with --checks and --fix",
            &[
                (
                    words!(
                        "-fix -fix-errors -fix-notes -format -list-checks -quiet --fix --fix-errors",
                        "--fix-notes --list-checks --quiet --verify-config --version",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "-checks= -format-style= -header-filter= -j= -line-filter= -style=",
                        "-warnings-as-errors= --checks= --format-style= --header-filter= --line-filter=",
                        "--warnings-as-errors=",
                    ),
                    Value::Text,
                ),
                (words!("-config-file= --config-file= -p="), Value::Source),
                (words!("-export-fixes= --export-fixes="), Value::Output),
            ],
        ),
        operands: Operands::Sources,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("cppcheck"),
        access: Access::ProjectCode("sources of the project"),
        // Missing are addons and `--clang`, which start programs.
        options: words(
            Rule::R101,
            "use cppcheck --enable=all FOLDER",
            &[
                (
                    words!(
                        "-f -q -v --check-config --errorlist --force --inconclusive --inline-suppr",
                        "--no-check-headers --quiet --verbose --version --xml",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "-D: -U: -j: --check-level= --enable= --error-exitcode= --language= --max-configs=",
                        "--platform= --relative-paths= --std= --suppress= --template= --xml-version=",
                    ),
                    Value::Text,
                ),
                (
                    words!("-I: -i: --config-exclude= --include= --project= --suppressions-list="),
                    Value::Source,
                ),
                (
                    words!("--cppcheck-build-dir= --output-file="),
                    Value::Output,
                ),
            ],
        ),
        operands: Operands::Sources,
        ..PROJECT_CODE
    },
];

/// Judges a command by its entries in the tables, one of which must allow it.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    if version_probe::is_query(call) {
        return Ok(());
    }
    let tables = [
        TABLE,
        services::TABLE,
        services::OF_PROFILES,
        languages::TABLE,
    ];
    let entries = tables.into_iter().flatten();
    let mut denial = None;
    for declared in entries.filter(|it| it.names.contains(&call.name)) {
        match declared.check(call) {
            Ok(()) => return Ok(()),
            Err(it) if denial.is_none() || declared.names_subcommand(call) => denial = Some(it),
            Err(_) => {}
        }
    }
    // The operator may have added it for the other mode.
    let is_added = call.policy().config().allow_commands.is_listed(call.name);
    let denial = denial.filter(|_| !is_added);
    Err(denial.unwrap_or_else(|| extensions::not_in_allowlist(call)))
}

impl Declared {
    /// Returns whether all words of one of its subcommands are among the arguments.
    fn names_subcommand(&self, call: &Call<'_, '_, '_>) -> bool {
        let mut names = self.subcommands.iter();
        names.any(|name| name.split(':').all(|word| call.has(word)))
    }

    fn check(&self, call: &Call<'_, '_, '_>) -> Checked {
        if let Access::ProjectCode(construct) = self.access {
            runs_code_of_project(call, construct)?;
        }
        if let Options::Words(allowed) = &self.options
            && !self.subcommands.is_empty()
            && !self.names_subcommand(call)
        {
            return Err(deny_use(call, allowed));
        }
        if self.in_project {
            check_source_path(call, self.options.rule(), ".", call.span)?;
        }
        match (&self.options, self.operands) {
            (Options::Letters(allowed), operands) => {
                let items = options::read(call, &allowed.options)?;
                allowed.check(call, &items)?;
                for item in &items {
                    match item {
                        // Versions disagree on abbreviations.
                        ParsedArg::Option { name, arg, .. } if !is_in_full(name, arg) => {
                            return Err(call.deny_flag(allowed.rule, &arg.text, arg.span));
                        }
                        ParsedArg::Option { .. } => {}
                        ParsedArg::Operand(operand) => {
                            check_operand(call, operands, allowed.rule, operand)?;
                        }
                    }
                }
                Ok(())
            }
            (Options::Words(allowed), Operands::Command) => self.wrap(call, allowed),
            (Options::Words(allowed), Operands::Rewritten) => {
                // As for other formatters, another command may list the files. It must not be able
                // to name a subcommand.
                spelled_options::check(call)?;
                let has_none = self.subcommands.is_empty();
                let is_listed =
                    |arg: &&Arg<'_>| has_none && !arg.is_static() && arg.text.is_empty();
                let written: Vec<Arg<'_>> = call
                    .args
                    .iter()
                    .filter(|arg| !is_listed(arg))
                    .cloned()
                    .collect();
                self.read(call, allowed, &written)
            }
            (Options::Words(allowed), _) => {
                let end = call.args.iter().position(|arg| arg.is("--"));
                let first = call.args.first();
                let passes =
                    first.is_some_and(|it| self.passes_rest.iter().any(|name| it.is(name)));
                let end = end.filter(|_| passes).unwrap_or(call.args.len());
                self.read(call, allowed, &call.args[..end])
            }
        }
    }

    fn read<'s>(
        &self,
        call: &Call<'_, '_, 's>,
        allowed: &StrictOptions,
        args: &[Arg<'s>],
    ) -> Checked {
        let (mut operands, mut has_required) = (Vec::new(), self.required.is_empty());
        for item in allowed.read(call, args, nothing_special)? {
            match item {
                Item::Operand(operand) => operands.push(operand),
                Item::Option { name, .. } => has_required |= self.required.contains(&name),
            }
        }
        if !has_required {
            let reason = format!(
                "{} does more without {}",
                call.name,
                self.required.join(" or ")
            );
            return Err(call.deny(allowed.rule, reason).instead(allowed.instead));
        }
        let words = self.subcommand(call, allowed, &operands)?;
        for (at, operand) in operands[words..].iter().enumerate() {
            match self.operands {
                Operands::Program | Operands::LocalServer if at > 0 => {}
                Operands::Executable if at > 0 => return Err(allowed.deny(call, operand)),
                operands => check_operand(call, operands, allowed.rule, operand)?,
            }
        }
        Ok(())
    }

    /// Returns the number of operands that are the subcommand.
    fn subcommand(
        &self,
        call: &Call<'_, '_, '_>,
        allowed: &StrictOptions,
        operands: &[&Arg<'_>],
    ) -> Result<usize, Denial> {
        let is_given = |name: &&&str| {
            let mut given = operands.iter();
            name.split(':')
                .all(|word| given.next().is_some_and(|arg| arg.is(word)))
        };
        match self.subcommands.iter().find(is_given) {
            Some(name) => Ok(name.split(':').count()),
            None if self.subcommands.is_empty() => Ok(0),
            None => Err(deny_use(call, allowed)),
        }
    }

    /// Judges the command behind the options.
    fn wrap(&self, call: &Call<'_, '_, '_>, allowed: &StrictOptions) -> Checked {
        let first: Vec<&Arg<'_>> = call.args.iter().take(1).collect();
        let words = self.subcommand(call, allowed, &first)?;
        let args = &call.args[words..];
        let (_, command) = allowed.read_leading(call, args, nothing_special)?;
        // valgrind puts variables of the environment into names of files.
        let options = &args[..args.len() - command.len()];
        if let Some(option) = options.iter().find(|option| option.text.contains("%q")) {
            return Err(allowed.deny(call, option));
        }
        call.inner(command)
    }
}

fn is_in_full(name: &str, arg: &Arg<'_>) -> bool {
    !name.starts_with("--") || arg.text.split('=').next() == Some(name)
}

fn check_operand(
    call: &Call<'_, '_, '_>,
    operands: Operands,
    rule: Rule,
    arg: &Arg<'_>,
) -> Checked {
    let deny = |reason: &str, instead: &'static str| {
        let reason = format!("'{}' {reason}", arg.text);
        Err(Denial::by(rule, arg.span, reason).instead(instead))
    };
    let may_begin = matches!(operands, Operands::Targets | Operands::Aliases);
    if arg.text.starts_with('@') && !may_begin {
        return deny("may hold more arguments", "begin the path with ./");
    }
    if arg.text.contains("://") {
        return deny("is an address", "use a file of the project");
    }
    let is_path = rule == Rule::R108 && !matches!(operands, Operands::TaskLines(_));
    if is_path && arg.text.contains(['\\', '=']) {
        return deny("may be code or a setting", "name a file of the project");
    }
    match operands {
        Operands::Texts | Operands::Command => Ok(()),
        Operands::Nothing => deny("is not expected", "leave it out"),
        Operands::CommandLines => check_command_line(call, arg),
        Operands::Program if arg.is("-") => Ok(()),
        Operands::Executable if !arg.text.contains('/') && !arg.text.ends_with(".exe") => deny(
            "may be a program of the system",
            "name it by its path, such as ./bin/main.exe",
        ),
        Operands::Program | Operands::Executable => check_source(call, rule, arg),
        Operands::Aliases => {
            let path = arg.text.trim_start_matches('@').to_owned();
            match arg.known() {
                Some(_) => check_source(call, rule, &Arg::plain(path, arg.span)),
                None => Err(call.deny_dynamic(arg)),
            }
        }
        Operands::TaskLines(tasks) => {
            let is_task = |line: &str| {
                let first = line.split_ascii_whitespace().next().unwrap_or_default();
                let name = first.rsplit('/').next().unwrap_or(first);
                tasks.contains(&name) && has_only(line, " _./:,=+*-\"")
            };
            match arg.known() {
                Some(text) if text.split(';').all(is_task) => Ok(()),
                _ => deny(
                    "is no known task",
                    "use tasks that compile, test and format",
                ),
            }
        }
        Operands::LocalServer => {
            let host = arg.known().and_then(|text| text.rsplit_once(':'));
            match host {
                Some((host, port)) if is_local_host(host) && is_number(port) => Ok(()),
                _ => deny("is no server of this machine", "use localhost:PORT"),
            }
        }
        Operands::Files => check_input(call, rule, arg),
        Operands::Rewritten if arg.known().is_some() => {
            call.check_write_target(arg, Root::Accepted)
        }
        Operands::Rewritten => writers::check_target(call, arg),
        Operands::Sources => check_source(call, rule, arg),
        Operands::Programs => match arg.known() {
            Some(program) => scripts::check(call, program, arg.span),
            None => Err(call.deny_dynamic(arg)),
        },
        Operands::Targets => match arg.known() {
            Some(_) => Ok(()),
            None => Err(call.deny_dynamic(arg)),
        },
        Operands::Tasks => {
            match arg.known() {
                // Recipes pass the text to a shell, and a path may lead to tasks of other places.
                Some(text) if has_only(text, " _./:,=+@%-") => {
                    let (name, value) = text.split_once('=').unwrap_or(("", text));
                    if is_identifier(name) {
                        assignments::check_argument(call, arg, name)
                    } else if path::stays_below(value) {
                        Ok(())
                    } else {
                        Err(escapes(arg, rule))
                    }
                }
                _ => deny(
                    "is no plain name or NAME=value",
                    "write the name of the task, and plain literal text",
                ),
            }
        }
    }
}

/// Creates the denial of a subcommand.
fn deny_use(call: &Call<'_, '_, '_>, allowed: &StrictOptions) -> Denial {
    let reason = format!("this use of {} is not on the list", call.name);
    let mut denial = call.deny(allowed.rule, reason).instead(allowed.instead);
    denial.remedy = remedy::command(call.policy(), call.name);
    denial
}

/// Creates the denial of a value of an option.
fn deny_value(call: &Call<'_, '_, '_>, value: &Arg<'_>, instead: &'static str) -> Checked {
    let reason = format!("'{}' is no plain value for {}", value.text, call.name);
    Err(Denial::by(Rule::R104, value.span, reason).instead(instead))
}

/// Checks a value that names neither a path nor an address.
fn check_plain(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(text) if has_only(text, " _.:;,=+*|()~!&<>-") => Ok(()),
        _ => deny_value(call, value, "write a literal value without slashes"),
    }
}

/// Checks a file of the project in an option that also takes settings as text.
fn check_path(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(text) if has_only(text, "_./-") => check_source(call, Rule::R104, value),
        _ => deny_value(call, value, "name a file of the project"),
    }
}

/// Checks code in an option.
fn check_code_option(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(_) => Ok(()),
        None => Err(call.deny_dynamic(value)),
    }
}

/// Checks the output of a plugin of protoc: `FOLDER` or `OPTIONS:FOLDER`.
fn check_plugin_output(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    let text = value.known().unwrap_or_default();
    let folder = text.split_once(':').map_or(text, |(_, folder)| folder);
    if folder.is_empty() || folder.contains(':') {
        return deny_value(call, value, "name a folder of the project");
    }
    call.check_write_target(&Arg::plain(folder.to_owned(), value.span), Root::Accepted)
}

/// Checks what buf compares with: a revision of the repository, or a folder of the project.
fn check_baseline(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(text) if text.starts_with(".git#") && has_only(text, "_./#=,~^-") => Ok(()),
        _ => check_path(call, value),
    }
}

/// Checks events of perf: neither a program for the kernel nor a file.
fn check_event(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(text) if has_only(text, "_:,/={}-") => Ok(()),
        _ => deny_value(call, value, "use events such as cycles,instructions"),
    }
}

/// Checks that actionlint starts the usual linters, or none.
fn check_linter(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some("" | "shellcheck" | "pyflakes") => Ok(()),
        _ => deny_value(call, value, "leave the option out"),
    }
}

/// Checks a command line that a shell runs.
fn check_command_line(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    match value.known() {
        Some(text) if nested::is_same_in_every_shell(text) => nested::check(call, text, value.span),
        _ => deny_value(call, value, "write a simple command literally"),
    }
}

/// Checks a class path whose code runs.
fn check_class_path(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    java::check_class_path(call, value)
}

/// Subcommands of bazel that build, test and print.
const BAZEL: &[&str] = words!("aquery build coverage cquery help info mod query run test version");

/// Judges bazel, whose first argument is its subcommand.
pub(super) fn bazel(call: &Call<'_, '_, '_>) -> Checked {
    match call.args.first() {
        Some(first) if first.known().is_some_and(|word| BAZEL.contains(&word)) => check(call),
        Some(first) if first.is("--version") => check(call),
        _ => Err(call
            .deny(Rule::R104, "bazel does more than build, test and print")
            .instead("use bazel build, test, run or query")),
    }
}
