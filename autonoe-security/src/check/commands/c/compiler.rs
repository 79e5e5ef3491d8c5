//! `gcc`, `clang` and their other names: compiling and linking.

use super::linker;
use crate::Denial;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, StrictOptions, Value, check_input};
use crate::check::text::has_only;

/// The names of compilers.
pub(super) const NAMES: &[&str] = words!("c++ cc clang clang++ g++ gcc");

/// Missing are options that start programs (`-B`, `-wrapper`, `-specs`, `-fplugin`), pass options to
/// other tools (`-Xlinker`, `-Xclang`, `-mllvm`), and write or read other files.
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use options such as -Wall, -O2, -g, -std=c++20, -I DIR, -L DIR, -l NAME and -o FILE; \
              write linker options as -Wl,OPTION",
    groups: &[
        (
            words!(
                "-### -C -CC -E -H -M -MD -MG -MM -MMD -MP -P -Q -S -ansi -bundle -c -dD -dI -dM -dN -dU",
                "-dead_strip -dumpfullversion -dumpmachine -dumpspecs -dumpversion -dynamiclib",
                "-emit-llvm -g -g0 -g1 -g2 -g3 -gdwarf -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 -ggdb",
                "-ggdb0 -ggdb1 -ggdb2 -ggdb3 -glldb -gline-tables-only -gmlt -gsplit-dwarf -gz",
                "-no-pie -nodefaultlibs -nolibc -nostartfiles -nostdinc -nostdinc++ -nostdlib",
                "-nostdlib++ -p -pedantic -pedantic-errors -pg -pie -pipe",
                "-print-libgcc-file-name -print-multi-lib -print-multiarch -print-resource-dir",
                "-print-search-dirs -print-sysroot -print-targets -pthread -r -rdynamic -s -save-temps",
                "-save-temps=cwd -save-temps=obj -shared -shared-libgcc -static -static-libasan",
                "-static-libgcc -static-libstdc++ -static-pie -time -traditional -trigraphs -undef -v",
                "-w --analyze --coverage --help --print-search-dirs --target-help",
                "--version --verbose",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-D: -MQ= -MT= -U: -A: -arch= -compatibility_version= -current_version= -e= -framework=",
                "-install_name= -mmacosx-version-min= -stdlib= -u= -undefined= -z= --param= --target=",
                "-target= --std= -std= -print-file-name= -print-prog-name=",
            ),
            Value::Text,
        ),
        (
            words!("-x:",),
            Value::OneOf(words!(
                "assembler assembler-with-cpp c c++ c++-header c++-module c-header cpp-output none",
                "objective-c objective-c++",
            )),
        ),
        (
            words!(
                "-F: -I: -L: -T= -idirafter= -imacros= -include= -iprefix= -iquote= -isysroot=",
                "-isystem= --sysroot= --gcc-toolchain=",
            ),
            Value::Library,
        ),
        (words!("-MF= -o: -MJ= --output="), Value::Output),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    for item in OPTIONS.read(call, call.args, check_special)? {
        match item {
            Item::Operand(file) => check_input(call, Rule::R101, file)?,
            Item::Option { .. } => {}
        }
    }
    Ok(())
}

