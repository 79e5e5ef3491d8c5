//! Symlinks can only turn an allowed command into a denied one.

use std::collections::HashMap;
use std::sync::Arc;

use autonoe_security::{
    BashSecurity, BashValidator, Destructive, Policy, PolicyConfig, ResolveSymlinks,
};

use crate::policy::support::{PROJECT, corpus, validator};

/// A file system in which everything is where it seems, but for these links.
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
        ..PolicyConfig::new(PROJECT)
    };
    BashValidator::new(Policy::new(config).expect("a good policy"))
        .with_symlinks(Arc::new(Links(links.iter().copied().collect())))
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
fn no_link_allows_what_was_denied() {
    let links = [
        ("/etc", "/srv/project"),
        ("/srv/project/a", "/srv/project/b"),
    ];
    for case in corpus().into_iter().filter(|case| !case.allowed) {
        let follows = validator(case.config).with_symlinks(Arc::new(Links(links.into())));

        assert!(!follows.check(&case.command).is_allowed(), "{}", case.id);
    }
}
