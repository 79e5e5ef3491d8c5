//! `mvn` and `./mvnw`: phases and goals of the project.

use super::{PUBLISHING, properties, split_camel_case, starts_in_project};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, StrictOptions, Value, nothing_special};
use crate::check::known_values;
use crate::check::text::has_only;
use crate::{Denial, Rule};

/// Missing are options that read settings of another place (`-s`, `-gs`, `-t`, `-gt`) or encrypt
/// passwords (`-emp`, `-ep`).
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R100,
    instead: "leave the option out; settings belong into pom.xml and .mvn/maven.config",
    groups: &[
        (
            words!(
                "-B -C -N -U -V -X -am -amd -c -e -fae -ff -fn -h -itr -llr -nsu -ntp -o -q -v",
                "--also-make --also-make-dependents --batch-mode --debug --errors --fail-at-end",
                "--fail-fast --fail-never --help --ignore-transitive-repositories --lax-checksums",
                "--legacy-local-repository --no-snapshot-updates --no-transfer-progress",
                "--non-interactive --non-recursive --offline --quiet --raw-streams --show-version",
                "--strict-checksums --update-snapshots --verbose --version -version",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-P: --activate-profiles= -pl= --projects= -rf= --resume-from= -T: --threads= -b=",
                "--builder= --color=",
            ),
            Value::Text,
        ),
        (words!("-f= --file="), Value::Source),
        (words!("-l= --log-file="), Value::Output),
        (words!("-D: --define="), Value::By(properties::check)),
    ],
};

/// Phases of the life cycles, apart from those that deploy.
const PHASES: &[&str] = words!(
    "clean compile generate-resources generate-sources generate-test-resources",
    "generate-test-sources initialize install integration-test package post-clean",
    "post-integration-test post-site pre-clean pre-integration-test pre-site prepare-package",
    "process-classes process-resources process-sources process-test-classes",
    "process-test-resources process-test-sources site test test-compile validate verify",
);

/// Plugins that build, test, check or generate, by their prefix.
const PLUGINS: &[&str] = words!(
    "antlr4 antrun archetype asciidoctor assembly avro buildnumber build-helper bundle cargo",
    "checkstyle clean compiler cucumber cyclonedx cxf-codegen dependency dependency-check",
    "duplicate-finder ear eclipse ejb enforcer exec failsafe flatten flyway fmt formatter gatling",
    "git-code-format git-commit-id graphqlcodegen groovy gwt help hibernate idea impsort install",
    "invoker jacoco japicmp jar javacc javadoc javafx jaxb2 jdeps jetty jlink jmeter jooq-codegen",
    "jpackage jsonschema2pojo jxr kotlin license liquibase lombok micronaut mn modernizer native",
    "openapi-generator payara-micro pitest pmd project-info-reports properties protobuf quarkus",
    "remote-resources replacer resources revapi rewrite scala scoverage shade sortpom source",
    "spotbugs spotless spring-boot surefire surefire-report swagger-codegen templating tidy",
    "toolchains tomcat7 vaadin versions war wrapper xml-format",
);

/// Beginnings of groups of such plugins, in `GROUP:ARTIFACT:VERSION:GOAL`.
const GROUPS: &[&str] = words!(
    "com.diffplug.spotless com.github.ekryd.sortpom com.github.spotbugs",
    "com.google.protobuf com.mycila com.puppycrawl com.spotify.fmt com.vaadin io.avaje",
    "io.gatling io.micronaut io.quarkus net.alchim31 net.revelc.code",
    "org.antlr org.apache.avro org.apache.maven.plugins org.asciidoctor org.codehaus.gmaven",
    "org.codehaus.mojo org.cyclonedx org.eclipse.jetty org.flywaydb org.gaul org.graalvm",
    "org.hibernate org.jacoco org.jetbrains.kotlin org.jooq org.liquibase org.openapitools",
    "org.openjfx org.openrewrite org.owasp org.pitest org.scala org.springframework.boot",
    "org.xolstice.maven.plugins pl.project13.maven",
);

/// Goals that act outside of the project, print secrets or unpack archives.
const REFUSED: &[&str] = words!(
    "dependency:purge-local-repository dependency:unpack dependency:unpack-dependencies exec:exec",
    "help:effective-settings help:system",
);

const INSTEAD: &str =
    "use phases such as test, verify and package, or goals such as dependency:tree";

