//! Java and its build tools.

use super::{Group, Reach};
use crate::check::assignments::accepted_values::AcceptedValues::SystemFolder;

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        reason: "Java and its build tools read options, settings or programs from it",
        names: "JDK_JAVAC_OPTIONS IBM_JAVA_OPTIONS OPENJ9_JAVA_OPTIONS JAVA_OPTIONS",
        accepts: &[("JAVA_HOME JDK_HOME JRE_HOME", SystemFolder)],
        ..Group::NONE
    },
    Group {
        reason: "Maven and Gradle read options, settings or downloads from it",
        reach: Reach::NamesAnywhere,
        names: "MAVEN_ARGS MAVEN_CONFIG MAVEN_BASEDIR MAVEN_PROJECTBASEDIR MAVEN_CMD_LINE_ARGS \
            MVNW_REPOURL GRADLE_USER_HOME",
        prefixes: "MAVEN_ MVNW_ MVND_ M2_ GRADLE_ ORG_GRADLE_",
        free: "MVNW_VERBOSE",
        ..Group::NONE
    },
];
