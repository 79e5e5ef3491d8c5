//! Properties of Java tools: `-DNAME=VALUE`, and `-PNAME=VALUE` of Gradle.

use super::launcher;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::server_url::{is_local_host, names_foreign_host};
use crate::check::commands::strict_options::{
    check_source_path, check_text, is_code, is_in_reach, is_of_system,
};
use crate::check::write_target::{Root, escapes};
use crate::check::{known_values, path};
use crate::{Denial, Rule};

/// Beginnings of properties that the virtual machine or a build tool reads. Only those of
/// [`HARMLESS`] are allowed.
const RESERVED: &[&str] = words!(
    "aether. com.sun. exec. ftp.proxy gpg. gradle. http.auth. http.nonProxy http.proxy https.proxy",
    "java. javax.net. jdk. log4j. log4j2. maven. org.apache.maven. org.gradle. socksProxy",
    "socksNonProxy sun. surefire.debug systemProp. user.",
);

/// Reserved properties whose values choose how something is built, tested or printed.
const HARMLESS: &[&str] = words!(
    "exec.args exec.arguments exec.classpathScope exec.cleanupDaemonThreads exec.mainClass exec.skip",
    "gpg.skip java.awt.headless java.net.preferIPv4Stack java.net.preferIPv6Addresses",
    "java.util.concurrent.ForkJoinPool.common.parallelism java.util.logging.SimpleFormatter.format",
    "jdk.attach.allowAttachSelf jdk.httpclient.HttpClient.log jdk.tracePinnedThreads",
    "jdk.virtualThreadScheduler.parallelism log4j.level log4j2.level maven.artifact.threads",
    "maven.build.timestamp.format maven.color maven.compiler.debug maven.compiler.failOnError",
    "maven.compiler.failOnWarning maven.compiler.incremental maven.compiler.optimize",
    "maven.compiler.parameters maven.compiler.proc maven.compiler.release",
    "maven.compiler.showDeprecation maven.compiler.showWarnings maven.compiler.source",
    "maven.compiler.target maven.compiler.testRelease maven.compiler.testSource",
    "maven.compiler.testTarget maven.compiler.useIncrementalCompilation maven.compiler.verbose",
    "maven.deploy.skip maven.install.skip maven.jar.forceCreation maven.javadoc.failOnError",
    "maven.javadoc.skip maven.main.skip maven.plugin.validation maven.resources.skip",
    "maven.site.skip maven.source.skip maven.test.failure.ignore maven.test.skip",
    "maven.test.skip.exec maven.test.redirectTestOutputToFile maven.version.ignore org.gradle.caching",
    "org.gradle.configuration-cache org.gradle.configureondemand org.gradle.console",
    "org.gradle.continue org.gradle.daemon org.gradle.logging.level org.gradle.parallel",
    "org.gradle.priority org.gradle.vfs.watch org.gradle.warning.mode org.gradle.welcome",
    "org.gradle.workers.max user.country user.language user.timezone user.variant",
);

/// Words in names of properties whose value is a program, options of the virtual machine, code, a
/// repository or a login. Such a property may only be switched on or off.
const SENSITIVE_WORDS: &[&str] = words!(
    "agent agents argline auth binary bootclasspath classloader command commandline cmd compiler",
    "credentials deploy deployment executable exe gpg insecure interpreter javahome jvm jvmarg jvmargs",
    "key keystore launcher loader mirror mirrors passphrase password program proxy publish publishing",
    "push registry release repo repos repositories repository script scripts secret servers settings",
    "shell sign signing ssl token trust truststore upload vm vmargs wagon wrapper",
);

/// Words in names of properties that switch on what no agent may do.
const SWITCHES: &[&str] =
    words!("allowall insecure passwords publish publishing push showpasswords upload");

/// Properties whose value is an argument list of the project's program.
const ARGUMENTS: &[&str] = words!(
    "exec.args exec.arguments micronaut.args mn.appArgs quarkus.args run.arguments",
    "spring-boot.run.arguments",
);

/// Parts of names of properties whose value is an output, which may be in `/tmp`.
const OUTPUTS: &[&str] = words!("dest logfile logging.file output report tempdir tmpdir");