/// Checks options with a value in the same argument, and arguments of other tools.
fn check_special(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Result<bool, Denial> {
    let text = arg.text.as_ref();
    if text.starts_with('@') {
        let reason = format!("the file '{text}' holds more arguments");
        return Err(Denial::by(Rule::R101, arg.span, reason)
            .instead("write the arguments on the command line"));
    }
    if let Some(linked) = text.strip_prefix("-Wl,") {
        linker::check(call, &arg.without_first(text.len() - linked.len()))?;
        return Ok(true);
    }
    let Some(text) = arg.known() else {
        return Ok(false);
    };
    let is_listed = if let Some(passed) = text.strip_prefix("-Wp,") {
        let mut passed = passed.split(',');
        passed.all(|it| it.len() > 2 && (it.starts_with("-D") || it.starts_with("-U")))
    } else if let Some(passed) = text.strip_prefix("-Wa,") {
        let mut passed = passed.split(',');
        passed.all(|it| matches!(it, "--noexecstack" | "-adhln" | "-alh" | "--64" | "--32"))
    } else if let Some(warning) = text.strip_prefix("-W") {
        is_setting(warning)
    } else if let Some(library) = text.strip_prefix("-l") {
        let library = library.strip_prefix(':').unwrap_or(library);
        !library.is_empty() && has_only(library, "_.+-")
    } else if let Some(level) = text.strip_prefix("-O") {
        matches!(
            level,
            "" | "0" | "1" | "2" | "3" | "4" | "s" | "z" | "g" | "fast"
        )
    } else if let Some(feature) = text.strip_prefix("-f") {
        is_feature(feature)
    } else if let Some(machine) = text.strip_prefix("-m") {
        !machine.is_empty() && is_setting(machine) && !is_of_other_tool(machine)
    } else if let Some(help) = text.strip_prefix("--help=") {
        is_setting(help)
    } else {
        false
    };
    Ok(is_listed)
}

/// Returns whether a text is a name, or a name with a plain value: `error=format`, `arch=native`.
fn is_setting(text: &str) -> bool {
    has_only(text, "_-.,=+")
}

/// Returns whether an option that begins with `-m` passes options to LLVM.
fn is_of_other_tool(machine: &str) -> bool {
    machine.starts_with("llvm") || machine.starts_with("mlir")
}

/// Features whose value is a number or a word, and no file.
const VALUED: &[&str] = words!(
    "abi-version align-functions align-loops bracket-depth cf-protection coarray compare-debug",
    "constexpr-backtrace-limit constexpr-depth constexpr-loop-limit constexpr-ops-limit",
    "constexpr-steps cx-range diagnostics-color diagnostics-column-unit diagnostics-format",
    "diagnostics-show-location diagnostics-path-format diagnostics-urls excess-precision",
    "exec-charset extended-identifiers fast-math fp-contract fp-model gnuc-version inline-limit",
    "input-charset ivopts lto lto-compression-level lto-partition macro-backtrace-limit max-errors",
    "message-length ms-compatibility-version no-sanitize no-sanitize-recover no-sanitize-trap",
    "objc-runtime openmp openmp-version pack-struct parallel patchable-function-entry prefetch",
    "random-seed sanitize sanitize-coverage sanitize-recover sanitize-trap spell-checking-limit",
    "stack-limit stack-reuse strict-flex-arrays tabstop template-backtrace-limit template-depth",
    "tls-model trivial-auto-var-init unroll vect-cost-model vectorize visibility zero-call-used-regs",
);

/// Features whose value is a mapping of paths in the output.
const MAPPINGS: &[&str] = words!(
    "debug-prefix-map file-prefix-map macro-prefix-map profile-prefix-map coverage-prefix-map"
);

/// Beginnings of features that load code or write files of their own choice.
const LOADING: &[&str] = words!("pass-plugin plugin module-mapper");

/// Returns whether an option behind `-f` loads no code and names no file.
fn is_feature(feature: &str) -> bool {
    let (name, value) = match feature.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (feature, None),
    };
    let is_name = !name.is_empty() && has_only(name, "-+_");
    let loads = LOADING.iter().any(|start| name.starts_with(start));
    match value {
        _ if !is_name || loads => false,
        None => true,
        Some(value) if name == "use-ld" => {
            matches!(value, "bfd" | "gold" | "lld" | "mold")
        }
        Some(value) if name == "diagnostics-format" => {
            matches!(
                value,
                "clang" | "json" | "json-stderr" | "sarif-stderr" | "text"
            )
        }
        Some(value) if MAPPINGS.contains(&name) => {
            value.bytes().all(|byte| byte.is_ascii_graphic())
        }
        Some(value) => VALUED.contains(&name) && is_setting(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_load_code_or_name_files_are_not_listed() {
        for feature in [
            "PIC",
            "no-omit-frame-pointer",
            "sanitize=address,undefined",
            "lto",
            "lto=auto",
            "use-ld=lld",
            "visibility=hidden",
            "diagnostics-color=always",
            "file-prefix-map=/srv/project=.",
            "profile-arcs",
            "syntax-only",
        ] {
            assert!(is_feature(feature), "{feature}");
        }
        for feature in [
            "",
            "plugin=./x.so",
            "plugin-arg-x-y",
            "pass-plugin=x.so",
            "dump-tree-all=/etc/x",
            "profile-use=/etc/x",
            "use-ld=/tmp/ld",
            "module-mapper=|x",
            "diagnostics-format=sarif-file",
            "sanitize=../x/y",
        ] {
            assert!(!is_feature(feature), "{feature}");
        }
    }
}
