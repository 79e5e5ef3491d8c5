//! Files and folders that only build tools fill.

use super::path;
use crate::policy::Policy;

/// Folders that build tools fill, and may empty.
const BUILD_FOLDERS: &[&str] = words!("bin build coverage dist out output reports tmp");

/// Further folders in which projects keep what tools make.
const REPORT_FOLDERS: &[&str] = words!(
    ".nox .nyc_output .tox htmlcov playwright-report report target test-reports test-results"
);

/// Endings of files that tools make, and that no person writes.
const ENDINGS: &[&str] = words!(
    ".cov .cpuprofile .exe .html .lcov .log .out .prof .sarif .test .tsbuildinfo .xml",
    "coverage.json",
);

/// Returns whether a tool may empty the absolute path `place`: it is below `/tmp`, or in a folder of
/// the project that only build tools fill.
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

/// Returns whether the relative path `path` names something that a tool makes.
pub(crate) fn is_report(path: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    let folder = path.split('/').next().unwrap_or(path);
    let is_in_folder = BUILD_FOLDERS.contains(&folder)
        || REPORT_FOLDERS.contains(&folder)
        || path.split('/').any(is_cache);
    (is_in_folder && !path.contains("..")) || ENDINGS.iter().any(|ending| path.ends_with(ending))
}

fn is_cache(folder: &str) -> bool {
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
            ("src/coverage.json", true),
            ("coverage/../src/a.rs", false),
            ("src/a.rs", false),
            ("package.json", false),
        ] {
            assert_eq!(is_report(path), expected, "{path}");
        }
    }
}
