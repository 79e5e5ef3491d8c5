//! Tests of which files of a project are synchronised.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use autonoe_core::time::Epoch;
use autonoe_git_sync::SyncError;

use crate::fixture::{Fixture, git};

#[tokio::test]
async fn unusual_files_are_synchronised_unchanged() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.synced_project("one"), fixture.synced_project("two"));
    one.take_over(Epoch(1)).await.expect("it is taken");
    let (here, there) = (one.project().root(), two.project().root());
    let odd = OsStr::from_bytes(b"no\xffutf8\n'\"\t*.txt");
    fs::write(here.join(odd), "odd\n").expect("a file");
    fs::create_dir(here.join("d:r")).expect("a folder");
    fs::write(here.join("d:r/:(glob)x"), "magic\n").expect("a file");
    fs::write(here.join("run.sh"), "#!/bin/sh\n").expect("a file");
    fs::set_permissions(here.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("ours");
    symlink("nowhere", here.join("dangling")).expect("a link");
    symlink("/etc/hostname", here.join("outside")).expect("a link");
    fs::write(here.join("lines.bat"), "a\r\nb\n$Id: x$\n").expect("a file");
    let attributes = "* text=auto ident\n*.bat eol=crlf working-tree-encoding=UTF-16\n";
    fs::write(here.join(".gitattributes"), attributes).expect("a file");
    fs::create_dir(here.join("empty")).expect("a folder");
    fs::write(here.join("a.log"), "ignored\n").expect("a file");
    fs::remove_file(here.join("a.txt")).expect("it is there");

    one.publish(Epoch(1), None).await.expect("it is published");
    two.take_over(Epoch(2)).await.expect("it is taken");

    assert_eq!(fs::read(there.join(odd)).expect("it came"), b"odd\n");
    assert_eq!(
        fs::read(there.join("d:r/:(glob)x")).expect("it came"),
        b"magic\n"
    );
    let run = fs::metadata(there.join("run.sh")).expect("it came");
    assert_eq!(run.permissions().mode() & 0o111, 0o111);
    let link = |name: &str| fs::read_link(there.join(name)).expect("a link");
    assert_eq!(link("dangling"), OsStr::new("nowhere"));
    assert_eq!(link("outside"), OsStr::new("/etc/hostname"));
    let lines = fs::read(there.join("lines.bat")).expect("it came");
    assert_eq!(lines, b"a\r\nb\n$Id: x$\n");
    // Files that git does not track stay behind.
    for deleted in ["a.txt", "a.log", "empty"] {
        assert!(!there.join(deleted).exists(), "{deleted}");
    }
}

