//! `gradle` and `./gradlew`: tasks of the project.

use super::{PUBLISHING, properties, split_camel_case, starts_in_project};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::names_secret;
use crate::check::commands::strict_options::{Item, StrictOptions, Value};
use crate::check::known_values;
use crate::check::text::has_only;
use crate::{Denial, Rule};

/// Missing are init scripts (`-I`), another user home (`-g`), and build scans, which are published
/// (`--scan`).
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R100,
    instead: "leave the option out; settings belong into build.gradle and gradle.properties",
    groups: &[
        (
            words!(
                "-? -S -V -a -d -h -i -m -q -s -t -v -w --all --build-cache --configuration-cache",
                "--configure-on-demand --continue --continuous --daemon --debug --debug-jvm --dry-run",
                "--export-keys --fail-fast --foreground --full-stacktrace --help --incubating --info",
                "--no-build-cache --no-configuration-cache --no-configure-on-demand --no-continue",
                "--no-daemon --no-parallel --no-rebuild --no-scan --no-watch-fs --offline --overwrite",
                "--parallel --profile --quiet --refresh-dependencies --refresh-keys --rerun",
                "--rerun-tasks --show-version --stacktrace --status --types --use-defaults",
                "--version --warn --watch-fs --write-locks --auto-correct",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-F= --dependency-verification= --configuration-cache-problems= --console= --group=",
                "--max-workers= --priority= --warning-mode= --update-locks= --tests= --args=",
                "--configuration= --dependency= --task= --property= --type= --dsl= --test-framework=",
                "--project-name= --package= --java-version= --gradle-version= --distribution-type=",
                "--network-timeout= --gradle-distribution-sha256-sum= --main-class= --device= --path=",
            ),
            Value::Text,
        ),
        (
            words!("-b: --build-file= -c: --settings-file= -p: --project-dir= --include-build=",),
            Value::Source,
        ),
        (words!("--project-cache-dir="), Value::Output),
        (
            words!("-D: -P: --project-prop= --system-prop="),
            Value::By(properties::check),
        ),
        (words!("-x: --exclude-task="), Value::By(any)),
    ],
};

/// Options that Gradle also accepts with one dash, and that are denied.
const REFUSED: &[&str] = words!(
    "-gradle-user-home -init-script -scan -write-verification-metadata -build-file -settings-file",
    "-project-dir -include-build -project-cache-dir -exclude-task -system-prop -project-prop",
    "-gradle-distribution-url -args -stop -status",
);

/// Tasks that publish, upload or use an account, by their whole name.
const TASKS: &[&str] = words!(
    "appengineStage artifactoryPublish bintrayUpload closeAndReleaseRepository",
    "closeAndReleaseSonatypeStagingRepository closeAndReleaseStagingRepositories",
    "closeAndReleaseStagingRepository closeSonatypeStagingRepository dockerPush dockerPushImage",
    "githubRelease jib login publish publishPlugins release releaseRepository signArchives",
    "signMavenJavaPublication sonar sonarqube uploadArchives",
);

/// Tasks that publish to the local repository, as `mvn install` does.
const LOCAL: &[&str] = words!("publishToMavenLocal publishAllPublicationsToMavenLocal");

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let items = OPTIONS.read(call, call.args, check_special)?;
    let mut has_place = false;
    let mut names_property = false;
    for item in &items {
        let Item::Option { name, value } = item else {
            continue;
        };
        if matches!(*name, "--gradle-version" | "--distribution-type") {
            let version = value.as_ref().and_then(|value| value.known());
            if !version.is_some_and(|version| has_only(version, "._+-")) {
                return Err(call
                    .deny(Rule::R100, "the version of Gradle is unknown")
                    .instead("write it literally: gradle wrapper --gradle-version 8.10"));
            }
        }
        has_place |= matches!(*name, "-p" | "--project-dir" | "-b" | "--build-file");
        if *name == "--property" {
            let property = value.as_ref().and_then(|value| value.known());
            if property.is_none_or(|property| names_secret(&split_camel_case(property).join("_"))) {
                return Err(call
                    .deny(Rule::R94, "the property may be a secret")
                    .instead("print another property, such as --property version"));
            }
            names_property = true;
        }
    }
    for item in &items {
        if let Item::Operand(task) = item {
            check_task(call, task, names_property)?;
        }
    }
    if has_place {
        Ok(())
    } else {
        starts_in_project(call)
    }
}

/// Accepts any task that is left out.
fn any(_: &Call<'_, '_, '_>, _: &Arg<'_>) -> Checked {
    Ok(())
}

