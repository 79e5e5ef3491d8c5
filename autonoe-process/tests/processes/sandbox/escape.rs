//! Attempts to escape from a sandbox.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpListener;
use std::os::unix::fs::symlink;

use autonoe_process::{Exit, Network};

use super::{outside, run_to_end};
use crate::fixture::{Fixture, eventually, is_alive, kill_at_once, ready, within};

#[tokio::test]
async fn nothing_is_written_outside_of_writable_paths() {
    let (fixture, outside) = (Fixture::new(), outside());
    symlink(outside.path(), fixture.path("link")).expect("writable");
    let target = outside.path().display();
    let script = format!(
        "echo in > own; echo temporary > /tmp/own && cat /tmp/own
         for place in {target}/new link/new ../../var/tmp/new-of-test /etc/new /usr/bin/new /new; do
             (echo out > $place) 2>/dev/null && echo \"wrote $place\"
         done
         mount --bind {target} /tmp 2>/dev/null && echo mounted
         umount /tmp 2>/dev/null && echo unmounted
         exit 7"
    );

    let (text, exit) = run_to_end(fixture.bash(&script).sandbox(fixture.sandbox())).await;

    assert_eq!((text.as_str(), exit), ("temporary\n", Exit::Code(7)));
    assert_eq!(
        fs::read_to_string(fixture.path("own")).expect("there"),
        "in\n"
    );
    assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 0);
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn a_listener_on_this_machine_is_reached_only_with_its_network() {
    for (network, expected) in [(Network::Off, "none\n"), (Network::Shared, "reached\n")] {
        let fixture = Fixture::new();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("ours");
        let port = listener.local_addr().expect("bound").port();
        let script = format!(
            "if (echo hello > /dev/tcp/127.0.0.1/{port}) 2>/dev/null
             then echo reached; else echo none; fi"
        );

        let launch = fixture.bash(&script);
        let (text, _) = run_to_end(launch.sandbox(fixture.sandbox().network(network))).await;

        assert_eq!(text, expected);
        match listener.accept() {
            Ok((mut stream, _)) => {
                assert_eq!(network, Network::Shared, "somebody came through");
                stream.set_nonblocking(false).expect("ours");
                let mut received = String::new();
                stream.read_to_string(&mut received).expect("readable");
                assert_eq!(received, "hello\n");
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                assert_eq!(network, Network::Off);
            }
        }
    }
}

#[tokio::test]
async fn a_foreign_process_is_neither_killed_nor_seen_nor_read() {
    let (victims, fixture) = (Fixture::new(), Fixture::new());
    let launch = victims.bash("echo ready; exec sleep 600");
    let launch = launch.env("API_KEY", "the-key-of-somebody-else");
    let victim = launch.start().await.expect("it starts");
    let _stdout = ready(victim.stdout).await;
    let pid = victim.process.pid();
    eventually("its environment to be the one of the program", || {
        let environ = fs::read_to_string(format!("/proc/{pid}/environ"));
        environ.is_ok_and(|text| text.contains("the-key-of-somebody-else"))
    });
    let script = format!(
        "kill -9 {pid} 2>/dev/null && echo killed
         test -e /proc/{pid} && echo seen
         cat /proc/*/environ | tr '\\0' '\\n' | grep API_KEY
         for entry in /proc/[0-9]*; do echo ${{entry#/proc/}}; done | sort -n | head -2"
    );

    let (text, _) = run_to_end(fixture.bash(&script).sandbox(fixture.sandbox())).await;

    // The first process is bubblewrap, the second one is the program.
    assert_eq!(text, "1\n2\n");
    assert!(is_alive(pid));
    within(victim.process.shutdown(kill_at_once())).await;
    victims.assert_nothing_is_left();
}

#[tokio::test]
async fn the_machine_is_not_changed_through_its_own_files_also_not_by_root() {
    let fixture = Fixture::new();
    let script = "grep CapEff /proc/self/status
                  find /proc/sys /sys -type f -writable 2>/dev/null | head -3
                  find /proc -maxdepth 1 -type f -writable 2>/dev/null
                  find /dev -type b 2>/dev/null
                  test -w /proc/sys/kernel/core_pattern && echo danger
                  exit 0";

    let (text, _) = run_to_end(fixture.bash(script).sandbox(fixture.sandbox())).await;

    assert_eq!(text, "CapEff:\t0000000000000000\n");
}

#[tokio::test]
async fn a_nested_sandbox_cannot_be_created() {
    let fixture = Fixture::new();
    let script = "unshare --version >/dev/null && echo installed
                  unshare --user true 2>/dev/null && echo yes || echo no";

    let (text, _) = run_to_end(fixture.bash(script).sandbox(fixture.sandbox())).await;

    assert_eq!(text, "installed\nno\n");
}

#[tokio::test]
async fn a_read_only_path_in_a_writable_folder_can_neither_change_nor_move() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path(".autonoe")).expect("writable");
    fs::write(fixture.path(".autonoe/status.json"), "{}").expect("writable");
    let script = "exec 2>/dev/null
                  echo bad > .autonoe/status.json && echo written
                  rm -rf .autonoe
                  mv .autonoe other && echo moved
                  ln .autonoe/status.json copy && echo linked
                  cat .autonoe/status.json; echo ok > work";

    let sandbox = fixture.sandbox().read_only(fixture.path(".autonoe"));
    let (text, _) = run_to_end(fixture.bash(script).sandbox(sandbox)).await;

    assert_eq!(text, "{}");
    let status = fs::read_to_string(fixture.path(".autonoe/status.json"));
    assert_eq!(status.expect("there"), "{}");
    assert!(fixture.path("work").exists());
}

#[tokio::test]
async fn temporary_files_in_memory_are_limited() {
    let fixture = Fixture::new();
    let script = "df --output=size -B1 /tmp /dev/shm | tail -n 2
                  echo x 2>/dev/null > /dev/much || echo full
                  echo x > /dev/null && echo fine > /dev/shm/little && cat /dev/shm/little";

    let (text, _) = run_to_end(fixture.bash(script).sandbox(fixture.sandbox())).await;

    let lines: Vec<_> = text.lines().map(str::trim).collect();
    assert_eq!(lines, ["1073741824", "1073741824", "full", "fine"]);
}
