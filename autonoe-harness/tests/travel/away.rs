//! A remote that is away, and one that says no.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use autonoe_core::{Epoch, Retry, RunId, SessionHost, SessionHostError};
use autonoe_harness::{TravelError, TravelRemote, TravellingProject};

use crate::travel::setting::{Host, Stage, commands, recorded};

#[tokio::test]
async fn what_could_not_be_published_is_published_by_the_next_try_and_nothing_runs_again() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let before = stage.names();
    {
        let refuse = refuse_all(&stage);
        let attached = one.attach(2, Epoch(1)).await;
        let Err(SessionHostError::Failed { failure, .. }) = attached else {
            panic!("{attached:?}");
        };
        assert_eq!(failure.code, "remote_refused");
        fs::remove_file(refuse).expect("it is there");
    }
    assert_eq!(stage.names(), before);
    assert_eq!(recorded(&one), [1, 2]);

    let again = one.attach(2, Epoch(1)).await.expect("it is recorded");

    assert!(again.result.end.is_completed());
    assert_eq!(one.played.received().len(), 2);
    let epoch = two.claim().await;
    two.attach(2, epoch).await.expect("it is recorded");
    assert!(two.played.received().is_empty());
    assert_eq!(recorded(&two), [1, 2]);
}

/// Has the remote refuse each push, and returns the file that does it.
fn refuse_all(stage: &Stage) -> std::path::PathBuf {
    let hook = stage.remote().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().expect("it has one")).expect("a folder");
    fs::write(&hook, "#!/bin/sh\necho 'not today' >&2\nexit 1\n").expect("a file");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("ours");
    hook
}

#[tokio::test]
async fn a_remote_that_is_away_can_be_tried_again_and_loses_nothing() {
    let stage = Stage::new();
    let one = stage.host("one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    one.write("b.txt", "new\n");
    let run = RunId::new("shop");
    {
        let _away = stage.away();

        let published = one.travels().publish(Epoch(1), None).await;
        let attached = one.attach(2, Epoch(1)).await;
        let claimed = one.host.claim(&run).await;
        let seen = one.host.look(&run).await;

        let error = published.expect_err("it is away");
        assert!(matches!(error, TravelError::Away { .. }), "{error:?}");
        for result in [attached.map(drop), claimed.map(drop)] {
            let Err(SessionHostError::Failed { failure, .. }) = result else {
                panic!("{result:?}");
            };
            assert_eq!(
                (failure.code.as_str(), failure.retry),
                ("remote_away", Retry::MayHelp)
            );
        }
        // Nobody else has taken over, as far as it knows.
        assert!(seen.is_ok(), "{seen:?}");
        assert_eq!(one.read("b.txt"), "new\n");
    }

    one.attach(2, Epoch(1)).await.expect("it runs");

    assert_eq!(stage.published("b.txt"), "new");
    assert_eq!(one.played.received().len(), 2);
}

#[tokio::test]
async fn a_host_that_never_was_there_does_not_say_what_it_does_not_know() {
    let stage = Stage::new();
    let one = stage.host("one");
    let _away = stage.away();

    let seen = one.host.look(&RunId::new("shop")).await;

    assert_eq!(seen.expect_err("nobody knows").code, "remote_away");
}

#[tokio::test]
async fn a_remote_without_the_base_is_named() {
    let stage = Stage::new();
    let remote = TravelRemote::new(stage.remote().to_str().expect("plain")).expect("a path");
    let run = RunId::new("shop");
    let opened = TravellingProject::open(&stage.path("one"), remote, "nowhere", &run, commands());

    let arrived = opened.expect("it can be opened").arrive().await;

    let error = arrived.expect_err("there is nothing to begin at");
    assert!(
        matches!(&error, TravelError::NoBase { base, .. } if base == "nowhere"),
        "{error:?}"
    );
    assert_eq!(error.retry(), Retry::Useless);
}

#[tokio::test]
async fn a_password_is_told_to_the_remote_and_is_in_no_arguments() {
    let stage = Stage::new();
    let door = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = door.local_addr().expect("it has one");
    let asking = std::thread::spawn(move || {
        let (mut who, _) = door.accept().expect("somebody asks");
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            who.read_exact(&mut byte).expect("a request");
            request.extend(byte);
        }
        let arguments = arguments_of_all();
        let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        who.write_all(answer).expect("it listens");
        (String::from_utf8_lossy(&request).into_owned(), arguments)
    });
    let remote = TravelRemote::new(format!("http://ada:hunter2%40secret@{address}/shop.git"));
    let run = RunId::new("shop");
    let home = stage.path("one");
    let remote = remote.expect("an address");
    let one = TravellingProject::open(&home, remote, "main", &run, commands());

    let arrived = one.expect("it can be opened").arrive().await;

    arrived.expect_err("there is no repository");
    let (request, arguments) = asking.join().expect("it was asked");
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

/// Returns the arguments of all processes of this machine.
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
    let stage = Stage::new();
    // Nobody listens there.
    let remote = TravelRemote::new("http://ada:hunter2-secret@127.0.0.1:9/shop.git");
    let remote = remote.expect("an address");
    let run = RunId::new("shop");
    let opened = TravellingProject::open(&stage.path("one"), remote, "main", &run, commands());
    let one = Host::on(opened.expect("it can be opened"));

    let error = one.travels().arrive().await.expect_err("nobody is there");
    let claimed = one.host.claim(&run).await;
    let attached = one.attach(1, Epoch(1)).await;

    let said = format!("{error} {error:?} {claimed:?} {attached:?} {:?}", one.host);
    assert!(said.contains("127.0.0.1:9/shop.git"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    let files = std::process::Command::new("grep")
        .args(["--recursive", "--files-with-matches", "hunter2"])
        .arg(stage.path("one"))
        .output()
        .expect("grep");
    assert_eq!(String::from_utf8_lossy(&files.stdout), "");
}