#[tokio::test]
async fn records_are_synchronised_and_locks_are_not() {
    let fixture = Fixture::new();
    let one = fixture.host("one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    one.write(".autonoe/status.json.tmp", "{");
    one.write(".autonoe/deep/x.lock", "");
    one.write(".autonoe/secret.json", "ignored, so it stays\n");

    one.attach(2, Epoch(1)).await.expect("it runs");

    let files = fixture.on_remote(&["ls-tree", "-r", "--name-only", "autonoe/shop", ".autonoe/"]);
    assert_eq!(files, ".autonoe/journal.jsonl\n.autonoe/status.json");
}

#[tokio::test]
async fn own_files_that_are_not_ignored_are_synchronised_except_locks() {
    let fixture = Fixture::new();
    fs::write(fixture.path("seed/.gitignore"), "").expect("a file");
    fixture.seed("ignore nothing");
    let one = fixture.host("one");
    one.write(".autonoe/agent.json", "{}\n");
    one.write(".autonoe/status.json.tmp", "{");

    one.attach(1, Epoch(1)).await.expect("it runs");
    one.write(".autonoe/agent.json", "{}\n");
    one.attach(2, Epoch(1)).await.expect("it runs");

    let files = fixture.on_remote(&["ls-tree", "-r", "--name-only", "autonoe/shop", ".autonoe/"]);
    let expected = ".autonoe/agent.json\n.autonoe/journal.jsonl\n.autonoe/status.json";
    assert_eq!(files, expected);
}

#[tokio::test]
async fn a_base_with_a_lock_in_it_is_refused() {
    let fixture = Fixture::new();
    fs::write(fixture.path("seed/.gitignore"), "").expect("a file");
    fs::create_dir(fixture.path("seed/.autonoe")).expect("a folder");
    fs::write(fixture.path("seed/.autonoe/run.lock"), "").expect("a file");
    fixture.seed("a lock");

    let arrived = fixture.synced_project("one").checkout().await;

    let error = arrived.expect_err("it must not come");
    let is_named =
        matches!(&error, SyncError::ForbiddenFile { file, .. } if file == ".autonoe/run.lock");
    assert!(is_named, "{error:?}");
}

#[tokio::test]
async fn a_repository_inside_is_refused_and_all_is_kept() {
    for case in ["new", "without a commit", "deep", "submodule"] {
        let fixture = Fixture::new();
        let one = fixture.synced_project("one");
        one.take_over(Epoch(1)).await.expect("it is taken");
        let inside = match case {
            "deep" => "some/where/inside",
            _ => "inside",
        };
        let folder = one.project().root().join(inside);
        fs::create_dir_all(&folder).expect("a folder");
        git(&folder, &["init", "--quiet"]);
        fs::write(folder.join("x.txt"), "work\n").expect("a file");
        if case != "without a commit" {
            git(&folder, &["add", "--all"]);
            git(&folder, &["commit", "--quiet", "-m", "inside"]);
        }
        let before = fixture.names();

        let published = one.publish(Epoch(1), None).await;

        let error = published.expect_err("its work would stay behind");
        let is_named =
            matches!(&error, SyncError::NestedRepository { inside: named } if named == inside);
        assert!(is_named, "{case}: {error:?}");
        assert_eq!(fixture.names(), before);
        assert!(folder.join("x.txt").exists());
        // Once it is ignored, synchronisation works.
        fs::write(one.project().root().join(".gitignore"), "inside/\n").expect("a file");
        one.publish(Epoch(1), None).await.expect("it is published");
    }
}

#[tokio::test]
async fn a_submodule_that_is_not_checked_out_stays_a_submodule() {
    let fixture = Fixture::new();
    let seed = fixture.path("seed");
    let link = "160000,1234567890123456789012345678901234567890,module";
    git(&seed, &["update-index", "--add", "--cacheinfo", link]);
    fs::create_dir(seed.join("module")).expect("a folder");
    fixture.seed("a submodule");
    let (one, two) = (fixture.synced_project("one"), fixture.synced_project("two"));
    one.take_over(Epoch(1)).await.expect("it is taken");
    fs::write(one.project().root().join("b.txt"), "new\n").expect("a file");

    one.publish(Epoch(1), None).await.expect("it is published");
    two.take_over(Epoch(2)).await.expect("it is taken");

    let entry = fixture.on_remote(&["ls-tree", "autonoe/shop", "module"]);
    assert!(entry.starts_with("160000 commit 1234567890"), "{entry}");
    assert!(two.project().root().join("b.txt").exists());
}

#[tokio::test]
async fn blocking_ignored_file_is_saved() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.synced_project("one"), fixture.synced_project("two"));
    one.take_over(Epoch(1)).await.expect("it is taken");
    let here = one.project().root();
    fs::write(here.join("x.log"), "of one\n").expect("a file");
    fs::create_dir(here.join("y.log")).expect("a folder");
    fs::write(here.join("y.log/z"), "of one\n").expect("a file");
    two.take_over(Epoch(2)).await.expect("it is taken");
    let there = two.project().root();
    fs::write(there.join(".gitignore"), ".autonoe/\n").expect("a file");
    fs::write(there.join("x.log"), "of two\n").expect("a file");
    fs::write(there.join("y.log"), "of two\n").expect("a file");
    two.publish(Epoch(2), None).await.expect("it is published");

    one.checkout().await.expect("it arrives");

    assert_eq!(fs::read(here.join("x.log")).expect("it came"), b"of two\n");
    assert_eq!(fs::read(here.join("y.log")).expect("it came"), b"of two\n");
    let saved = fixture.unpublished_work("one");
    let [saved] = &saved[..] else {
        panic!("{saved:?}");
    };
    let sync_dir = fixture.path("one/sync.git");
    for file in ["x.log", "y.log/z"] {
        let show = format!("{saved}:{file}");
        assert_eq!(git(&sync_dir, &["show", &show]), "of one");
    }
}
