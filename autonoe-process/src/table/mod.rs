//! List of all processes of the system, and selection of the processes of a child.

#[cfg(target_os = "linux")]
mod linux;

use std::collections::HashSet;

use crate::shutdown_policy::ProcessInfo;

#[cfg(target_os = "linux")]
pub(crate) use linux::{
    boot_id, children, is_on_current_process, is_same_process, own_session, read, read_row,
};

/// A process in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// Start time, in ticks since the boot of the system.
    pub(crate) started: u64,
    /// Whether it is a zombie.
    pub(crate) ended: bool,
    pub(crate) name: String,
    /// Whether it has the requested marker.
    pub(crate) marked: bool,
}

/// Distinguishes a process from a later one with the same process ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl Row {
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            pid: self.pid,
            started: self.started,
        }
    }

    pub(crate) fn info(&self) -> ProcessInfo {
        ProcessInfo {
            pid: self.pid,
            parent: self.parent,
            name: self.name.clone(),
        }
    }
}

/// Returns nothing: only Linux exposes the start time of a process in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read_row(_pid: u32) -> Option<Row> {
    None
}

/// Returns nothing: only Linux lists the children of a process in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn children(_pid: u32) -> Option<Vec<u32>> {
    None
}

/// Returns nothing: only Linux has a boot ID.
#[cfg(not(target_os = "linux"))]
pub(crate) fn boot_id() -> Option<String> {
    None
}

/// Returns nothing: only Linux exposes the environment of processes in a file system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read(_marker: &crate::Marker) -> Vec<Row> {
    Vec::new()
}

/// Returns `false`: only Linux exposes the initial environment of a process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_on_current_process(_marker: &crate::Marker) -> bool {
    false
}

/// Processes that are known to be related to a child before the list is read.
#[derive(Debug)]
pub(crate) struct TreeMembers<'a> {
    /// This process, which never belongs to its child.
    pub(crate) host: u32,
    /// The child, as long as its process ID cannot have been reused.
    pub(crate) child: Option<u32>,
    /// The supervisor of the child, which belongs to this process and not to the child.
    pub(crate) supervisor: Option<u32>,
    /// Processes that belonged to the child before.
    pub(crate) known: &'a HashSet<Identity>,
}

/// Selects the processes of the child: the child, the orphans that its supervisor adopted,
/// processes with its marker or in its group or session, processes known before, and all
/// descendants of these.
///
/// Processes that have ended are excluded.
pub(crate) fn members(table: &[Row], tree: &TreeMembers<'_>) -> Vec<Row> {
    let of_child = |number| tree.child == Some(number);
    let is_member = |row: &Row| {
        row.marked
            || of_child(row.pid)
            || of_child(row.group)
            || of_child(row.session)
            || tree.supervisor == Some(row.parent)
            || tree.known.contains(&row.identity())
    };
    let first = table.iter().filter(|row| is_member(row)).map(|row| row.pid);
    let outside = [Some(tree.host), tree.supervisor];
    with_descendants(table, first.collect(), &outside)
}

/// Returns the program that the child `bubblewrap` runs in a sandbox.
///
/// The only child of bubblewrap is the first process of the sandbox, and the oldest child of that
/// is the program. Its other children are orphans of the program.
pub(crate) fn program_in_sandbox(table: &[Row], bubblewrap: u32) -> Option<&Row> {
    let first = table.iter().find(|row| row.parent == bubblewrap)?.pid;
    let inside = table.iter().filter(|row| row.parent == first && !row.ended);
    inside.min_by_key(|row| (row.started, row.pid))
}

