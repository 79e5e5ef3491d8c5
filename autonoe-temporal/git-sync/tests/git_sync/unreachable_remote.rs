//! Tests of an unreachable remote, and of one that refuses pushes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use autonoe_core::RunId;
use autonoe_core::engine::{SessionHost, SessionHostError};
use autonoe_core::event::Retry;
use autonoe_core::time::Epoch;
use autonoe_git_sync::{SyncError, SyncRemote, SyncedProject};

use crate::fixture::{Fixture, Host, commands, recorded};

#[tokio::test]
async fn an_unpublished_outcome_is_published_by_the_retry_without_a_run() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let before = fixture.names();
    {
        let refuse = refuse_all(&fixture);
        let attached = one.attach(2, Epoch(1)).await;
        let Err(SessionHostError::Failed { failure, .. }) = attached else {
            panic!("{attached:?}");
        };
        assert_eq!(failure.code, "remote_refused");
        fs::remove_file(refuse).expect("it is there");
    }
    assert_eq!(fixture.names(), before);
    assert_eq!(recorded(&one), [1, 2]);

    let repeated = one.attach(2, Epoch(1)).await.expect("it is recorded");

    assert!(repeated.result.end.is_completed());
    assert_eq!(one.played.received().len(), 2);
    let epoch = two.claim().await;
    two.attach(2, epoch).await.expect("it is recorded");
    assert!(two.played.received().is_empty());
    assert_eq!(recorded(&two), [1, 2]);
}

/// Makes the remote refuse each push, and returns the hook file.
fn refuse_all(fixture: &Fixture) -> std::path::PathBuf {
    let hook = fixture.remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().expect("it has one")).expect("a folder");
    fs::write(&hook, "#!/bin/sh\necho 'not today' >&2\nexit 1\n").expect("a file");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("ours");
    hook
}

#[tokio::test]
async fn unreachable_remote_is_retried_and_nothing_is_lost() {
    let fixture = Fixture::new();
    let one = fixture.host("one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    one.write("b.txt", "new\n");
    let run = RunId::new("shop");
    {
        let _outage = fixture.make_unreachable();

        let published = one.synced_project().publish(Epoch(1), None).await;
        let attached = one.attach(2, Epoch(1)).await;
        let claimed = one.host.claim(&run).await;
        let seen = one.host.ledger_view(&run).await;

        let error = published.expect_err("it is away");
        assert!(matches!(error, SyncError::Unreachable { .. }), "{error:?}");
        for result in [attached.map(drop), claimed.map(drop)] {
            let Err(SessionHostError::Failed { failure, .. }) = result else {
                panic!("{result:?}");
            };
            assert_eq!(
                (failure.code.as_str(), failure.retry),
                ("remote_away", Retry::Retryable)
            );
        }
        // As far as it knows, no other host has taken over.
        assert!(seen.is_ok(), "{seen:?}");
        assert_eq!(one.read("b.txt"), "new\n");
    }

    one.attach(2, Epoch(1)).await.expect("it runs");

    assert_eq!(fixture.published("b.txt"), "new");
    assert_eq!(one.played.received().len(), 2);
}

#[tokio::test]
async fn a_new_host_cannot_report_the_ledger_without_the_remote() {
    let fixture = Fixture::new();
    let one = fixture.host("one");
    let _outage = fixture.make_unreachable();

    let seen = one.host.ledger_view(&RunId::new("shop")).await;

    assert_eq!(seen.expect_err("nobody knows").code, "remote_away");
}

#[tokio::test]
async fn a_remote_without_the_base_is_named() {
    let fixture = Fixture::new();
    let remote = SyncRemote::new(fixture.remote().to_str().expect("plain")).expect("a path");
    let run = RunId::new("shop");
    let opened = SyncedProject::open(&fixture.path("one"), remote, "nowhere", &run, commands());

    let arrived = opened.expect("it can be opened").checkout().await;

    let error = arrived.expect_err("there is nothing to begin at");
    assert!(
        matches!(&error, SyncError::NoBase { base, .. } if base == "nowhere"),
        "{error:?}"
    );
    assert_eq!(error.retry(), Retry::Permanent);
}

#[tokio::test]
async fn a_password_reaches_the_remote_and_is_in_no_arguments() {
    let fixture = Fixture::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one");
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("somebody asks");
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            client.read_exact(&mut byte).expect("a request");
            request.extend(byte);
        }
        let arguments = arguments_of_all();
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        client.write_all(answer).expect("it listens");
        (String::from_utf8_lossy(&request).into_owned(), arguments)
    });
    let remote = SyncRemote::new(format!("http://ada:hunter2%40secret@{address}/shop.git"));
    let run = RunId::new("shop");
    let home = fixture.path("one");
    let remote = remote.expect("an address");
    let one = SyncedProject::open(&home, remote, "main", &run, commands());

    let arrived = one.expect("it can be opened").checkout().await;

    arrived.expect_err("there is no repository");
    let (request, arguments) = server.join().expect("it was asked");
    assert!(
        request.contains("Authorization: Basic YWRhOmh1bnRlcjJAc2VjcmV0"),
        "{request}"
    );
    assert!(
        arguments.contains(&format!("{address}/shop.git")),
        "{arguments}"
    );
    for password in ["hunter2%40secret", "hunter2@secret"] {
        assert!(!arguments.contains(password), "{arguments}");
    }
}

/// Returns the arguments of all processes on this machine.
fn arguments_of_all() -> String {
    let processes = fs::read_dir("/proc")
        .expect("a system with processes")
        .flatten();
    let arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let arguments = arguments.map(|one| String::from_utf8_lossy(&one).replace('\0', " "));
    arguments.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_password_is_in_no_error_no_file_and_no_name() {
    let fixture = Fixture::new();
    // Nothing listens on this port.
    let remote = SyncRemote::new("http://ada:hunter2-secret@127.0.0.1:9/shop.git");
    let remote = remote.expect("an address");
    let run = RunId::new("shop");
    let opened = SyncedProject::open(&fixture.path("one"), remote, "main", &run, commands());
    let one = Host::on(opened.expect("it can be opened"));

    let error = one
        .synced_project()
        .checkout()
        .await
        .expect_err("nobody is there");
    let claimed = one.host.claim(&run).await;
    let attached = one.attach(1, Epoch(1)).await;

    let texts = format!("{error} {error:?} {claimed:?} {attached:?} {:?}", one.host);
    assert!(texts.contains("127.0.0.1:9/shop.git"), "{texts}");
    assert!(!texts.contains("hunter2"), "{texts}");
    let files = std::process::Command::new("grep")
        .args(["--recursive", "--files-with-matches", "hunter2"])
        .arg(fixture.path("one"))
        .output()
        .expect("grep");
    assert_eq!(String::from_utf8_lossy(&files.stdout), "");
}
