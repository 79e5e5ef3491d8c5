//! `java`: runs classes and archives of the project.

use super::{class_path, properties};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::server_url::is_local_host;
use crate::check::commands::strict_options::{
    Item, StrictOptions, Value, check_source, check_source_path,
};
use crate::check::path;
use crate::check::text::{has_only, is_digits};
use crate::check::write_target::{Root, escapes};
use crate::syntax::Span;
use crate::{Denial, Rule};

const INSTEAD: &str =
    "use java -cp FOLDER MainClass, java -jar FILE, and options such as -Xmx and -D";

const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R100,
    instead: INSTEAD,
    groups: &[
        (
            words!(
                "-? -X -d32 -d64 -da -disableassertions -dsa -ea -enableassertions -esa -h -help",
                "-client -jar -server -showversion -verbose -verbose:class -verbose:gc -verbose:jni",
                "-verbose:module -version --dry-run --enable-preview --help --help-extra",
                "--list-modules --show-module-resolution --show-version --validate-modules --version",
                "-Xbatch -Xcheck:jni -Xcomp -Xint -Xmixed -Xnoclassgc -Xrs -Xshare:auto -Xshare:off",
                "-Xshare:on -Xverify:none -XshowSettings -XshowSettings:properties -XshowSettings:vm",
                "-XshowSettings:locale -XshowSettings:system",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "--add-exports= --add-modules= --add-opens= --add-reads= --describe-module= -d=",
                "--enable-native-access= --finalization= --illegal-access= --limit-modules= --source=",
                "--sun-misc-unsafe-memory-access=",
            ),
            Value::Text,
        ),
        (
            words!("-cp= -classpath= --class-path= -p= --module-path="),
            Value::By(class_path::check),
        ),
        (words!("-m= --module="), Value::By(check_module)),
        (words!("-D:"), Value::By(properties::check)),
    ],
};

/// Options that name the classes, so that those of the current directory do not count.
const CLASS_PATHS: &[&str] = words!("-cp -classpath --class-path -p --module-path -m --module");

/// Beginnings of classes and modules of the JDK and of build tools, which do more than run the
/// program of the project.
const TOOLS: &[&str] =
    words!("com.sun. java. javax. jdk. org.apache.maven. org.gradle. sun. org.codehaus.plexus.");

/// Archives that start a build tool.
const WRAPPERS: &[&str] = words!("gradle-wrapper.jar maven-wrapper.jar");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let (options, rest) = OPTIONS.read_leading(call, call.args, check_special)?;
    let has = |names: &[&str]| {
        let mut options = options.iter();
        options.any(|it| matches!(it, Item::Option { name, .. } if names.contains(name)))
    };
    match rest.first() {
        None => Ok(()),
        Some(file) if file.text.starts_with('@') => Err(argument_file(file)),
        Some(file) if has(&["-jar"]) => check_archive(call, file),
        Some(program) => check_program(call, program, has(CLASS_PATHS)),
    }
}

/// Creates the denial of a file with arguments.
pub(super) fn argument_file(arg: &Arg<'_>) -> Denial {
    let reason = format!("the file '{}' holds more arguments", arg.text);
    Denial::by(Rule::R100, arg.span, reason).instead("write the arguments on the command line")
}

/// Checks the class, or the source file, that runs.
fn check_program(call: &Call<'_, '_, '_>, program: &Arg<'_>, has_class_path: bool) -> Checked {
    if !call.is_option_safe(program) || program.is_pattern() {
        return Err(call.deny_dynamic(program));
    }
    if program.text.ends_with(".java") {
        // `javac` takes them too.
        return match program.known().filter(|path| call.is_in_reach(path)) {
            Some(_) => call.check_write_target(program, Root::Refused),
            None => check_source(call, Rule::R100, program),
        };
    }
    // A file with another extension runs with `--source`.
    if program.text.starts_with(['/', '.', '~']) || program.is_in_home() {
        return check_source(call, Rule::R100, program);
    }
    match program.known() {
        Some(name) => check_main_class(name, program.span),
        None => Ok(()),
    }?;
    if has_class_path {
        return Ok(());
    }
    // Without a class path, it is the current directory.
    class_path::check(call, &Arg::plain(".", program.span))
}