fn check_special(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Result<bool, Denial> {
    let text = arg.text.as_ref();
    let name = text.split('=').next().unwrap_or_default();
    if text == "--stop" {
        return Err(call
            .deny_flag(Rule::R87, text, arg.span)
            .rationale("it ends the Gradle daemons of other agents and editors")
            .instead("leave the daemon running, or build with --no-daemon"));
    }
    if REFUSED.contains(&name) {
        return Err(OPTIONS.deny(call, arg));
    }
    // A cluster of flags.
    Ok(arg.is_static()
        && text.len() > 2
        && text
            .strip_prefix('-')
            .is_some_and(|letters| letters.bytes().all(|letter| b"Sadimqsw".contains(&letter))))
}

fn check_task(call: &Call<'_, '_, '_>, task: &Arg<'_>, names_property: bool) -> Checked {
    let texts = known_values::known_texts(call.context.scope, task);
    let texts = match texts {
        Some(texts) => texts,
        // `":$module:test"`: the last component is the task.
        None => match literal_end(task).filter(|_| call.stays_one_word(task)) {
            Some(end) => vec![end],
            None => {
                let reason = "the task of Gradle is unknown until it runs";
                return Err(
                    Denial::by(Rule::R100, task.span, reason).instead("write its name literally")
                );
            }
        },
    };
    texts
        .iter()
        .try_for_each(|text| check_name(task, text, names_property))
}

/// Returns the text after the last colon of an argument, if it is literal.
fn literal_end(task: &Arg<'_>) -> Option<String> {
    use crate::syntax::Part;
    let last = match task.parts.last()? {
        Part::DoubleQuoted(inner) => inner.last()?,
        part => part,
    };
    match last {
        Part::Literal(text) | Part::Quoted(text) => {
            let (_, end) = text.rsplit_once(':')?;
            Some(end.to_owned())
        }
        _ => None,
    }
}

fn check_name(task: &Arg<'_>, text: &str, names_property: bool) -> Checked {
    let name = text.rsplit(':').next().unwrap_or(text);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_plain) {
        let reason = format!("'{text}' is no plain name of a task");
        return Err(Denial::by(Rule::R100, task.span, reason).instead("write its name literally"));
    }
    if name == "properties" && !names_property {
        let reason = "the properties of Gradle may contain secrets";
        return Err(Denial::by(Rule::R94, task.span, reason)
            .instead("print one property: gradle properties --property version"));
    }
    if LOCAL.contains(&name) {
        return Ok(());
    }
    if publishes(name) {
        let reason = format!("'{text}' may publish, or use an account");
        return Err(Denial::by(Rule::R51, task.span, reason).instead(
            "build and test locally, write names of tasks in full, and leave publishing to the user",
        ));
    }
    Ok(())
}

/// Returns whether a task publishes, or abbreviates the name of one that does: Gradle completes the
/// beginning of each word of a name.
fn publishes(name: &str) -> bool {
    let words = split_camel_case(name);
    let Some(first) = words.first() else {
        return false;
    };
    let is_publishing = |word: &String| {
        PUBLISHING
            .iter()
            .any(|known| word.starts_with(known) && !word.starts_with("publisher"))
    };
    let abbreviates = |known: &&str| {
        let known = split_camel_case(known);
        words.len() <= known.len()
            && words
                .iter()
                .zip(&known)
                .all(|(it, of)| of.starts_with(it.as_str()))
    };
    let is_beginning = ["publish", "upload", "deploy", "release", "promote"]
        .iter()
        .any(|known| known.starts_with(first.as_str()));
    words.iter().any(is_publishing) || is_beginning || TASKS.iter().any(abbreviates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_of_publishing_tasks_are_found() {
        for name in [
            "publish",
            "pub",
            "uA",
            "cARR",
            "closeAndRelease",
            "publishAllPublicationsToMavenRepository",
            "pAPTMR",
            "dockerPush",
            "dP",
            "jib",
            "sonar",
            "bintrayUpload",
            "appDistributionUploadRelease",
            "release",
        ] {
            assert!(publishes(name), "{name}");
        }
        for name in [
            "test",
            "build",
            "clean",
            "assembleRelease",
            "bundleRelease",
            "dependencies",
            "bootRun",
            "jibDockerBuild",
            "spotlessApply",
            "signingReport",
            "closeDatabase",
            "check",
            "compileJava",
            "run",
        ] {
            assert!(!publishes(name), "{name}");
        }
    }
}