pub(super) fn check<'s>(call: &Call<'_, '_, 's>) -> Checked {
    let mut has_file = false;
    for item in OPTIONS.read(call, call.args, nothing_special)? {
        match item {
            Item::Option { name, value } => {
                has_file |= matches!(name, "-f" | "--file");
                if matches!(name, "-T" | "--threads" | "-b" | "--builder" | "--color") {
                    let is_plain =
                        |value: &Arg<'_>| value.known().is_none_or(|text| has_only(text, "."));
                    if let Some(value) = value.filter(|value| !is_plain(value)) {
                        return Err(OPTIONS.deny(call, &value));
                    }
                }
            }
            Item::Operand(goal) => check_goal(call, goal)?,
        }
    }
    if has_file {
        Ok(())
    } else {
        starts_in_project(call)
    }
}

fn check_goal(call: &Call<'_, '_, '_>, goal: &Arg<'_>) -> Checked {
    let texts = known_values::known_texts(call.context.scope, goal);
    let Some(texts) = texts else {
        let reason = "the goal of Maven is unknown until it runs";
        return Err(Denial::by(Rule::R100, goal.span, reason).instead("write it literally"));
    };
    texts.iter().try_for_each(|text| check_name(goal, text))
}

fn check_name(goal: &Arg<'_>, text: &str) -> Checked {
    let deny = |rule, reason: String, instead: &'static str| {
        Err(Denial::by(rule, goal.span, reason).instead(instead))
    };
    let Some((plugin, name)) = text.rsplit_once(':') else {
        let publishes = split_camel_case(text).iter().any(|word| word == "deploy");
        return match text {
            _ if PHASES.contains(&text) => Ok(()),
            _ if publishes => deny(
                Rule::R51,
                format!("'{text}' publishes"),
                "use verify or install, and leave it to the user",
            ),
            _ => deny(
                Rule::R100,
                format!("'{text}' is no known phase of Maven"),
                INSTEAD,
            ),
        };
    };
    // `GOAL@EXECUTION`
    let name = name.split('@').next().unwrap_or(name);
    let is_plain = |text: &str| has_only(text, "-._");
    if matches!(plugin, "before" | "after" | "all") && PHASES.contains(&name) {
        return Ok(());
    }
    let parts: Vec<&str> = plugin.split(':').collect();
    let prefix = match parts[..] {
        [prefix] => prefix,
        [group, artifact] | [group, artifact, _] if is_known_group(group) => {
            prefix_of_artifact(artifact)
        }
        _ => "",
    };
    let publishes = [prefix, name]
        .iter()
        .flat_map(|part| split_camel_case(part))
        .any(|word| PUBLISHING.contains(&word.as_str()) || word == "release");
    let is_sent = matches!(
        prefix,
        "sonar" | "gpg" | "scm" | "jib" | "release" | "wagon"
    );
    if publishes || is_sent {
        return deny(
            Rule::R51,
            format!("'{text}' publishes, or uses an account"),
            "build and test locally, and leave it to the user",
        );
    }
    let goal_of_prefix = format!("{prefix}:{name}");
    if REFUSED.contains(&goal_of_prefix.as_str()) {
        return deny(
            Rule::R100,
            format!("'{text}' reaches beyond the project"),
            INSTEAD,
        );
    }
    let is_known =
        PLUGINS.contains(&prefix) && is_plain(name) && parts.iter().all(|it| is_plain(it));
    if is_known {
        Ok(())
    } else {
        deny(
            Rule::R100,
            format!("'{text}' is no goal of a known plugin"),
            "bind the plugin to a phase in pom.xml, and run that phase",
        )
    }
}

fn is_known_group(group: &str) -> bool {
    GROUPS.iter().any(|known| {
        let rest = group.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Returns the prefix of a plugin: `compiler` of `maven-compiler-plugin`, `rewrite` of
/// `rewrite-maven-plugin`, `pitest` of `pitest-maven`.
fn prefix_of_artifact(artifact: &str) -> &str {
    let official = artifact
        .strip_prefix("maven-")
        .and_then(|it| it.strip_suffix("-plugin"));
    let other = artifact.strip_suffix("-maven-plugin");
    let named = artifact.strip_suffix("-maven");
    official.or(other).or(named).unwrap_or(artifact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_derived_from_artifacts() {
        for (artifact, prefix) in [
            ("maven-compiler-plugin", "compiler"),
            ("rewrite-maven-plugin", "rewrite"),
            ("pitest-maven", "pitest"),
            ("x", "x"),
        ] {
            assert_eq!(prefix_of_artifact(artifact), prefix);
        }
    }

    #[test]
    fn groups_are_whole_components() {
        assert!(is_known_group("io.quarkus.platform"));
        assert!(is_known_group("org.codehaus.mojo"));
        assert!(!is_known_group("org.codehaus.mojoevil"));
        assert!(!is_known_group("evil"));
    }
}
