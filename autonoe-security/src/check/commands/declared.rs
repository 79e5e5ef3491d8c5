//! Commands whose rules a table describes completely.
//!
//! An entry names the allowed options with the meaning of their values, and the meaning of the
//! operands. One function judges every entry.

use super::option_allow_list::OptionAllowList;
use super::scripts::{self, runs_code_of_project};
use super::strict_options::{
    Item, StrictOptions, Value, check_input, check_source, nothing_special,
};
use super::{Commands, writers};
use crate::check::arg::Arg;
use crate::check::builtins::is_identifier;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::text::has_only;
use crate::check::write_target::{Root, escapes};
use crate::check::{assignments, extensions, path, spelled_options};
use crate::option_table::OptionTable;
use crate::{Denial, Rule};

/// A command and its rules.
struct Declared {
    names: &'static [&'static str],
    access: Access,
    options: Options,
    operands: Operands,
}

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
];

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
    },
    Declared {
        names: words!("size"),
        access: Access::Reader,
        options: reader(options!(
            "ABGdoxtVf",
            "common format= help radix= totals version",
        )),
        operands: Operands::Files,
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
    },
    Declared {
        names: words!("addr2line"),
        access: Access::Reader,
        options: reader(options!(
            "aCfipse:j:",
            "addresses basenames demangle? exe= functions help inlines pretty-print section= version",
        )),
        operands: Operands::Texts,
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
    },
];

/// Judges a command by its entry in the table.
pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut entries = TABLE.iter();
    let Some(declared) = entries.find(|it| it.names.contains(&call.name)) else {
        return Err(extensions::not_in_allowlist(call));
    };
    if let Access::ProjectCode(construct) = declared.access {
        runs_code_of_project(call, construct)?;
    }
    match (&declared.options, declared.operands) {
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
        (Options::Words(allowed), Operands::Command) => wrap(call, allowed),
        (Options::Words(allowed), Operands::Rewritten) => {
            // As for other formatters, another command may list the files.
            spelled_options::check(call)?;
            let is_listed = |arg: &&Arg<'_>| !arg.is_static() && arg.text.is_empty();
            let written: Vec<Arg<'_>> = call
                .args
                .iter()
                .filter(|arg| !is_listed(arg))
                .cloned()
                .collect();
            read(call, allowed, Operands::Rewritten, &written)
        }
        (Options::Words(allowed), operands) => read(call, allowed, operands, call.args),
    }
}

fn is_in_full(name: &str, arg: &Arg<'_>) -> bool {
    !name.starts_with("--") || arg.text.split('=').next() == Some(name)
}

fn read<'s>(
    call: &Call<'_, '_, 's>,
    allowed: &StrictOptions,
    operands: Operands,
    args: &[Arg<'s>],
) -> Checked {
    for item in allowed.read(call, args, nothing_special)? {
        if let Item::Operand(operand) = item {
            check_operand(call, operands, allowed.rule, operand)?;
        }
    }
    Ok(())
}

/// Judges the command behind the options.
fn wrap(call: &Call<'_, '_, '_>, allowed: &StrictOptions) -> Checked {
    // valgrind puts variables of the environment into names of files.
    let (_, command) = allowed.read_leading(call, call.args, nothing_special)?;
    let options = &call.args[..call.args.len() - command.len()];
    if let Some(option) = options.iter().find(|option| option.text.contains("%q")) {
        return Err(allowed.deny(call, option));
    }
    call.inner(command)
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
    if arg.text.starts_with('@') && !matches!(operands, Operands::Targets) {
        return deny("may hold more arguments", "begin the path with ./");
    }
    if arg.text.contains("://") {
        return deny("is an address", "use a file of the project");
    }
    match operands {
        Operands::Texts | Operands::Command => Ok(()),
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
