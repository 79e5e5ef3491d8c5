//! [`SessionFolder`]s: creation, locks and removal.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use autonoe_process::{SessionFolder, SessionParent, StartedProcess};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::fixture::{Fixture, eventually, ready, short_policy, within};

/// Makes this thread respect permissions, even if root runs the tests.
fn drop_permission_override() {
    let mut sets = capabilities(None).expect("they can be looked at");
    sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(None, sets).expect("one may always have less");
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("ours");
}

fn create(fixture: &Fixture) -> SessionFolder {
    SessionFolder::create_in(fixture.folder(), "session-").expect("writable")
}

/// Returns a path beside the session folders.
fn sibling_path(fixture: &Fixture, name: &str) -> PathBuf {
    let parent = SessionParent::open(fixture.folder()).expect("writable");
    parent.sessions().join(name)
}

#[test]
fn a_folder_is_new_and_only_its_owner_can_read_it() {
    let fixture = Fixture::new();
    let (one, other) = (create(&fixture), create(&fixture));

    assert_ne!(one.path(), other.path());
    let mode = fs::metadata(one.path())
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    let temporary = fs::metadata(one.temporary()).expect("there").permissions();
    assert_eq!(temporary.mode() & 0o777, 0o700);
    assert_eq!(one.temporary().parent(), Some(fixture.folder()));
    let name = one.path().file_name().and_then(|name| name.to_str());
    assert!(name.expect("a name").starts_with("session-"));
}

#[test]
fn a_folder_is_abandoned_when_its_program_has_ended() {
    let fixture = Fixture::new();
    let held = create(&fixture);
    let left = sibling_path(&fixture, "session-left");
    fs::create_dir(&left).expect("writable");
    fs::write(left.join("file"), "").expect("writable");
    let temporary = fixture.path("session-left");
    fs::create_dir(&temporary).expect("writable");
    fs::write(temporary.join("file"), "").expect("writable");
    let (file, other) = (
        sibling_path(&fixture, "session-file"),
        sibling_path(&fixture, "other-left"),
    );
    fs::create_dir(&other).expect("writable");
    fs::write(&file, "").expect("writable");
    symlink(&other, sibling_path(&fixture, "session-link")).expect("writable");
    let abandoned = || SessionFolder::abandoned_in(fixture.folder(), "session-").expect("readable");

    let found = abandoned();

    let paths: Vec<_> = found.iter().map(SessionFolder::path).collect();
    assert_eq!(paths, [left.as_path()]);
    assert!(abandoned().is_empty(), "it is somebody's now");
    drop(found);
    assert!(!left.exists() && !temporary.exists());
    assert!(held.path().exists() && held.temporary().exists());
    assert!(file.exists() && other.exists());
}

#[test]
fn the_folder_of_a_killed_host_is_abandoned() {
    if let Some(fixture) = Fixture::as_host() {
        let folder = create(&fixture);
        fs::write(fixture.path("made"), "yes\n").expect("writable");
        loop {
            std::thread::park();
            let _ = &folder;
        }
    }
    let fixture = Fixture::new();
    let mut host = fixture.start_host("session_folder::the_folder_of_a_killed_host_is_abandoned");
    fixture.wait_for_file("made");
    let abandoned = || SessionFolder::abandoned_in(fixture.folder(), "session-").expect("readable");
    assert!(abandoned().is_empty());

    host.kill();

    assert_eq!(abandoned().len(), 1);
}

#[test]
fn a_folder_is_not_abandoned_while_its_program_creates_it() {
    let fixture = Fixture::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                drop(SessionFolder::abandoned_in(fixture.folder(), "session-"));
            }
        });
        for _ in 0..200 {
            let folder = create(&fixture);
            assert!(fs::write(folder.path().join("file"), "").is_ok());
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn read_only_files_are_removed_and_targets_of_symlinks_are_not() {
    drop_permission_override();
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let (inner, outer) = (folder.path().join("a/b"), fixture.path("outer"));
    fs::create_dir_all(&inner).expect("writable");
    fs::create_dir(&outer).expect("writable");
    fs::write(outer.join("kept"), "").expect("writable");
    fs::write(inner.join("file"), "").expect("writable");
    symlink(&outer, folder.path().join("link")).expect("writable");
    set_mode(&inner.join("file"), 0o400);
    set_mode(&outer, 0o500);
    set_mode(&inner, 0o500);
    set_mode(&folder.path().join("a"), 0o000);
    set_mode(folder.path(), 0o500);
    let path = folder.path().to_owned();
    assert!(
        fs::remove_dir_all(&path).is_err(),
        "it is easier than it should be"
    );

    folder.remove().expect("all of it is ours");

    assert!(!path.exists());
    assert!(outer.join("kept").exists());
    let mode = fs::metadata(&outer).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o500);
    set_mode(&outer, 0o700);
}

#[test]
fn a_folder_that_cannot_be_removed_is_an_error_and_stays() {
    drop_permission_override();
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let path = folder.path().to_owned();
    let parent = path.parent().expect("it has one").to_owned();
    set_mode(&parent, 0o500);

    let error = folder.remove().expect_err("the parent is not writable");

    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(path.exists());
    set_mode(&parent, 0o700);
}

#[test]
fn a_link_in_place_of_the_temporary_files_is_removed_and_not_followed() {
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let temporary = folder.temporary().to_owned();
    let outer = fixture.path("outer");
    fs::create_dir(&outer).expect("writable");
    fs::write(outer.join("kept"), "").expect("writable");
    fs::remove_dir(&temporary).expect("ours");
    symlink(&outer, &temporary).expect("writable");

    folder.remove().expect("ours");

    assert!(fs::symlink_metadata(&temporary).is_err());
    assert!(outer.join("kept").exists());
}

#[test]
fn a_file_in_place_of_the_temporary_files_is_removed() {
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let (path, temporary) = (folder.path().to_owned(), folder.temporary().to_owned());
    fs::remove_dir(&temporary).expect("ours");
    fs::write(&temporary, "").expect("writable");

    folder.remove().expect("ours");

    assert!(!temporary.exists());
    assert!(!path.exists());
}

#[test]
fn removing_a_missing_folder_succeeds() {
    let fixture = Fixture::new();
    let folder = create(&fixture);
    fs::remove_dir_all(folder.path()).expect("ours");

    assert!(folder.remove().is_ok());
}

#[tokio::test]
async fn shutting_down_a_child_removes_its_folder() {
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let path = folder.path().to_owned();
    // A process that writes without pause would recreate a folder that is removed too early.
    let writer = "while :; do mkdir -p deep/$RANDOM; done";
    let script = format!("cd {path:?}; setsid bash -c '{writer}' & echo ready; wait");
    let launch = fixture.bash(&script).folder(folder);
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    eventually("its first folder", || path.join("deep").exists());

    let end = within(process.shutdown(short_policy())).await;

    assert!(end.is_complete(), "{end:?}");
    assert!(!path.exists());
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn the_folder_of_a_dropped_child_is_removed_after_its_processes() {
    let fixture = Fixture::new();
    let folder = create(&fixture);
    let path = folder.path().to_owned();
    let script =
        format!("cd {path:?}; trap '' INT TERM; echo ready; while :; do mkdir -p $RANDOM; done");
    let launch = fixture.bash(&script).folder(folder).on_drop(short_policy());
    let StartedProcess {
        process, stdout, ..
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;

    drop(process);

    eventually("the folder to go", || !path.exists());
    fixture.assert_nothing_is_left();
}
