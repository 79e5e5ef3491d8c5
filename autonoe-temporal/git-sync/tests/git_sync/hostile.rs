//! Tests of hostile projects: nothing that an agent leaves there is executed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use autonoe_core::time::Epoch;

use crate::fixture::{Fixture, Host, git};

/// A program that creates the file `ran` when it is run.
struct Trap {
    program: PathBuf,
    ran: PathBuf,
}

impl Trap {
    fn new(fixture: &Fixture) -> Self {
        let (program, ran) = (fixture.path("trap"), fixture.path("ran"));
        let script = format!("#!/bin/sh\necho \"$@\" >>'{}'\nexec cat\n", ran.display());
        fs::write(&program, script).expect("a file");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
        Self { program, ran }
    }

    fn command(&self) -> &str {
        self.program.to_str().expect("plain")
    }

    fn not_run(&self) {
        assert!(!self.ran.exists(), "{:?}", fs::read_to_string(&self.ran));
    }
}

/// Redirects the repository of agents to another one.
type Redirect = fn(&Host, &Path);

fn set_traps(host: &Host, trap: &Trap) {
    let folder = host.file("");
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.gitProxy",
        "core.askPass",
        "core.editor",
        "core.pager",
        "core.alternateRefsCommand",
        "credential.helper",
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.trap.process",
        "merge.trap.driver",
        "diff.trap.textconv",
        "diff.external",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
    ] {
        git(&folder, &["config", key, trap.command()]);
    }
    let hooks = folder.join(".git/hooks");
    fs::create_dir_all(&hooks).expect("a folder");
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "pre-push",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
        "post-rewrite",
    ] {
        fs::copy(&trap.program, hooks.join(hook)).expect("a file");
    }
    let url = format!("ext::{} x", trap.command());
    git(&folder, &["config", "url.X.insteadOf", "/"]);
    let modules = format!(
        "[submodule \"m\"]\n\tpath = m\n\turl = {url}\n\tupdate = !{}\n",
        trap.command()
    );
    host.write(".gitmodules", &modules);
    host.write(".gitattributes", "* filter=trap merge=trap diff=trap\n");
    host.write("b.txt", "new\n");
}

#[tokio::test]
async fn nothing_that_an_agent_has_set_up_runs() {
    let fixture = Fixture::new();
    let trap = Trap::new(&fixture);
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    set_traps(&one, &trap);

    one.attach(2, Epoch(1)).await.expect("it runs");
    two.attach(3, Epoch(2)).await.expect("it runs");
    one.write("late.txt", "to be kept\n");
    set_traps(&one, &trap);
    one.attach(4, Epoch(3)).await.expect("it runs");

    trap.not_run();
    assert_eq!(fixture.published("b.txt"), "new");
    // The old repository is quarantined, and agents have a new one without the traps.
    assert_eq!(
        git(&one.file(""), &["config", "--get-regexp", "^core[.]"])
            .lines()
            .count(),
        4
    );
    trap.not_run();
}

#[tokio::test]
async fn a_sync_repository_with_other_settings_is_repaired() {
    let fixture = Fixture::new();
    let trap = Trap::new(&fixture);
    let one = fixture.host("one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    let sync_dir = fixture.path("one/sync.git");
    for key in [
        "core.sshCommand",
        "filter.trap.clean",
        "core.alternateRefsCommand",
    ] {
        git(&sync_dir, &["config", key, trap.command()]);
    }
    git(&sync_dir, &["config", "url./elsewhere.insteadOf", "/"]);
    one.write(".gitattributes", "* filter=trap\n");

    one.attach(2, Epoch(1)).await.expect("it runs");

    trap.not_run();
    assert_eq!(fixture.published("session-2.txt"), "worked");
}

#[tokio::test]
async fn repository_with_outside_references_is_ignored() {
    let fixture = Fixture::new();
    let one = fixture.host("one");
    let secret = fixture.path("secret");
    fs::create_dir(&secret).expect("a folder");
    git(&secret, &["init", "--quiet"]);
    fs::write(secret.join("secret.txt"), "secret\n").expect("a file");
    git(&secret, &["add", "--all"]);
    git(&secret, &["commit", "--quiet", "-m", "secret"]);
    let hidden = git(&secret, &["rev-parse", "HEAD"]);
    let ways: [(&str, Redirect); 3] = [
        ("a file", |host, secret| {
            let text = format!("gitdir: {}\n", secret.join(".git").display());
            host.write(".git", &text);
        }),
        ("a link", |host, secret| {
            let link = std::os::unix::fs::symlink(secret.join(".git"), host.file(".git"));
            link.expect("a link");
        }),
        ("a common folder", |host, secret| {
            git(&host.file(""), &["init", "--quiet"]);
            let text = format!("{}\n", secret.join(".git").display());
            host.write(".git/commondir", &text);
        }),
    ];
    for (number, (case, redirect)) in (1..).zip(ways) {
        one.attach(number, Epoch(1)).await.expect("it runs");
        let dir = one.file(".git");
        let _ = fs::remove_file(&dir).or_else(|_| fs::remove_dir_all(&dir));
        redirect(&one, &secret);

        one.synced_project()
            .publish(Epoch(1), None)
            .await
            .expect("it is published");

        let all = fixture.on_remote(&["rev-list", "--all"]);
        assert!(!all.contains(&hidden), "{case}");
        let _ = fs::remove_file(&dir).or_else(|_| fs::remove_dir_all(&dir));
    }
    let two = fixture.host("two");
    two.attach(9, Epoch(2)).await.expect("it runs");
    assert_eq!(git(&two.file(""), &["log", "--format=%s"]), "first");
}
