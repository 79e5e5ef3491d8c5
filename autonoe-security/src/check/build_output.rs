//! Files and folders that only build tools write.

use super::path;
use crate::policy::Policy;

/// Folders that build tools write and may empty.
const BUILD_FOLDERS: &[&str] = words!("bin build coverage dist out output reports tmp");

/// Further folders in which projects keep the output of tools.
const REPORT_FOLDERS: &[&str] = words!(
    ".nox .nyc_output .tox htmlcov playwright-report report target test-reports test-results"
);

/// Suffixes of files that tools generate and that nobody writes by hand.
const ENDINGS: &[&str] =
    words!(".cov .cpuprofile .exe .lcov .prof .sarif .tsbuildinfo coverage.json");

/// Suffixes of reports that sources have too: a folder of sources may contain them.
const ENDINGS_OUTSIDE_OF_SOURCES: &[&str] = words!(".log .out .test");

/// Suffixes of reports that sources in every folder have too, such as `index.html` and `pom.xml`.
const ENDINGS_OF_NAMED_REPORTS: &[&str] = words!(".html .xml");

/// Words in the names of reports.
const REPORT_NAMES: &[&str] = words!(
    "bench block checkstyle clover cobertura cov cpu jacoco junit lint mem mutex nunit pmd prof",
    "report result rspec trace xunit"
);

/// Returns whether a tool may empty the absolute path `place`: it is below `/tmp`, or in a folder
/// of the project that only build tools write.
pub(crate) fn may_be_emptied(policy: &Policy, place: &str) -> bool {
    if path::is_within(place, "/tmp") {
        return place != "/tmp" && !path::is_protected(place);
    }
    let project = policy.project_dir();
    if !path::is_within(place, project) {
        return false;
    }
    let below = place[project.len()..].trim_start_matches('/');
    let folder = below.split('/').next().unwrap_or(below);
    folder.starts_with("target") || BUILD_FOLDERS.contains(&folder) || is_cache(folder)
}

/// Returns whether the relative path `path` names an output of a tool.
pub(crate) fn is_report(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let folder = path.split('/').next().unwrap_or(path);
    let is_in_folder = BUILD_FOLDERS.contains(&folder)
        || REPORT_FOLDERS.contains(&folder)
        || path.split('/').any(is_cache);
    (is_in_folder && !path.contains("..")) || ends_like_report(path)
}

/// Returns whether a path that is in no folder of tools names a report.
fn ends_like_report(path: &str) -> bool {
    let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    let name = path::file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = stem.to_ascii_lowercase();
    // Nobody gives a source a name of one or two letters.
    let is_named = stem.len() < 3 || REPORT_NAMES.iter().any(|word| stem.contains(word));
    let is_top = !path.contains('/');
    ends(ENDINGS)
        || (ends(ENDINGS_OUTSIDE_OF_SOURCES) && (is_top || is_named))
        || (ends(ENDINGS_OF_NAMED_REPORTS) && is_top && is_named)
}

/// Returns whether a bundler may empty the absolute path `place`: also a folder for bundles below
/// another one, such as `packages/web/dist`.
pub(crate) fn is_bundle_folder(policy: &Policy, place: &str) -> bool {
    let project = policy.project_dir();
    let name = path::file_name(place);
    let is_bundle = [
        "_build",
        "_site",
        "book",
        "build",
        "coverage",
        "dist",
        "out",
        "output",
        "report",
        "site",
        "storybook-static",
        "test-results",
        "vendor",
    ]
    .iter()
    .any(|start| name.starts_with(start));
    may_be_emptied(policy, place)
        || (path::is_within(place, project) && place != project && is_bundle)
}

/// Returns whether the name of a folder or file says that it is a cache.
pub(crate) fn is_cache(folder: &str) -> bool {
    folder.starts_with('.') && folder.contains("cache")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyConfig;

    #[test]
    fn only_folders_of_build_tools_may_be_emptied() {
        let policy = Policy::new("/srv/project", PolicyConfig::default()).expect("a policy");
        for (place, expected) in [
            ("/srv/project/target", true),
            ("/srv/project/target-x/a", true),
            ("/srv/project/dist/a", true),
            ("/srv/project/.pytest_cache", true),
            ("/tmp/x", true),
            ("/tmp", false),
            ("/tmp/autonoe-1000", false),
            ("/srv/project", false),
            ("/srv/project/src", false),
            ("/srv/project/src/.cache", false),
            ("/srv/dist", false),
        ] {
            assert_eq!(may_be_emptied(&policy, place), expected, "{place}");
        }
    }

    #[test]
    fn reports_are_in_folders_of_tools_or_end_like_them() {
        for (path, expected) in [
            ("coverage/a.json", true),
            ("./htmlcov", true),
            ("src/.cache/x", true),
            ("junit.xml", true),
            ("r.xml", true),
            ("cover.out", true),
            ("pkg/cover.out", true),
            ("index.html", false),
            ("pom.xml", false),
            ("templates/report.html", false),
            ("tests/expected.out", false),
            ("src/coverage.json", true),
            ("coverage/../src/a.rs", false),
            ("src/a.rs", false),
            ("package.json", false),
        ] {
            assert_eq!(is_report(path), expected, "{path}");
        }
    }
}
