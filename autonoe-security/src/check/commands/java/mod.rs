//! Java: Maven, Gradle and the tools of the JDK, in run mode.

mod class_path;
mod gradle;
mod jar;
mod javac;
mod launcher;
mod maven;
mod properties;

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Validator};
use crate::check::commands::strict_options::check_source_path;
use crate::check::commands::{declared, free};
use crate::check::path;

/// Finds the validator of the tool `name`.
pub(super) fn find(name: &str) -> Validator {
    match name {
        "mvn" => maven::check,
        "gradle" => gradle::check,
        "javac" => javac::check,
        "java" => launcher::check,
        "jar" => jar::check,
        "javap" | "jps" | "jshell" => declared::check,
        _ => free,
    }
}

/// Judges the arguments of a script of the project, if it is the wrapper of Maven or Gradle.
pub(in crate::check) fn check_wrapper<'s>(
    call: &Call<'_, '_, 's>,
    script: &str,
    args: &[Arg<'s>],
) -> Checked {
    let name = path::file_name(script).to_ascii_lowercase();
    let call = Call { args, ..*call };
    match name.as_str() {
        "mvnw" => maven::check(&call),
        "gradlew" => gradle::check(&call),
        _ => Ok(()),
    }
}

/// Checks a class path of another tool.
pub(super) fn check_class_path(call: &Call<'_, '_, '_>, value: &Arg<'_>) -> Checked {
    class_path::check(call, value)
}

/// Checks that a build tool starts in the project, where its settings are.
fn starts_in_project(call: &Call<'_, '_, '_>) -> Checked {
    check_source_path(call, Rule::R100, ".", call.span)
}

/// Words in names of tasks and goals that publish.
const PUBLISHING: &[&str] =
    words!("bintray deploy promote publish push redeploy sonatype undeploy upload");

/// Splits the name of a task or goal into words, in lower case.
fn split_camel_case(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_inside = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            is_inside = false;
            continue;
        }
        match words.last_mut() {
            Some(last) if is_inside && !c.is_uppercase() => last.push(c),
            _ => words.push(c.to_lowercase().collect()),
        }
        is_inside = true;
    }
    words
}
