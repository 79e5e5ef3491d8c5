//! Build tools, test runners and checkers of languages without a profile, in run mode.

use super::{Declared, Operands, PROJECT_CODE, check_code_option, check_plain, words};
use crate::Rule;
use crate::check::commands::strict_options::Value;

const INSTEAD: &str = "use its subcommands that build, test, check and format, with usual options";

const TOOL: Declared = Declared {
    options: words(Rule::R108, INSTEAD, &[]),
    in_project: true,
    ..PROJECT_CODE
};

pub(super) static TABLE: &[Declared] = &[
    Declared {
        names: words!("dotnet"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[(
                words!("--info --list-runtimes --list-sdks --version"),
                Value::Nothing,
            )],
        ),
        operands: Operands::Nothing,
        ..TOOL
    },
    // Missing are properties of the build (`-p:NAME=VALUE`), which may name programs.
    Declared {
        names: words!("dotnet"),
        subcommands: words!(
            "build clean ef:migrations:list ef:migrations:script format list restore run sln:list test",
        ),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-h --blame --deprecated --force --help --idempotent --include-transitive",
                        "--list-tests --locked-mode --no-build --no-color --no-dependencies",
                        "--no-incremental --no-launch-profile --no-restore --nologo --outdated",
                        "--verify-no-changes --vulnerable -nologo",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--context= --diagnostics= --filter= --launch-profile= --severity= --verbosity= -m? -v: -v=",
                        "-verbosity= -clp: -maxcpucount?",
                    ),
                    Value::Text,
                ),
                // The name of a file may be among the settings.
                (
                    words!(
                        "--arch= --collect= --configuration= --framework= --logger= --os= --runtime= -c= -f= -l=",
                    ),
                    Value::By(check_plain),
                ),
                (
                    words!(
                        "--exclude= --include= --project= --settings= --startup-project= -p= -s="
                    ),
                    Value::Source,
                ),
                (
                    words!("--output= --report= --results-directory= -o= -r="),
                    Value::Output,
                ),
            ],
        ),
        passes_rest: words!("run"),
        ..TOOL
    },
    // Missing are tasks that drop a database or publish, and `cmd`.
    Declared {
        names: words!("mix"),
        subcommands: words!(
            "compile coveralls credo deps deps.compile deps.get deps.tree dialyzer ecto.create",
            "ecto.gen.migration ecto.migrate ecto.migrations format hex.audit hex.outdated phx.routes",
            "run sobelow test xref",
        ),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "--all --check-formatted --check-locked --check-unused --cover --dry-run --failed --force",
                        "--no-archives-check --no-compile --no-deps-check --no-halt --no-start --preload-modules",
                        "--quiet --raise --slowest-modules --stale --strict --trace --warnings-as-errors",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--checks= --exclude= --format= --include= --max-failures= --only= --partitions= --repo=",
                        "--seed= --slowest= --step= --timeout=",
                    ),
                    Value::Text,
                ),
                (words!("-e= --eval="), Value::By(check_code_option)),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("rebar3"),
        subcommands: words!(
            "as:test:compile as:test:ct as:test:eunit compile ct deps dialyzer eunit fmt lint proper tree",
            "xref",
        ),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (words!("-v --check --cover --verbose"), Value::Nothing),
                (
                    words!("--app= --case= --group= --module= --suite= --test= -m="),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Nothing,
        ..TOOL
    },
    // Missing are options for the compiler, which may name programs.
    Declared {
        names: words!("cabal"),
        subcommands: words!("bench build check list-bin outdated run test"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-O0 -O1 -O2 -v0 -v1 -v2 --disable-tests --dry-run --enable-benchmarks --enable-coverage",
                        "--enable-tests --keep-going --offline --only-dependencies",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--benchmark-options= --flags= --jobs= --test-option= --test-options=",
                        "--test-show-details= -f: -j:",
                    ),
                    Value::Text,
                ),
            ],
        ),
        passes_rest: words!("run"),
        ..TOOL
    },
    Declared {
        names: words!("stack"),
        subcommands: words!("bench build test"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "--coverage --dry-run --fast --keep-going --no-install-ghc --no-run-benchmarks",
                        "--no-run-tests --only-dependencies --pedantic --test",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("--flag= --jobs= --ta= --test-arguments= -j:"),
                    Value::Text,
                ),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("hlint"),
        options: words(
            Rule::R108,
            "use hlint FOLDER",
            &[
                (words!("-s --json --no-summary --show"), Value::Nothing),
                (
                    words!("--color? --ignore= --language= --only= -X: -i:"),
                    Value::Text,
                ),
                (words!("--hint= -h="), Value::Source),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("fourmolu ormolu stylua swiftformat"),
        options: words(
            Rule::R108,
            "use it with --mode check, --check or --lint, and files of the project",
            &[
                (
                    words!("-c -i --check --lint --no-cabal --quiet --verify"),
                    Value::Nothing,
                ),
                (words!("--color= --mode= -m= -o:"), Value::Text),
            ],
        ),
        operands: Operands::Rewritten,
        ..TOOL
    },
    // Missing are options for the compiler and the linker.
    Declared {
        names: words!("swift"),
        subcommands: words!(
            "build package:describe package:dump-package package:show-dependencies run test",
        ),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-q -v --build-tests --enable-code-coverage --list-tests --no-parallel --parallel --quiet",
                        "--show-bin-path --skip-build --skip-update --verbose",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--configuration= --filter= --format= --jobs= --num-workers= --product= --skip= --target=",
                        "--type= -c= -j:",
                    ),
                    Value::Text,
                ),
                (words!("--package-path="), Value::Source),
                (words!("--scratch-path= --xunit-output="), Value::Output),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("swiftlint"),
        subcommands: words!("analyze lint rules"),
        options: words(
            Rule::R108,
            "use swiftlint lint FOLDER",
            &[
                (words!("--fix --quiet --strict"), Value::Nothing),
                (words!("--only-rule= --reporter="), Value::Text),
                (words!("--config="), Value::Source),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("dart flutter"),
        subcommands: words!(
            "analyze fix format gen-l10n pub:deps pub:get pub:outdated run:build_runner:build",
            "run:build_runner:test test",
        ),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-r --apply --coverage --delete-conflicting-outputs --dry-run --fatal-infos",
                        "--fatal-warnings --no-fatal-infos --no-fatal-warnings --no-pub --offline",
                        "--set-exit-if-changed --update-goldens",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--concurrency= --exclude-tags= --line-length= --name= --plain-name= --platform= --reporter=",
                        "--tags= --timeout= -N: -j: -l: -n: -p: -t:",
                    ),
                    Value::Text,
                ),
                (
                    words!("--output= -o="),
                    Value::OneOf(words!("json none show write")),
                ),
            ],
        ),
        ..TOOL
    },
    // Other names may be programs of packages, which publish.
    Declared {
        names: words!("dart"),
        subcommands: words!("run"),
        options: words(
            Rule::R108,
            "run a program by its path: dart run bin/main.dart",
            &[],
        ),
        operands: Operands::Executable,
        ..TOOL
    },
    // Missing are options that name outputs and libraries.
    Declared {
        names: words!("zig"),
        subcommands: words!("ast-check build fmt run test"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-OReleaseFast -OReleaseSafe -OReleaseSmall -ODebug -lc --check --release --verbose",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("--color= --release? --summary= --test-filter= -D: -O= -j:"),
                    Value::By(check_plain),
                ),
            ],
        ),
        passes_rest: words!("build run test"),
        ..TOOL
    },
    Declared {
        names: words!("luacheck"),
        options: words(
            Rule::R108,
            "use luacheck FOLDER",
            &[
                (
                    words!("-q -qq --codes --no-color --no-max-line-length --no-unused --ranges"),
                    Value::Nothing,
                ),
                (
                    words!("--formatter= --globals= --ignore= --only= --read-globals= --std="),
                    Value::By(check_plain),
                ),
                (words!("--config= --exclude-files="), Value::Source),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("busted"),
        options: words(
            Rule::R108,
            "use busted FILES",
            &[
                (
                    words!("-c -v --coverage --no-keep-going --verbose"),
                    Value::Nothing,
                ),
                (
                    words!("--exclude-tags= --filter= --output= --run= --tags= -o= -r= -t="),
                    Value::By(check_plain),
                ),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("Rscript"),
        options: words(
            Rule::R108,
            "use Rscript FILE, or Rscript -e 'CODE'",
            &[
                (
                    words!("--no-init-file --no-save --slave --vanilla --version"),
                    Value::Nothing,
                ),
                (words!("-e="), Value::By(check_code_option)),
            ],
        ),
        operands: Operands::Program,
        ..TOOL
    },
    Declared {
        names: words!("julia"),
        options: words(
            Rule::R108,
            "use julia --project FILE, or julia --project -e 'CODE'",
            &[
                (
                    words!(
                        "-O -O0 -O1 -O2 -O3 -q --project --quiet --startup-file=no --version -O=0 -O=3",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("--check-bounds? --color? --optimize? --threads? -t:"),
                    Value::Text,
                ),
                (words!("--project?"), Value::Source),
                (words!("-E= -e= --eval="), Value::By(check_code_option)),
            ],
        ),
        operands: Operands::Program,
        ..TOOL
    },
    Declared {
        names: words!("dune"),
        subcommands: words!("build clean describe fmt promote runtest test"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!("-f --auto-promote --force --no-buffer --no-print-directory"),
                    Value::Nothing,
                ),
                (
                    words!("--display= --profile= -j:"),
                    Value::OneOf(words!(
                        "dev progress quiet release short verbose 1 2 3 4 6 8 12 16"
                    )),
                ),
            ],
        ),
        operands: Operands::Aliases,
        ..TOOL
    },
    // A name without a folder may be a program of the system.
    Declared {
        names: words!("dune"),
        subcommands: words!("exec"),
        options: words(
            Rule::R108,
            "name the program by its path: dune exec ./bin/main.exe -- ARGUMENTS",
            &[(words!("--no-build --no-print-directory"), Value::Nothing)],
        ),
        operands: Operands::Executable,
        passes_rest: words!("exec"),
        ..TOOL
    },
    Declared {
        names: words!("sbt"),
        options: words(
            Rule::R108,
            "use tasks such as sbt compile and sbt 'testOnly *Spec'",
            &[
                (words!("-no-colors -batch"), Value::Nothing),
                (
                    words!("-Dsbt.color= -Dsbt.offline= -Dsbt.supershell="),
                    Value::OneOf(words!("always auto false never true")),
                ),
            ],
        ),
        operands: Operands::TaskLines(words!(
            "assembly clean compile dependencyTree package project projects scalafix scalafixAll",
            "scalafmt scalafmtAll scalafmtCheck scalafmtCheckAll scalafmtSbtCheck stage test testOnly",
            "testQuick update Test/compile",
        )),
        ..TOOL
    },
    Declared {
        names: words!("lein"),
        subcommands: words!("check compile deps eastwood kibit test"),
        options: words(Rule::R108, INSTEAD, &[(words!("-o"), Value::Nothing)]),
        ..TOOL
    },
    Declared {
        names: words!("clj-kondo"),
        options: words(
            Rule::R108,
            "use clj-kondo --lint FOLDER",
            &[
                (words!("--lint= --config-dir="), Value::Source),
                (
                    words!("--config= --fail-level= --lang= --parallel"),
                    Value::Text,
                ),
            ],
        ),
        ..TOOL
    },
    // Missing are `--ffi`, with which tests run programs, and forks of other networks.
    Declared {
        names: words!("forge"),
        subcommands: words!("build compile coverage fmt snapshot test"),
        options: words(
            Rule::R108,
            INSTEAD,
            &[
                (
                    words!(
                        "-v -vv -vvv -vvvv -vvvvv --check --force --gas-report --json --list --no-match-coverage",
                        "--offline --sizes --summary",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--fuzz-runs= --match-contract= --match-path= --match-test= --mc= --mp= --mt=",
                        "--no-match-contract= --no-match-test=",
                    ),
                    Value::Text,
                ),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("prove"),
        options: words(
            Rule::R108,
            "use prove -l FILES",
            &[
                (
                    words!("-b -l -lr -lrv -lv -lvr -q -r -rv -v -vl --lib --recurse --verbose"),
                    Value::Nothing,
                ),
                (words!("-j:"), Value::Count),
                (words!("-I:"), Value::Source),
            ],
        ),
        ..TOOL
    },
    Declared {
        names: words!("perl"),
        options: words(
            Rule::R108,
            "check a script of the project with perl -c FILE; change files with sed -i or the Edit tool",
            &[
                (words!("-c -cw -w -wc"), Value::Nothing),
                (words!("-I:"), Value::Source),
            ],
        ),
        required: words!("-c -cw -wc"),
        ..TOOL
    },
    // Missing are other programs for a step, and commands for the shell.
    Declared {
        names: words!("latexmk"),
        options: words(
            Rule::R108,
            "use latexmk -pdf FILE, with -outdir=FOLDER",
            &[
                (
                    words!(
                        "-c -f -g -halt-on-error -lualatex -pdf -pdflua -pdfxe -quiet -silent -xelatex",
                        "-interaction=batchmode -interaction=nonstopmode",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("-auxdir= -outdir= -output-directory="),
                    Value::Output,
                ),
            ],
        ),
        ..TOOL
    },
    // Plugins are programs of these names on the path.
    Declared {
        names: words!("protoc"),
        options: words(
            Rule::R108,
            "use protoc -I proto --LANGUAGE_out=FOLDER FILES",
            &[
                (
                    words!(
                        "--decode_raw --experimental_allow_proto3_optional --include_imports",
                        "--include_source_info",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--decode= --encode= --es_opt= --go-grpc_opt= --go_opt= --grpc-gateway_opt= --python_opt=",
                        "--ts_opt= --ts_proto_opt=",
                    ),
                    Value::Text,
                ),
                (words!("-I: --proto_path="), Value::Library),
                (
                    words!(
                        "--cpp_out= --csharp_out= --dart_out= --es_out= --go-grpc_out= --go_out= --grpc-gateway_out=",
                        "--grpc_out= --java_out= --js_out= --kotlin_out= --objc_out= --php_out= --pyi_out=",
                        "--python_out= --ruby_out= --rust_out= --swift_out= --ts_out= --ts_proto_out=",
                    ),
                    Value::By(super::check_plugin_output),
                ),
                (
                    words!("--dependency_out= --descriptor_set_out= -o:"),
                    Value::Output,
                ),
            ],
        ),
        operands: Operands::Files,
        ..TOOL
    },
];
