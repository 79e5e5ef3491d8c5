//! Tests of path patterns in permission rules.

use proptest::prelude::*;

use super::*;

fn project_paths() -> ProjectPaths {
    ProjectPaths::new("/srv/project").with_home("/home/user")
}

fn covers(pattern: &str, path: &str) -> bool {
    let pattern = PathPattern::parse(pattern).expect("the pattern is valid");
    pattern.covers(&normalise(Path::new(path)), &project_paths())
}

#[test]
fn patterns_cover_matching_paths() {
    for (pattern, path, covered) in [
        ("./**", "/srv/project", true),
        ("./**", "/srv/project/a/b.rs", true),
        ("./**", "/srv/project-other/a", false),
        ("./**", "/srv", false),
        ("./**", "/srv/project/../secret", false),
        ("src/**", "/srv/project/src/a/b", true),
        ("src/**", "/srv/project/test/a", false),
        ("src/*.rs", "/srv/project/src/a.rs", true),
        ("src/*.rs", "/srv/project/src/a/b.rs", false),
        ("src/?.rs", "/srv/project/src/ab.rs", false),
        ("**/b.rs", "/srv/project/b.rs", true),
        ("**/b.rs", "/srv/project/x/y/b.rs", true),
        ("a/**/b/**/c", "/srv/project/a/x/b/y/z/c", true),
        ("a/**/b/**/c", "/srv/project/a/x/y/z/c", false),
        (".", "/srv/project", true),
        (".", "/srv/project/a", false),
        ("../shared/*", "/srv/shared/a", true),
        ("a/../b", "/srv/project/b", true),
        ("../../../../etc/*", "/etc/hosts", true),
        ("/etc/**", "/etc/a/b", true),
        ("//etc/**", "/etc/a/b", true),
        ("/etc/**", "/srv/project/etc/a", false),
        ("~/notes/**", "/home/user/notes/a", true),
        ("~/notes/**", "/home/other/notes/a", false),
        ("~", "/home/user", true),
    ] {
        assert_eq!(covers(pattern, path), covered, "{pattern} {path}");
    }
}

#[test]
fn a_path_touches_its_ancestors_and_reaches_its_descendants() {
    for (pattern, path, touches, reaches) in [
        ("./secrets", "/srv/project/secrets", true, true),
        ("./secrets", "/srv/project/secrets/a", true, false),
        ("./secrets", "/SRV/project/Secrets/a", true, false),
        ("./secrets/**", "/srv/project/secrets/a/b", true, true),
        ("./secrets/*", "/srv/project", false, true),
        ("./secrets/*", "/", false, true),
        ("./secrets/*", "/srv/project/src", false, false),
        ("**/*.lock", "/srv/project/src/a.rs", false, true),
        ("**/*.lock", "/srv/project/src/a.LOCK", true, true),
        ("a/**/b", "/srv/project/c", false, false),
        ("/etc/*", "/srv/project", false, false),
    ] {
        let pattern = PathPattern::parse(pattern).expect("the pattern is valid");
        let path = Path::new(path);

        assert_eq!(
            pattern.touches(path, &project_paths()),
            touches,
            "{pattern:?} {path:?}"
        );
        assert_eq!(
            pattern.reaches(path, &project_paths()),
            reaches,
            "{pattern:?} {path:?}"
        );
    }
}

#[test]
fn without_a_home_the_tilde_covers_nothing() {
    let pattern = PathPattern::parse("~/**").expect("the pattern is valid");

    assert!(!pattern.covers(
        Path::new("/home/user/a"),
        &ProjectPaths::new("/srv/project")
    ));
}

#[test]
fn unsupported_patterns_are_rejected() {
    for text in [
        "[ab]",
        "{a,b}",
        "a\\b",
        "~other/x",
        "*/../x",
        "**/../x",
        "a**b",
        "src/**.rs",
    ] {
        assert!(PathPattern::parse(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn a_hostile_pattern_is_handled_quickly() {
    let pattern = format!("{}b", "**/a*a*/".repeat(200));
    let path = format!("/srv/project/{}", "aaaaaaaa/".repeat(2_000));

    assert!(!covers(&pattern, &path));
}

proptest! {
    #[test]
    fn the_project_pattern_covers_nothing_outside_the_project(path in "(/|\\.\\./|srv/|project/|[a-z~.]{1,3}/){0,12}") {
        let normal = normalise(&Path::new("/srv/project").join(path));

        let covered = covers("./**", &normal.to_string_lossy());

        prop_assert_eq!(covered, normal.starts_with("/srv/project"));
    }
}