fn with_descendants(table: &[Row], mut pids: HashSet<u32>, outside: &[Option<u32>]) -> Vec<Row> {
    // The first process of the system adopts all orphans, and the host has other children.
    let is_inside = |pid: u32| pid > 1 && !outside.contains(&Some(pid));
    let may_belong = |row: &&Row| is_inside(row.pid);
    pids.retain(|pid| is_inside(*pid));
    loop {
        let before = pids.len();
        let children = table.iter().filter(|row| pids.contains(&row.parent));
        let children: Vec<_> = children.filter(may_belong).map(|row| row.pid).collect();
        pids.extend(children);
        if pids.len() == before {
            break;
        }
    }
    let belongs = |row: &&Row| pids.contains(&row.pid) && !row.ended;
    table.iter().filter(belongs).cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOST: u32 = 10;

    const CHILD: u32 = 20;

    /// Creates a process with a group and a session of its own.
    fn row(pid: u32, parent: u32) -> Row {
        Row {
            pid,
            parent,
            group: pid,
            session: pid,
            started: u64::from(pid) * 100,
            ended: false,
            name: format!("p{pid}"),
            marked: false,
        }
    }

    fn marked(pid: u32, parent: u32) -> Row {
        Row {
            marked: true,
            ..row(pid, parent)
        }
    }

    fn pids_of(table: &[Row], child: Option<u32>, known: &[Identity]) -> Vec<u32> {
        pids_below(None, table, child, known)
    }

    fn pids_below(
        supervisor: Option<u32>,
        table: &[Row],
        child: Option<u32>,
        known: &[Identity],
    ) -> Vec<u32> {
        let known = known.iter().copied().collect();
        let tree = TreeMembers {
            host: HOST,
            child,
            supervisor,
            known: &known,
        };
        let found = members(table, &tree);
        found.iter().map(|row| row.pid).collect()
    }

    fn pids(table: &[Row]) -> Vec<u32> {
        pids_of(table, Some(CHILD), &[])
    }

    #[test]
    fn descendants_belong_and_others_do_not() {
        let table = [
            row(1, 0),
            row(HOST, 1),
            row(CHILD, HOST),
            row(21, CHILD),
            row(22, 21),
        ];
        let others = [row(30, HOST), row(31, 1), row(32, 31)];

        assert_eq!(pids(&[&table[..], &others].concat()), [CHILD, 21, 22]);
    }

    #[test]
    fn an_orphan_belongs_by_marker_group_or_session() {
        let of_group = Row {
            group: CHILD,
            ..row(32, 1)
        };
        let of_session = Row {
            session: CHILD,
            ..row(33, 1)
        };

        let table = [
            row(CHILD, HOST),
            marked(31, 1),
            of_group,
            of_session,
            row(34, 1),
        ];

        assert_eq!(pids(&table), [CHILD, 31, 32, 33]);
    }

    #[test]
    fn orphans_that_the_supervisor_adopted_belong_and_the_supervisor_does_not() {
        // The supervisor may have the marker: its environment is that of the host.
        let table = [
            row(HOST, 1),
            marked(19, HOST),
            row(CHILD, 19),
            row(31, 19),
            row(32, 31),
            row(33, HOST),
        ];

        let found = |child| pids_below(Some(19), &table, child, &[]);

        assert_eq!(found(Some(CHILD)), [CHILD, 31, 32]);
        assert_eq!(found(None), [CHILD, 31, 32]);
    }

    #[test]
    fn children_of_a_marked_orphan_belong_without_the_marker() {
        assert_eq!(pids(&[row(41, 40), marked(40, 1)]), [41, 40]);
    }

    #[test]
    fn an_orphan_that_was_known_belongs_and_a_later_one_with_its_number_does_not() {
        let known = row(31, 21).identity();
        let later = Row {
            started: 999_999,
            ..row(31, 1)
        };

        assert_eq!(pids_of(&[row(31, 1)], Some(CHILD), &[known]), [31]);
        assert_eq!(pids_of(&[later], Some(CHILD), &[known]), Vec::<u32>::new());
    }

    #[test]
    fn a_number_that_is_not_certain_to_be_the_childs_is_not_used() {
        let of_session = Row {
            session: CHILD,
            ..row(33, 1)
        };

        let found = pids_of(&[row(CHILD, 1), of_session, marked(34, 1)], None, &[]);

        assert_eq!(found, [34]);
    }

    #[test]
    fn the_host_does_not_belong_even_with_the_marker_nor_do_its_other_children() {
        let table = [marked(HOST, CHILD), row(CHILD, HOST), row(30, HOST)];

        assert_eq!(pids(&table), [CHILD]);
    }

    #[test]
    fn ended_processes_are_excluded() {
        let ended = Row {
            ended: true,
            ..row(21, CHILD)
        };

        assert_eq!(pids(&[row(CHILD, HOST), ended]), [CHILD]);
    }

    #[test]
    fn the_program_in_a_sandbox_is_the_oldest_child_of_its_first_process() {
        let early = |row: Row| Row { started: 1, ..row };
        let table = [
            row(CHILD, HOST),
            row(21, CHILD),
            row(25, 21),
            early(row(30, 21)),
            row(31, 30),
            early(row(40, HOST)),
        ];

        let pid = |table: &[Row]| program_in_sandbox(table, CHILD).map(|row| row.pid);

        assert_eq!(pid(&table), Some(30));
        assert_eq!(pid(&table[..2]), None);
        assert_eq!(pid(&table[..1]), None);
    }

    proptest! {
        // The list is read while processes start and end, so parents may be missing or form a
        // cycle.
        #[test]
        fn any_list_is_closed_and_spares_host_and_first_process(
            parents in prop::collection::vec((0_u32..40, any::<bool>()), 0..40),
        ) {
            let table: Vec<_> = (1..)
                .zip(&parents)
                .map(|(pid, (parent, marked))| Row { marked: *marked, ..row(pid, *parent) })
                .collect();

            let found = pids(&table);

            prop_assert!(!found.contains(&HOST) && !found.contains(&1));
            for row in &table {
                let expected = row.marked || row.pid == CHILD || found.contains(&row.parent);
                let spared = row.pid == HOST || row.pid == 1;
                prop_assert_eq!(found.contains(&row.pid), expected && !spared, "{:?}", row);
            }
        }
    }
}
