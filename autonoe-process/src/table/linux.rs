//! Reads the process list from `/proc`.
//!
//! The crate needs five fields of one file and the environment; the `procfs` crate would add a
//! dozen dependencies for them.

use std::collections::HashSet;
use std::fs;

use super::{Identity, Row};
use crate::Marker;

/// Maximum number of passes that search for processes which were started while the list was read.
const PASSES: usize = 16;

/// Lists all processes, and marks those whose environment has `marker`.
pub(crate) fn read(marker: &Marker) -> Vec<Row> {
    let mut seen = HashSet::new();
    let mut rows = Vec::new();
    // A process that starts its successor and ends could stay ahead of a long list. Later passes
    // read new processes only, so they are fast.
    for _ in 0..PASSES {
        let before = seen.len();
        for pid in pids() {
            if seen.insert(pid) {
                rows.extend(row(pid, marker));
            }
        }
        if seen.len() == before {
            break;
        }
    }
    rows
}

/// Returns whether the process ID of `identity` still refers to the same process.
pub(crate) fn is_same_process(identity: Identity) -> bool {
    stat(identity.pid).is_some_and(|row| row.identity() == identity)
}

/// Returns the session of this process as in the list: 0 for one that was started outside of this
/// PID namespace, which a [`Pid`](rustix::process::Pid) cannot represent.
pub(crate) fn own_session() -> Option<u32> {
    Some(stat(std::process::id())?.session)
}

/// Returns the process `pid`, if it exists, without checking its environment for a marker.
pub(crate) fn read_row(pid: u32) -> Option<Row> {
    stat(pid)
}

/// Returns the children of the process `pid`, which has one thread. Zombies are listed until the
/// process reaps them.
pub(crate) fn children(pid: u32) -> Option<Vec<u32>> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let numbers = list.split_ascii_whitespace().map(str::parse);
    numbers.collect::<Result<_, _>>().ok()
}

/// Returns the boot ID of the system.
pub(crate) fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Returns whether this process was started with `marker`.
pub(crate) fn is_on_current_process(marker: &Marker) -> bool {
    let environ = fs::read("/proc/self/environ");
    environ.is_ok_and(|environ| marker.is_in(&environ))
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn row(pid: u32, marker: &Marker) -> Option<Row> {
    // A process that cannot be inspected, or has ended by now, is not marked.
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mut row = stat(pid)?;
    row.marked = marker.is_in(&environ);
    Some(row)
}

fn stat(pid: u32) -> Option<Row> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses `pid (name) state parent group session ... started ...`.
fn parse(stat: &[u8]) -> Option<Row> {
    // A name may contain any byte, including brackets and line ends, so its end is the last
    // bracket.
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = str::from_utf8(&stat[close + 1..]).ok()?;
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    Some(Row {
        pid,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
        ended: matches!(*fields.first()?, "Z" | "X"),
        name,
        marked: false,
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    fn line(name: &[u8], state: &str) -> Vec<u8> {
        let mut line = b"42 (".to_vec();
        line.extend(name);
        line.extend(format!(") {state} 7 41 40 0 -1 4194304 91 0 0 0 0 0 0 0 20 0 1 0 ").bytes());
        line.extend(b"123456 2600960 198 18446744073709551615");
        line
    }

    #[test]
    fn a_line_of_the_system_is_read() {
        let row = parse(&line(b"bash", "S")).expect("a whole line");

        let expected = Row {
            pid: 42,
            parent: 7,
            group: 41,
            session: 40,
            started: 123_456,
            ended: false,
            name: "bash".into(),
            marked: false,
        };
        assert_eq!(row, expected);
    }

    #[test]
    fn a_zombie_has_ended() {
        assert!(parse(&line(b"bash", "Z")).expect("a whole line").ended);
    }

    #[test]
    fn this_process_is_in_the_process_list() {
        let row = stat(std::process::id()).expect("it lives");

        assert_eq!(row.parent, std::os::unix::process::parent_id());
        assert!(is_same_process(row.identity()));
        let other = Identity {
            started: row.started + 1,
            ..row.identity()
        };
        assert!(!is_same_process(other));
    }

    #[test]
    fn children_are_listed_until_they_are_reaped() {
        let script = "sleep 600 & echo $!; sleep 600 & echo $!; read line; kill $(jobs -p)";
        let mut shell = Command::new("/bin/bash")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash starts");
        let output = BufReader::new(shell.stdout.take().expect("it is piped"));
        let started: Vec<u32> = output
            .lines()
            .take(2)
            .map(|line| line.expect("a line").parse().expect("a number"))
            .collect();

        assert_eq!(children(shell.id()), Some(started));

        drop(shell.stdin.take());
        shell.wait().expect("it ends");
        assert_eq!(children(shell.id()), None);
    }

    proptest! {
        #[test]
        fn no_name_hides_the_numbers(name in prop::collection::vec(any::<u8>(), 0..16)) {
            let row = parse(&line(&name, "S")).expect("a whole line");

            prop_assert_eq!((row.pid, row.parent, row.started), (42, 7, 123_456));
            prop_assert_eq!(row.name, String::from_utf8_lossy(&name));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn a_line_that_was_cut_is_refused_or_read_right(end in 0_usize..100) {
            let whole = line(b"bash", "S");
            let row = parse(&whole[..end.min(whole.len())]);

            prop_assert!(row.is_none_or(|row| row.parent == 7 && row.session == 40));
        }
    }
}
