//! Fleet members work in a worktree in `.harness`; the rest of that folder is protected.

use autonoe_security::{BashSecurity, BashValidator, Destructive, Policy, PolicyConfig};

const WORKTREE: &str = "/srv/shop/.harness/worktrees/login/one";

fn is_allowed(command: &str) -> bool {
    let config = PolicyConfig {
        destructive: Destructive::Allowed,
        ..PolicyConfig::default()
    };
    let command = command.replace("HERE", WORKTREE);
    let policy = Policy::new(WORKTREE, config).expect("a good policy");
    BashValidator::new(policy).check(&command).is_allowed()
}

#[test]
fn a_worktree_is_a_project_like_another() {
    for command in [
        "echo x > src/a",
        "echo x > HERE/src/a",
        "cd HERE && npm test",
        "cd HERE/web && npm test",
        "cp a HERE/b",
        "mkdir -p HERE/src/new",
        "chmod +x HERE/run.sh",
        "rm HERE/src/a",
        "mv HERE/a HERE/b",
        "git checkout -- HERE/src/a",
        "git restore HERE/src/a",
        "node HERE/x.js",
        "node -e \"require('HERE/x')\"",
        "cargo test --manifest-path HERE/Cargo.toml",
        "npm --prefix HERE/web test",
        "cat ../../../alerts.log",
    ] {
        assert!(is_allowed(command), "{command}");
    }
}

#[test]
fn the_state_of_fleets_around_it_is_protected() {
    for command in [
        "echo x > ../../../login/stop",
        "echo x > HERE/../../../login/stop",
        "echo x > /srv/shop/.harness/login/stop",
        "echo x > HERE/.harness/x",
        "echo x > .harness/x",
        "echo x > HERE-two/a",
        "cp a /srv/shop/.harness/login.one/outcome.json",
        "cd ../.. && ls",
        "rm -rf ../../../login.one",
        "rm /srv/shop/.harness/login/stop",
        "git checkout -- /srv/shop/.harness/login/stop",
        "node -e \"fs.rmSync('/srv/shop/.harness/login/stop')\"",
        "node x.js HERE/../two",
    ] {
        assert!(!is_allowed(command), "{command}");
    }
}