/// Properties whose value may be unknown: names of tests and versions, besides [`ARGUMENTS`].
const NAMES: &[&str] = words!(
    "artifactId exec.mainClass groupId groups it.test newVersion projectVersion revision test",
    "test.single version",
);

/// Checks the property in `definition`, an argument from its name on: `NAME=VALUE`.
pub(super) fn check(call: &Call<'_, '_, '_>, definition: &Arg<'_>) -> Checked {
    let text = definition.text.as_ref();
    let Some((name, value)) = text.split_once('=') else {
        // Without a value, it is switched on. The end of an unknown name could be anything.
        return match definition.known() {
            Some(name) => check_switch(definition, name, "true"),
            None => Err(call.deny_dynamic(definition)),
        };
    };
    if let Some(checked) = check_path_property(call, definition, name) {
        return checked;
    }
    let is_reserved = RESERVED.iter().any(|start| name.starts_with(start));
    if is_reserved && !HARMLESS.contains(&name) {
        return Err(deny(definition, name, "changes what runs, or where"));
    }
    let is_switch = definition.is_static() && is_switch(value);
    if is_switch {
        return check_switch(definition, name, value);
    }
    if !is_reserved
        && (name == "jvm" || words_of(name).any(|word| SENSITIVE_WORDS.contains(&word.as_str())))
    {
        return Err(deny(definition, name, "changes what runs, or where"));
    }
    if definition.globs.first().is_some_and(|at| *at <= name.len()) {
        return Err(call.deny_dynamic(definition));
    }
    if !definition.is_static() {
        check_text(call, definition)?;
    }
    if definition.is_static() || NAMES.contains(&name) || ARGUMENTS.contains(&name) {
        return check_value(call, definition, name, value);
    }
    let texts = known_values::loop_texts(call.context.scope, definition);
    let texts = texts.ok_or_else(|| call.deny_dynamic(definition))?;
    texts.iter().try_for_each(|text| {
        let value = text.get(name.len() + 1..).unwrap_or_default();
        check_value(call, definition, name, value)
    })
}

