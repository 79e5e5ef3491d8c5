//! Containers, infrastructure and further checkers.

use super::{
    Access, Declared, Operands, PROJECT_CODE, READ, check_baseline, check_command_line,
    check_event, check_linter, words,
};
use crate::Rule;
use crate::check::commands::strict_options::Value;

const STATUS: &str =
    "use docker compose ps, docker compose logs SERVICE or docker compose config --services";

const READER: Declared = Declared {
    access: Access::Reader,
    options: words(Rule::R83, READ, &[]),
    operands: Operands::Files,
    ..PROJECT_CODE
};

const CHECKER: Declared = Declared {
    in_project: true,
    ..PROJECT_CODE
};

pub(super) static TABLE: &[Declared] = &[
    // Missing are other hosts, contexts and settings. Without `compose`, docker shows containers of
    // other projects, whose logs no other command may read.
    Declared {
        names: words!("docker"),
        subcommands: words!(
            "compose:images compose:logs compose:ls compose:port compose:ps compose:top compose:version",
        ),
        options: words(
            Rule::R107,
            STATUS,
            &[
                (
                    words!(
                        "-a -q -t --all --follow --no-color --no-log-prefix --no-trunc --orphans --quiet",
                        "--services --short --timestamps",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--filter= --format= --index= --profile= --protocol= --since= --status= --tail= --until= -n=",
                    ),
                    Value::Text,
                ),
                (words!("-f= --file= --project-directory="), Value::Source),
            ],
        ),
        operands: Operands::Texts,
        in_project: true,
        ..READER
    },
    // Without these options, it prints the variables of the environment.
    Declared {
        names: words!("docker"),
        subcommands: words!("compose:config"),
        options: words(
            Rule::R107,
            STATUS,
            &[
                (
                    words!("-q --images --profiles --quiet --services --volumes"),
                    Value::Nothing,
                ),
                (words!("--profile="), Value::Text),
                (words!("-f= --file= --project-directory="), Value::Source),
            ],
        ),
        operands: Operands::Nothing,
        required: words!("-q --images --profiles --quiet --services --volumes"),
        in_project: true,
        ..READER
    },
    Declared {
        names: words!("benchstat"),
        options: words(
            Rule::R83,
            READ,
            &[(
                words!("-alpha= -col= -filter= -format= -ignore= -row= -table="),
                Value::Text,
            )],
        ),
        ..READER
    },
    Declared {
        names: words!("hadolint"),
        options: words(
            Rule::R83,
            READ,
            &[
                (
                    words!(
                        "-V --disable-ignore-pragma --no-color --no-fail --strict-labels --verbose --version"
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--error= --failure-threshold= --format= --ignore= --info= --require-label= --style=",
                        "--trusted-registry= --warning= -f= -t=",
                    ),
                    Value::Text,
                ),
                (words!("--config= -c="), Value::Library),
            ],
        ),
        ..READER
    },
    Declared {
        names: words!("yamllint"),
        options: words(
            Rule::R83,
            READ,
            &[
                (
                    words!("-s -v --list-files --no-warnings --strict --version"),
                    Value::Nothing,
                ),
                (words!("--config-data= --format= -d= -f="), Value::Text),
                (words!("--config-file= -c="), Value::Library),
            ],
        ),
        ..READER
    },
    // Missing is `--net`, with which a document names addresses.
    Declared {
        names: words!("xmlstarlet"),
        subcommands: words!("el fo sel val"),
        options: words(
            Rule::R83,
            READ,
            &[
                (
                    words!(
                        "-B -D -E -R -T -a -b -e -n -o -q -t -u -v -w --attr --nl --noblanks --quiet --template --text",
                        "--well-formed",
                    ),
                    Value::Nothing,
                ),
                (words!("-c= -i= -m= -N= -s="), Value::Text),
            ],
        ),
        operands: Operands::Texts,
        ..READER
    },
    // Missing are outputs, and programs that unpack archives.
    Declared {
        names: words!("scc tokei"),
        options: words(
            Rule::R83,
            READ,
            &[
                (
                    words!(
                        "-c -w --by-file --compact --files --hidden --no-cocomo --no-complexity --version --wide",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--exclude= --exclude-dir= --format= --include-ext= --sort= --type= -e= -i= -s= -t="
                    ),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Sources,
        ..READER
    },
    Declared {
        names: words!("cloc"),
        options: words(
            Rule::R83,
            READ,
            &[
                (
                    words!(
                        "--by-file --csv --hide-rate --json --md --quiet --vcs=git --version --yaml"
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--exclude-dir= --exclude-ext= --exclude-lang= --include-ext= --include-lang="
                    ),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Sources,
        ..READER
    },
    // It starts shellcheck and pyflakes.
    Declared {
        names: words!("actionlint"),
        options: words(
            Rule::R104,
            "use actionlint FILES, with -shellcheck= to turn shellcheck off",
            &[
                (
                    words!("-no-color -oneline -verbose -version"),
                    Value::Nothing,
                ),
                (words!("-color? -format= -ignore="), Value::Text),
                (words!("-config-file="), Value::Source),
                (words!("-pyflakes= -shellcheck="), Value::By(check_linter)),
            ],
        ),
        ..CHECKER
    },
    // Missing is `--init`, which installs plugins.
    Declared {
        names: words!("tflint"),
        options: words(
            Rule::R104,
            "use tflint --recursive",
            &[
                (
                    words!("-f --force --no-color --recursive --version"),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--disable-rule= --enable-rule= --filter= --format= --minimum-failure-severity= --only= -f=",
                    ),
                    Value::Text,
                ),
                (words!("--chdir= --config= --var-file= -c="), Value::Source),
            ],
        ),
        operands: Operands::Nothing,
        ..CHECKER
    },
    Declared {
        names: words!("ansible-lint"),
        options: words(
            Rule::R104,
            "use ansible-lint --offline FOLDER",
            &[
                (
                    words!(
                        "-p -q -qq -s -v --nocolor --offline --parseable --quiet --strict --version"
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--exclude= --format= --profile= --skip-list= --tags= --warn-list= -f= -t= -w= -x=",
                    ),
                    Value::Text,
                ),
                (words!("--config-file= -c="), Value::Source),
            ],
        ),
        ..CHECKER
    },
    // Without these options, it changes the machines of the inventory.
    Declared {
        names: words!("ansible-playbook"),
        options: words(
            Rule::R104,
            "use ansible-playbook --syntax-check or --list-tasks",
            &[
                (
                    words!("-v -vv --list-hosts --list-tags --list-tasks --syntax-check --version"),
                    Value::Nothing,
                ),
                (words!("--limit= --skip-tags= --tags= -l= -t="), Value::Text),
                (words!("--inventory= -i="), Value::Source),
            ],
        ),
        required: words!("--list-tags --list-tasks --syntax-check"),
        ..CHECKER
    },
    Declared {
        names: words!("terraform tofu"),
        subcommands: words!("fmt"),
        options: words(
            Rule::R104,
            "use terraform fmt and terraform validate",
            &[
                (
                    words!("-check -diff -no-color -recursive -list? -write?"),
                    Value::Text,
                ),
                (words!("-chdir="), Value::Source),
            ],
        ),
        operands: Operands::Rewritten,
        ..CHECKER
    },
    // It starts the providers that the project has installed.
    Declared {
        names: words!("terraform tofu"),
        subcommands: words!("validate version"),
        options: words(
            Rule::R104,
            "use terraform fmt and terraform validate",
            &[
                (words!("-json -no-color -no-tests"), Value::Nothing),
                (words!("-chdir="), Value::Source),
            ],
        ),
        operands: Operands::Nothing,
        ..CHECKER
    },
    // Missing are connections to a cluster, and programs that change the output.
    Declared {
        names: words!("helm"),
        subcommands: words!("lint template"),
        options: words(
            Rule::R104,
            "use helm lint CHART and helm template NAME CHART",
            &[
                (
                    words!(
                        "--debug --include-crds --is-upgrade --no-hooks --quiet --skip-tests --strict",
                        "--with-subcharts",
                    ),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--api-versions= --kube-version= --namespace= --set= --set-json= --set-string= --show-only=",
                        "-a= -n= -s=",
                    ),
                    Value::Text,
                ),
                (words!("--values= -f="), Value::Source),
                (words!("--output-dir="), Value::Output),
            ],
        ),
        ..CHECKER
    },
    Declared {
        names: words!("kubectl"),
        subcommands: words!("kustomize"),
        options: words(Rule::R104, "use kubectl kustomize FOLDER", &[]),
        ..CHECKER
    },
    // With `--dry-run=client`, it only prints.
    Declared {
        names: words!("kubectl"),
        subcommands: words!(
            "create:configmap create:deployment create:namespace create:secret:generic"
        ),
        options: words(
            Rule::R104,
            "use kubectl create configmap NAME --from-file=FILE --dry-run=client -o yaml",
            &[
                (words!("--dry-run="), Value::OneOf(words!("client"))),
                (
                    words!(
                        "--from-literal= --image= --namespace= --output= --port= --replicas= -n= -o=",
                    ),
                    Value::Text,
                ),
                (words!("--from-env-file= --from-file="), Value::Source),
            ],
        ),
        required: words!("--dry-run"),
        ..CHECKER
    },
    Declared {
        names: words!("kustomize"),
        subcommands: words!("build"),
        options: words(Rule::R104, "use kustomize build FOLDER", &[]),
        ..CHECKER
    },
    // The plugins of `generate` are programs that a file of the project names.
    Declared {
        names: words!("buf"),
        subcommands: words!("breaking build format generate lint ls-files"),
        options: words(
            Rule::R104,
            "use buf lint, buf format or buf breaking --against '.git#branch=main'",
            &[
                (
                    words!("-d -w --diff --exit-code --include-imports --write"),
                    Value::Nothing,
                ),
                (words!("--error-format= --type="), Value::Text),
                (
                    words!("--exclude-path= --path= --template="),
                    Value::By(super::check_path),
                ),
                (words!("--against="), Value::By(check_baseline)),
                (words!("--output= -o="), Value::Output),
            ],
        ),
        ..CHECKER
    },
    Declared {
        names: words!("grpcurl"),
        options: words(
            Rule::R86,
            "use grpcurl -plaintext localhost:PORT SERVICE/METHOD",
            &[
                (
                    words!("-allow-unknown-fields -emit-defaults -plaintext -v"),
                    Value::Nothing,
                ),
                (
                    words!("-connect-timeout= -d= -format= -max-time= -H="),
                    Value::Text,
                ),
                (words!("-import-path= -proto= -protoset="), Value::Library),
            ],
        ),
        operands: Operands::LocalServer,
        required: words!("-plaintext"),
        ..PROJECT_CODE
    },
    Declared {
        names: words!("perf"),
        subcommands: words!("stat"),
        options: words(
            Rule::R104,
            "use perf stat PROGRAM, with -e, -r and -d",
            &[
                (
                    words!(
                        "-B -d -dd -ddd -n -v --big-num --detailed --no-big-num --null --summary"
                    ),
                    Value::Nothing,
                ),
                (words!("-e: --event="), Value::By(check_event)),
                (words!("-r: --repeat= -x:"), Value::Text),
                (words!("-o= --output="), Value::Output),
            ],
        ),
        operands: Operands::Command,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("perf"),
        subcommands: words!("record"),
        options: words(
            Rule::R104,
            "use perf record -g -o /tmp/perf.data PROGRAM",
            &[
                (words!("-g -q -v"), Value::Nothing),
                (words!("-e: --event="), Value::By(check_event)),
                (
                    words!("--call-graph="),
                    Value::OneOf(words!("dwarf fp lbr")),
                ),
                (words!("-F:"), Value::Text),
                (words!("-o= --output="), Value::Output),
            ],
        ),
        operands: Operands::Command,
        ..PROJECT_CODE
    },
    // Missing are other shells and parameters, which become a part of the command line.
    Declared {
        names: words!("hyperfine"),
        options: words(
            Rule::R104,
            "use hyperfine 'COMMAND', with options such as --warmup and --runs",
            &[
                (
                    words!("-N -i --ignore-failure --show-output --version"),
                    Value::Nothing,
                ),
                (
                    words!(
                        "--command-name= --max-runs= --min-runs= --runs= --sort= --style= --time-unit= --warmup=",
                        "-M= -m= -n= -r= -u= -w=",
                    ),
                    Value::Text,
                ),
                (
                    words!("--output="),
                    Value::OneOf(words!("inherit null pipe")),
                ),
                (
                    words!("--cleanup= --conclude= --prepare= --setup= -C= -c= -p= -s="),
                    Value::By(check_command_line),
                ),
                (
                    words!(
                        "--export-asciidoc= --export-csv= --export-json= --export-markdown= --export-orgmode=",
                    ),
                    Value::Output,
                ),
                (words!("--input="), Value::Source),
            ],
        ),
        operands: Operands::CommandLines,
        ..PROJECT_CODE
    },
];

/// Tools of the profiles java and c.
pub(super) static OF_PROFILES: &[Declared] = &[
    // It reads classes and runs none.
    Declared {
        names: words!("javap"),
        options: words(
            Rule::R100,
            "use javap -c -cp FOLDER CLASS",
            &[
                (
                    words!(
                        "-c -constants -l -p -package -private -protected -public -s -sysinfo -v -verbose -version",
                    ),
                    Value::Nothing,
                ),
                (
                    words!("-cp= -classpath= --class-path= --module= --module-path= -m="),
                    Value::Text,
                ),
            ],
        ),
        operands: Operands::Texts,
        ..READER
    },
    // An operand is another machine.
    Declared {
        names: words!("jps"),
        options: words(
            Rule::R100,
            "use jps -l",
            &[(
                words!("-V -l -lm -lmv -lv -lvm -m -ml -mlv -mlvV -q -v"),
                Value::Nothing,
            )],
        ),
        operands: Operands::Nothing,
        ..READER
    },
    // Missing are options for the virtual machine, and code that runs at the start.
    Declared {
        names: words!("jshell"),
        options: words(
            Rule::R100,
            "use jshell -s with the code on its input",
            &[
                (
                    words!("-q -s -v --enable-preview --version"),
                    Value::Nothing,
                ),
                (words!("--add-modules= --feedback="), Value::Text),
                (
                    words!("-c= --class-path= --module-path="),
                    Value::By(super::check_class_path),
                ),
            ],
        ),
        operands: Operands::Program,
        ..PROJECT_CODE
    },
    Declared {
        names: words!("clang-format-diff"),
        options: words(
            Rule::R101,
            "use git diff -U0 | clang-format-diff -p1, with -i and -style",
            &[
                (words!("-i -sort-includes -v"), Value::Nothing),
                (words!("-p:"), Value::Count),
                (words!("-iregex= -regex="), Value::Text),
                (
                    words!("-fallback-style= -style="),
                    Value::OneOf(words!(
                        "Chromium GNU Google LLVM Microsoft Mozilla WebKit chromium file gnu google llvm",
                        "microsoft mozilla none webkit",
                    )),
                ),
            ],
        ),
        operands: Operands::Nothing,
        ..PROJECT_CODE
    },
];
