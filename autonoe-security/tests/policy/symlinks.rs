//! Symlinks can only turn an allowed command into a denied one.

use std::collections::HashMap;

use autonoe_security::{
    BashSecurity, BashValidator, Destructive, Policy, PolicyConfig, PolicyScope, ResolveSymlinks,
};

use crate::policy::support::{PROJECT, corpus, validator};

/// A file system without symlinks except these.
struct Links(HashMap<&'static str, &'static str>);

impl ResolveSymlinks for Links {
    fn resolve(&self, path: &str) -> Option<String> {
        for (link, target) in &self.0 {
            if let Some(rest) = path.strip_prefix(link)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return Some(format!("{target}{rest}"));
            }
        }
        (!path.ends_with("new")).then(|| path.to_owned())
    }
}

fn with_links(links: &[(&'static str, &'static str)]) -> BashValidator {
    let config = PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };
    validator(config).with_symlinks(Links(links.iter().copied().collect()))
}

#[test]
fn a_link_that_leads_outside_is_refused() {
    let validator = with_links(&[
        ("/srv/project/out", "/etc"),
        ("/srv/project/state", "/srv/project/.autonoe"),
    ]);

    for command in [
        "echo x > out/hosts",
        "echo x > out/new",
        "cd out && ls",
        "rm out/a",
        "mkdir out/new",
        "cp a out/",
    ] {
        let verdict = validator.check(command);
        let denial = verdict
            .denial()
            .unwrap_or_else(|| panic!("{command} is allowed"));
        assert_eq!(
            denial.reason, "Symlink target escapes project directory",
            "{command}"
        );
    }
    assert!(!validator.check("echo x > state/status.json").is_allowed());
    assert!(
        validator
            .check("echo x > src/new && cd src && rm new")
            .is_allowed()
    );
}

#[test]
fn a_link_to_the_folder_of_a_session_is_not_written_through() {
    let session = "/tmp/autonoe-1000/.autonoe/autonoe-claude-a1b2c3";
    let validator = with_links(&[
        ("/tmp/link", session),
        ("/tmp/parent", "/tmp/autonoe-1000"),
        ("/srv/project/session", session),
        ("/tmp/notes", "/tmp/other"),
    ]);

    for command in [
        "echo x > /tmp/link/bash-setup.sh",
        "echo x >> /tmp/link/new",
        "echo x | tee /tmp/link/bash-setup.sh",
        "cp evil.sh /tmp/link/bash-setup.sh",
        "cp evil.sh /tmp/link",
        "cp -r vendor/. /tmp/parent",
        "sed -i s/a/b/ /tmp/link/bash-setup.sh",
        "touch /tmp/link/x",
        "mkdir /tmp/parent/x",
        "cd /tmp/link && ls",
        "cd /tmp && echo x > link/bash-setup.sh",
        "echo x > session/bash-setup.sh",
        "sed -i s/a/b/ session/bash-setup.sh",
    ] {
        assert!(!validator.check(command).is_allowed(), "{command}");
    }
    assert!(validator.check("echo x > /tmp/notes/a").is_allowed());
}

#[test]
fn a_path_goes_up_from_where_a_link_leads() {
    let validator = with_links(&[
        ("/srv/project/out/web", "/home/me/web"),
        ("/srv/project/src/api", "/srv/project/api/v1"),
    ]);

    for (command, is_allowed) in [
        ("echo x > out/web/../.bashrc", false),
        ("touch out/web/../x", false),
        ("cp a out/web/..", false),
        ("cd out && echo x > web/../x", false),
        ("echo x > out/../a", true),
        ("echo x > src/api/../a", true),
        ("echo x > src/api/../../a", true),
        ("echo x > src/api/../../../a", false),
    ] {
        let verdict = validator.check(command);
        assert_eq!(verdict.is_allowed(), is_allowed, "{command}: {verdict:?}");
    }
}

#[test]
fn the_contents_of_a_repository_are_not_copied() {
    struct Repository;
    impl ResolveSymlinks for Repository {
        fn resolve(&self, path: &str) -> Option<String> {
            (!path.contains("/.") || path == "/tmp/x/.git").then(|| path.to_owned())
        }
    }
    let validator = validator(PolicyConfig::default()).with_symlinks(Repository);
    for (command, is_allowed) in [
        ("cp -r /tmp/x/. .", false),
        ("cp -rT /tmp/x .", false),
        ("cp -r /tmp/x/. /tmp/y", true),
        ("cp -r /tmp/y/. .", true),
        ("cp -r /tmp/x copy", true),
    ] {
        let verdict = validator.check(command);
        assert_eq!(verdict.is_allowed(), is_allowed, "{command}: {verdict:?}");
    }
}