/// Checks that a class is none of the JDK or of a build tool.
pub(super) fn check_main_class(class: &str, span: Span) -> Checked {
    // A slash separates packages too.
    let name = class.replace('/', ".");
    let is_tool = TOOLS.iter().any(|start| name.starts_with(start));
    let is_plain = class
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._$/-".contains(&byte) || byte >= 128);
    if is_tool || !is_plain || class.split('/').any(|part| part == "..") {
        let reason = format!("'{class}' is not a class of the project");
        return Err(Denial::by(Rule::R100, span, reason)
            .instead("run a class of the project, and the tools of Java by their own commands"));
    }
    Ok(())
}

fn check_module(call: &Call<'_, '_, '_>, module: &Arg<'_>) -> Checked {
    let name = module.known().ok_or_else(|| call.deny_dynamic(module))?;
    let mut names = name.split('/');
    names.try_for_each(|name| check_main_class(name, module.span))
}

/// Checks the archive that runs.
fn check_archive(call: &Call<'_, '_, '_>, file: &Arg<'_>) -> Checked {
    if file.is_pattern() {
        // The first match runs, and the others are its arguments.
        let fixed = &file.text[..file.globs[0]];
        let folder = fixed.rfind('/').map_or(".", |slash| &fixed[..=slash]);
        let is_archive = file.is_static()
            && file.text.ends_with(".jar")
            && !fixed.is_empty()
            && !file.text[file.globs[0]..].contains('/');
        if !is_archive || file.tilde {
            return Err(call.deny_dynamic(file));
        }
        return check_source_path(call, Rule::R100, folder, file.span);
    }
    check_source(call, Rule::R100, file)?;
    let name = path::file_name(&file.text).to_ascii_lowercase();
    if WRAPPERS.contains(&name.as_str()) {
        let reason = format!("'{}' starts a build tool", file.text);
        return Err(Denial::by(Rule::R100, file.span, reason).instead("use ./gradlew or ./mvnw"));
    }
    Ok(())
}

/// Checks options with a value in the same argument.
fn check_special(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Result<bool, Denial> {
    let Some(text) = arg.known() else {
        return Ok(false);
    };
    let is_listed = if let Some(agent) = text.strip_prefix("-javaagent:") {
        check_agent(call, agent, arg)?;
        true
    } else if let Some(agent) = text.strip_prefix("-agentpath:") {
        check_agent(call, agent, arg)?;
        true
    } else if let Some(debugger) = text
        .strip_prefix("-agentlib:jdwp=")
        .or_else(|| text.strip_prefix("-Xrunjdwp:"))
    {
        debugs_locally(debugger)
    } else if text.starts_with("-Xloggc:") {
        call.check_write_target(&arg.without_first("-Xloggc:".len()), Root::Refused)?;
        true
    } else if let Some(log) = text.strip_prefix("-Xlog") {
        check_log(call, log, arg)?;
        true
    } else if let Some(flag) = text.strip_prefix("-XX:") {
        check_flag(call, flag, arg)?
    } else {
        is_memory(text) || is_assertion(text)
    };
    Ok(is_listed)
}

/// Checks an agent with its options.
fn check_agent(call: &Call<'_, '_, '_>, agent: &str, arg: &Arg<'_>) -> Checked {
    let (path, options) = agent.split_once('=').unwrap_or((agent, ""));
    check_source_path(call, Rule::R100, path, arg.span)?;
    for option in options.split(',') {
        let (_, value) = option.split_once('=').unwrap_or(("", option));
        let is_path = value.contains('/') || value == "..";
        if is_path {
            let value = Arg::plain(value.to_owned(), arg.span);
            call.check_write_target(&value, Root::Refused)?;
        }
        if matches!(value, "tcpserver" | "tcpclient") {
            return Err(OPTIONS.deny(call, arg));
        }
    }
    Ok(())
}

/// Returns whether a debugger listens on this machine only, and starts no program.
fn debugs_locally(options: &str) -> bool {
    options.split(',').all(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "transport" => value == "dt_socket",
            "server" | "suspend" | "quiet" => matches!(value, "y" | "n"),
            "timeout" => is_digits(value),
            "address" => {
                let (host, port) = value.rsplit_once(':').unwrap_or(("localhost", value));
                is_local_host(host) && is_digits(port)
            }
            _ => false,
        }
    })
}