/// Returns whether a value only switches something on or off, or is a number.
fn is_switch(value: &str) -> bool {
    matches!(value, "" | "true" | "false" | "on" | "off" | "yes" | "no")
        || value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn check_switch(definition: &Arg<'_>, name: &str, value: &str) -> Checked {
    let is_reserved = RESERVED.iter().any(|start| name.starts_with(start));
    let is_off = matches!(value, "false" | "off" | "no") || name.ends_with("skip");
    let switches_on = !is_off && words_of(name).any(|word| SWITCHES.contains(&word.as_str()));
    if (is_reserved && !HARMLESS.contains(&name)) || switches_on || (name == "jvm" && !is_off) {
        Err(deny(definition, name, "changes what runs, or where"))
    } else {
        Ok(())
    }
}

/// Checks properties whose value is a path by their definition; `None` for all others.
fn check_path_property(
    call: &Call<'_, '_, '_>,
    definition: &Arg<'_>,
    name: &str,
) -> Option<Checked> {
    let value = definition.without_first(name.len() + 1);
    match name {
        "java.io.tmpdir" => Some(call.check_write_target(&value, Root::Accepted)),
        "java.library.path" => {
            let Some(text) = value.known() else {
                return Some(Err(call.deny_dynamic(definition)));
            };
            let mut folders = text.split(':').filter(|folder| !is_of_system(folder));
            Some(folders.try_for_each(|folder| {
                check_source_path(call, Rule::R100, folder, definition.span)
            }))
        }
        "java.security.egd" => value
            .known()
            .is_some_and(|text| matches!(text, "file:/dev/./urandom" | "file:/dev/urandom"))
            .then_some(Ok(())),
        _ => None,
    }
}

/// Checks that a value names no other host, no file outside of the project and `/tmp`, and no
/// options.
fn check_value(call: &Call<'_, '_, '_>, definition: &Arg<'_>, name: &str, value: &str) -> Checked {
    // The program of the project may have any arguments, as behind `java Main`.
    if ARGUMENTS.contains(&name) {
        return Ok(());
    }
    if value.starts_with('-') {
        return Err(deny(definition, name, "may be an option"));
    }
    if names_foreign_host(value, definition.is_static()) && !is_local_database(value) {
        let reason = format!("the property '{name}' may name another machine");
        return Err(Denial::by(Rule::R100, definition.span, reason)
            .instead("use localhost, or leave the property out"));
    }
    if ["mainClass", "main-class", "main.class"]
        .iter()
        .any(|end| name.ends_with(end))
    {
        launcher::check_main_class(value, definition.span)?;
    }
    if name == "expression" && ["settings", "env"].iter().any(|it| value.contains(it)) {
        return Err(
            Denial::by(Rule::R94, definition.span, "settings may contain secrets")
                .instead("print values of the project, such as -Dexpression=project.version"),
        );
    }
    let lower = name.to_ascii_lowercase();
    let may_be_output = OUTPUTS.iter().any(|part| lower.contains(part));
    let is_inside =
        |piece: &str| is_code(call, piece) || (may_be_output && is_in_reach(call, piece));
    for piece in value.split([',', ';', ':', '=', ' ', '"', '\'', '|', '(', '[', '{']) {
        // The host of a URL was checked.
        let is_host = piece.starts_with("//") && !piece.starts_with("///");
        // `file:///tmp/x`
        let extra = piece.len() - piece.trim_start_matches('/').len();
        let piece = &piece[extra.saturating_sub(1)..];
        let ascends = piece.split('/').any(|part| part == "..");
        let is_path = ascends || (piece.starts_with('/') && !is_host);
        // Build tools replace `${user.home}` and `${env.HOME}`.
        let is_known =
            (!is_path || is_inside(piece)) && !piece.starts_with('~') && !value.contains("${");
        if !is_known || path::is_protected(piece) {
            return Err(escapes(definition, Rule::R100)
                .instead("use a path inside the project, or leave the property out"));
        }
    }
    Ok(())
}

/// Returns whether a value is the address of a database on this machine:
/// `jdbc:postgresql://localhost:5432/shop`.
fn is_local_database(value: &str) -> bool {
    let Some((kind, rest)) = value
        .strip_prefix("jdbc:")
        .and_then(|it| it.split_once("://"))
    else {
        return false;
    };
    let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    is_name(kind) && is_local_host(host) && is_name(port) && is_name(name)
}

/// Returns the words of a name in lower case: those of `spring-boot.run.jvmArguments` are `spring`,
/// `boot`, `run`, `jvm` and `arguments`, and each pair of neighbours together.
fn words_of(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = '.';
    for c in name.chars() {
        let is_start = !before.is_alphanumeric() || (c.is_uppercase() && !before.is_uppercase());
        if c.is_alphanumeric() {
            match words.last_mut() {
                Some(last) if !is_start => last.extend(c.to_lowercase()),
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    let pairs: Vec<String> = words.windows(2).map(|pair| pair.concat()).collect();
    words.into_iter().chain(pairs)
}

fn deny(definition: &Arg<'_>, name: &str, problem: &str) -> Denial {
    let reason = format!("the property '{name}' {problem}");
    Denial::by(Rule::R100, definition.span, reason)
        .instead("leave the property out, or set it in the build file of the project")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_separators_and_capital_letters() {
        let words: Vec<String> = words_of("spring-boot.run.jvmArguments").collect();
        assert_eq!(words[..5], ["spring", "boot", "run", "jvm", "arguments"]);
        assert!(words.contains(&"jvmarguments".to_owned()));
        for name in ["argLine", "showPasswords", "java.home", "exec-URL"] {
            assert!(words_of(name).count() >= 2, "{name}");
        }
        assert_eq!(words_of("").count(), 0);
    }

    #[test]
    fn numbers_and_switches_are_no_texts() {
        for value in ["", "true", "off", "17", "1.8"] {
            assert!(is_switch(value), "{value}");
        }
        for value in ["x", "-1", "/1", "1/2"] {
            assert!(!is_switch(value), "{value}");
        }
    }
}
