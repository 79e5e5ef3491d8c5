//! Open files that a child inherits, and those that it does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_process::{Exit, Launch, StartedProcess};
use futures::future::join_all;
use tokio::io::AsyncReadExt;

use crate::fixture::{Fixture, eventually, kill_at_once, ready, within};

/// Returns the open files of a process, by number.
fn open_files(pid: u32) -> BTreeMap<u32, PathBuf> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).expect("it lives");
    let entry = |path: PathBuf| {
        let number = path.file_name()?.to_str()?.parse().ok()?;
        Some((number, fs::read_link(path).ok()?))
    };
    entries
        .flatten()
        .filter_map(|found| entry(found.path()))
        .collect()
}

fn numbers_of(pid: u32, file: &Path) -> Vec<u32> {
    let open = open_files(pid);
    let is_it = |(number, path): (u32, PathBuf)| (path == file).then_some(number);
    open.into_iter().filter_map(is_it).collect()
}

fn is_locked(path: &Path) -> bool {
    let file = File::open(path).expect("it is there");
    match file.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => panic!("{error}"),
    }
}

#[tokio::test]
async fn a_lock_is_held_until_the_child_and_its_tools_have_ended() {
    let fixture = Fixture::new();
    let path = fixture.path("run.lock");
    let lock = Arc::new(File::create(&path).expect("writable"));
    lock.lock().expect("nobody else");
    let script = "sleep 600 & setsid sleep 600 & echo ready; wait";
    let launch = fixture.bash(script).inherit(lock.clone());
    let StartedProcess {
        process,
        stdin: _stdin,
        stdout,
    } = launch.start().await.expect("it starts");
    let _stdout = ready(stdout).await;
    let without = Fixture::new();
    let other = without
        .bash("echo ready; exec sleep 600")
        .start()
        .await
        .expect("it starts");
    let _others = ready(other.stdout).await;
    eventually("both tools", || {
        let found = fixture.marker.processes();
        found
            .iter()
            .filter(|process| process.name == "sleep")
            .count()
            == 2
    });

    let all = fixture.marker.processes();
    assert_eq!(all.len(), 3);
    for pid in all.iter().map(|process| process.pid) {
        let numbers = numbers_of(pid, &path);
        assert!(matches!(numbers[..], [100..=u32::MAX]), "{numbers:?}");
    }
    assert_eq!(numbers_of(other.process.pid(), &path), Vec::<u32>::new());

    // After a kill, the system closes the files of this process; the lock stays.
    assert_eq!(Arc::strong_count(&lock), 1);
    drop(lock);
    assert!(is_locked(&path));
    let end = within(process.shutdown(kill_at_once())).await;
    assert!(end.is_complete(), "{end:?}");
    eventually("the lock to be free", || !is_locked(&path));

    fixture.assert_nothing_is_left();
    within(other.process.shutdown(kill_at_once())).await;
    without.assert_nothing_is_left();
}

#[tokio::test]
async fn children_that_start_at_the_same_time_get_nothing_of_each_other() {
    let trials: Vec<_> = (0..12).map(|_| Fixture::new()).collect();
    let starts = trials.iter().map(|fixture| {
        let path = fixture.path("own");
        let own = Arc::new(File::create(&path).expect("writable"));
        let launch = fixture.bash("echo ready; exec sleep 600").inherit(own);
        async move {
            let started = launch.start().await.expect("it starts");
            let StartedProcess {
                process,
                stdin,
                stdout,
            } = started;
            (process, path, (stdin, ready(stdout).await))
        }
    });

    let children = join_all(starts).await;

    let mut pipes = BTreeSet::new();
    for (process, path, _) in &children {
        eventually("the program", || {
            let name = fs::read_to_string(format!("/proc/{}/comm", process.pid()));
            name.expect("it lives") == "sleep\n"
        });
        // A starting program has its libraries open for a moment.
        eventually("its own descriptors alone", || {
            open_files(process.pid()).len() == 4
        });
        let open = open_files(process.pid());
        let numbers: Vec<_> = open.keys().copied().collect();
        let [0, 1, 2, own @ 100..=u32::MAX] = numbers[..] else {
            panic!("{open:?}");
        };
        assert_eq!(&open[&own], path);
        let inherited: Vec<_> = [0, 1, 2]
            .iter()
            .map(|number| open[number].clone())
            .collect();
        assert!(
            inherited.iter().all(|pipe| pipes.insert(pipe.clone())),
            "{inherited:?}"
        );
    }
    for (process, ..) in children {
        let end = within(process.shutdown(kill_at_once())).await;
        assert!(end.is_complete(), "{end:?}");
    }
    trials.iter().for_each(Fixture::assert_nothing_is_left);
}

#[tokio::test]
async fn a_secret_is_read_once_and_is_in_no_environment() {
    let fixture = Fixture::new();
    let script = "cat <&$SECRET_AT; echo; cat <&$SECRET_AT; bash -c 'cat <&$SECRET_AT'; \
                  env | grep -c hush; tr '\\0' '\\n' < /proc/self/environ | grep -c hush";
    let launch = fixture.bash(script).secret("SECRET_AT", "hush");

    let StartedProcess {
        process,
        stdin: _stdin,
        mut stdout,
    } = launch.start().await.expect("it starts");
    let mut output = String::new();
    within(stdout.read_to_string(&mut output))
        .await
        .expect("it is text");

    assert_eq!(output, "hush\n0\n0\n");
    assert_eq!(process.exited().await, Exit::Code(1));
    within(process.shutdown(kill_at_once())).await;
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_secret_that_is_too_long_is_an_error_and_a_long_one_arrives_whole() {
    let fixture = Fixture::new();
    let too_long = "x".repeat(Launch::SECRET_LIMIT + 1);
    let refused = fixture.bash("true").secret("SECRET_AT", &too_long).start();
    let error = refused.await.expect_err("it is too long");
    assert!(error.to_string().contains("bash"), "{error}");

    let launch = fixture
        .bash("wc -c <&$SECRET_AT")
        .secret("SECRET_AT", &too_long[1..]);
    let StartedProcess {
        process,
        stdin: _stdin,
        mut stdout,
    } = launch.start().await.expect("it starts");
    let mut output = String::new();
    within(stdout.read_to_string(&mut output))
        .await
        .expect("it is text");

    assert_eq!(output.trim(), Launch::SECRET_LIMIT.to_string());
    within(process.shutdown(kill_at_once())).await;
    fixture.assert_nothing_is_left();
}