/// Checks `-Xlog:WHAT:OUTPUT:DECORATIONS:OPTIONS`. An output without a prefix is a file.
fn check_log(call: &Call<'_, '_, '_>, log: &str, arg: &Arg<'_>) -> Checked {
    let Some(log) = log.strip_prefix(':') else {
        return if log.is_empty() {
            Ok(())
        } else {
            Err(OPTIONS.deny(call, arg))
        };
    };
    let output = log.split(':').nth(1).unwrap_or_default();
    if matches!(output, "" | "stdout" | "stderr") {
        return Ok(());
    }
    let file = output.strip_prefix("file=").unwrap_or(output);
    if file.contains(['"', '=', '%']) {
        return Err(escapes(arg, Rule::R100));
    }
    call.check_write_target(&Arg::plain(file.to_owned(), arg.span), Root::Refused)
}

/// Checks a flag of the virtual machine: switches, numbers, and two outputs.
fn check_flag(call: &Call<'_, '_, '_>, flag: &str, arg: &Arg<'_>) -> Result<bool, Denial> {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric());
    if let Some(name) = flag.strip_prefix(['+', '-']) {
        return Ok(is_name(name));
    }
    let Some((name, value)) = flag.split_once('=') else {
        return Ok(false);
    };
    match name {
        "ErrorFile" | "HeapDumpPath" => {
            let value = value.replace("%p", "1");
            let file = Arg::plain(value, arg.span);
            call.check_write_target(&file, Root::Accepted)?;
            Ok(true)
        }
        _ => Ok(is_name(name) && is_size(value)),
    }
}

/// Returns whether a value is a number, with a unit.
fn is_size(value: &str) -> bool {
    let digits = value.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    !digits.is_empty()
        && value.len() - digits.len() <= 1
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_memory(text: &str) -> bool {
    let size = ["-Xmx", "-Xms", "-Xmn", "-Xss"]
        .iter()
        .find_map(|name| text.strip_prefix(name));
    size.is_some_and(is_size)
}

/// Returns whether an option switches assertions of packages: `-ea:org.shop...`.
fn is_assertion(text: &str) -> bool {
    let Some((name, packages)) = text.split_once(':') else {
        return false;
    };
    matches!(
        name,
        "-ea" | "-da" | "-enableassertions" | "-disableassertions"
    ) && has_only(packages, "._$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_debuggers_of_this_machine_are_local() {
        for options in [
            "transport=dt_socket,server=y,suspend=n,address=5005",
            "transport=dt_socket,server=y,address=localhost:5005",
            "transport=dt_socket,server=y,suspend=n,address=127.0.0.1:5005",
        ] {
            assert!(debugs_locally(options), "{options}");
        }
        for options in [
            "transport=dt_socket,server=y,suspend=n,address=*:5005",
            "transport=dt_socket,server=y,address=0.0.0.0:5005",
            "transport=dt_socket,server=y,launch=/tmp/x,address=5005",
            "transport=dt_shmem,address=x",
        ] {
            assert!(!debugs_locally(options), "{options}");
        }
    }

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        for value in ["1", "512m", "75.0", "2G"] {
            assert!(is_size(value), "{value}");
        }
        for value in ["", "m", "1mm", "a", "1/2", "-1"] {
            assert!(!is_size(value), "{value}");
        }
    }
}