#[test]
fn a_link_to_credentials_is_not_read() {
    let links = [("/srv/project/key", "/root/.ssh/id_rsa")];
    let validator = validator(PolicyConfig::default()).with_symlinks(Links(links.into()));
    for (command, is_allowed) in [
        ("cat key", false),
        ("cat < key", false),
        ("cp key copy", false),
        ("cd src && cat ../key", false),
        ("ls -l key", true),
        ("cat src/key", true),
        ("cat keys", true),
    ] {
        assert_eq!(
            validator.check(command).is_allowed(),
            is_allowed,
            "{command}"
        );
    }
}

#[test]
fn a_script_or_makefile_behind_a_link_is_no_file_of_the_project() {
    let validator = with_links(&[
        ("/srv/project/out", "/etc"),
        ("/srv/project/linked.sh", "/tmp/evil.sh"),
        ("/srv/project/web/Makefile", "/tmp/evil.mk"),
    ]);

    for command in [
        "./out/x.sh",
        "bash out/x.sh",
        "./linked.sh",
        "bash linked.sh",
        "sh ./linked.sh",
        "make -f out/x.mk",
        "make -f linked.sh",
        "make -C out",
        "make -C web",
        "cd web && make",
        "env -C out ls",
    ] {
        assert!(!validator.check(command).is_allowed(), "{command}");
    }
    for command in ["./run.sh", "bash ci/run.sh", "make test", "make -C api"] {
        assert!(validator.check(command).is_allowed(), "{command}");
    }
}

#[test]
fn no_link_allows_what_was_denied() {
    let links = [
        ("/etc", "/srv/project"),
        ("/srv/project/a", "/srv/project/b"),
    ];
    for case in corpus().into_iter().filter(|case| !case.allowed) {
        let follows = case.validator().with_symlinks(Links(links.into()));

        assert!(!follows.check(&case.command).is_allowed(), "{}", case.id);
    }
}

/// A file system in which the project is a directory of a larger repository.
struct LargerRepository;

impl ResolveSymlinks for LargerRepository {
    fn resolve(&self, path: &str) -> Option<String> {
        (!path.ends_with("/.git")).then(|| path.to_owned())
    }
}

#[test]
fn the_top_of_a_larger_repository_is_not_entered() {
    let is_top = with_links(&[]);
    let is_below = validator(PolicyConfig::default()).with_symlinks(LargerRepository);
    for command in [
        "cd \"$(git rev-parse --show-toplevel)\" && npm test",
        "cd \"$(git rev-parse --show-toplevel)/web\" && echo x > a",
        "ROOT=$(git rev-parse --show-toplevel); cd \"$ROOT\" && touch a",
        "cd src && cd \"$(git rev-parse --show-toplevel)\" && mkdir a",
    ] {
        assert!(is_top.check(command).is_allowed(), "{command}");
        assert!(!is_below.check(command).is_allowed(), "{command}");
    }
    assert!(is_below.check("cd src && npm test").is_allowed());
}

/// Builds a validator of a project that was opened through the link `/home/link`.
fn with_project_link(target: &'static str) -> BashValidator {
    let scope = PolicyScope {
        project_link: Some("/home/link".into()),
        ..PolicyScope::new(PROJECT)
    };
    let config = PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };
    let links = [("/home/link", target), ("/srv/project/out", "/etc")];
    BashValidator::new(Policy::new(scope, config).expect("a good policy"))
        .with_symlinks(Links(links.into()))
}

#[test]
fn paths_through_the_link_to_the_project_are_paths_of_the_project() {
    let validator = with_project_link(PROJECT);
    for (command, is_allowed) in [
        ("cd /home/link && npm test", true),
        ("cd /home/link/src && git status", true),
        ("git -C /home/link status", true),
        ("echo x > /home/link/a", true),
        ("mkdir -p /home/link/src/new", true),
        ("rm /home/link/a", true),
        ("cp a /home/link/b", true),
        // The protected folders stay protected.
        ("echo x > /home/link/.git/config", false),
        ("echo x > /home/link/.autonoe/status.json", false),
        ("rm -r /home/link", false),
        // A symlink in the project that leads outside is still denied.
        ("echo x > /home/link/out/hosts", false),
        ("cd /home/link/out && ls", false),
        // Neighbours of the link, and paths that leave it.
        ("echo x > /home/linked", false),
        ("echo x > /home/link/../a", false),
        ("echo x > /home/link/../link/a", false),
        ("cd /home/link && cd .. && ls", false),
        ("echo x > /home/a", false),
    ] {
        let verdict = validator.check(command);
        assert_eq!(verdict.is_allowed(), is_allowed, "{command}: {verdict:?}");
    }
}

#[test]
fn a_link_that_no_longer_leads_to_the_project_is_refused() {
    let validator = with_project_link("/etc");
    for command in [
        "echo x > /home/link/a",
        "cd /home/link && ls",
        "rm /home/link/a",
    ] {
        assert!(!validator.check(command).is_allowed(), "{command}");
    }
}
