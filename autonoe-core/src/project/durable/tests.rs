//! Replaces a file repeatedly on a disk with faults and power cuts.

use std::io;
use std::path::Path;

use super::faulty_disk::{FaultSchedule, FaultyDisk};
use super::{Disk, parent_folder, replace_on};

const FILE: &str = "folder/file";
const TEMPORARY: &str = "folder/file.tmp";

/// Replaces the file by one with these bytes.
type Writer = fn(&FaultyDisk, &[u8]) -> io::Result<()>;

fn durably(disk: &FaultyDisk, bytes: &[u8]) -> io::Result<()> {
    replace_on(disk, FILE.as_ref(), TEMPORARY.as_ref(), bytes)
}

/// A violated guarantee.
#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// The file is neither an old nor a new one.
    NotWhole(Vec<u8>),
    /// An acknowledged update is missing.
    Lost(u64),
    /// After an error the file is neither the previous nor the next one.
    OtherAfterError,
    /// Another file is left behind.
    LeftBehind,
}

/// The number of events of a schedule.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: u64,
    errors: u64,
    cuts: u64,
}

/// A file that lists its updates, and the acknowledged ones.
struct Updates<'a> {
    disk: &'a FaultyDisk,
    writer: Writer,
    started: u64,
    acknowledged: Vec<u64>,
}

impl Updates<'_> {
    /// Returns the updates in the file, after checking that no acknowledged one is missing.
    fn present(&self) -> Result<Vec<u64>, Violation> {
        let bytes = self.disk.read(FILE.as_ref());
        let present: Vec<u64> = match bytes {
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|_| Violation::NotWhole(bytes))?
            }
            None => Vec::new(),
        };
        match self.acknowledged.iter().find(|id| !present.contains(id)) {
            Some(lost) => Err(Violation::Lost(*lost)),
            None => Ok(present),
        }
    }

    /// Adds one more update, which may fail.
    fn update(&mut self, tally: &mut Tally) -> Result<(), Violation> {
        let before = self.present()?;
        self.started += 1;
        let mut after = before.clone();
        after.push(self.started);
        let bytes = serde_json::to_vec(&after).expect("numbers");
        if (self.writer)(self.disk, &bytes).is_ok() {
            self.acknowledged.push(self.started);
            tally.acknowledged += 1;
        } else if self.disk.has_power() {
            tally.errors += 1;
            let found = self.present()?;
            if found != before && found != after {
                return Err(Violation::OtherAfterError);
            }
        }
        Ok(())
    }
}

/// Plays the schedule of `seed`: updates, errors and three power cuts.
fn play(seed: u64, writer: Writer, tally: &mut Tally) -> Result<(), Violation> {
    let disk = FaultyDisk::new(seed);
    let mut updates = Updates {
        disk: &disk,
        writer,
        started: 0,
        acknowledged: Vec::new(),
    };
    for _ in 0..3 {
        disk.set_faults(FaultSchedule::OneIn(12));
        disk.cut_power_within(60);
        while disk.has_power() {
            updates.update(tally)?;
        }
        disk.restart();
        tally.cuts += 1;
        updates.present()?;
    }
    disk.set_faults(FaultSchedule::Never);
    updates.update(tally)?;
    if disk.names() != [Path::new(FILE)] {
        return Err(Violation::LeftBehind);
    }
    Ok(())
}

#[test]
fn no_schedule_of_errors_and_power_cuts_loses_an_acknowledged_update() {
    const SCHEDULES: u64 = 5000;
    let mut tally = Tally::default();

    for seed in 0..SCHEDULES {
        play(seed, durably, &mut tally).unwrap_or_else(|found| panic!("seed {seed}: {found:?}"));
    }

    // Schedules without these events would prove nothing.
    assert!(tally.acknowledged > 5 * SCHEDULES, "{tally:?}");
    assert!(tally.errors > 5 * SCHEDULES, "{tally:?}");
    assert_eq!(tally.cuts, 3 * SCHEDULES);
}

#[test]
fn an_error_of_any_call_is_returned_and_leaves_a_whole_file_and_nothing_else() {
    let table = [
        ("remove what stands there", "old"),
        ("write", "old"),
        ("sync the file", "old"),
        ("rename", "old"),
        // The new file is visible, but a power cut may restore the old one.
        ("sync the folder", "new"),
    ];
    for (call, (case, expected)) in table.into_iter().enumerate() {
        let disk = FaultyDisk::new(1);
        durably(&disk, b"old").expect("no trouble yet");
        disk.set_faults(FaultSchedule::After(call));

        let result = durably(&disk, b"new");

        assert!(result.is_err(), "{case}");
        let found = disk.read(FILE.as_ref()).expect("a file");
        assert_eq!(String::from_utf8_lossy(&found), expected, "{case}");
        assert_eq!(disk.names(), [Path::new(FILE)], "{case}");
        durably(&disk, b"newer").expect("the trouble is over");
        assert_eq!(disk.read(FILE.as_ref()).as_deref(), Some(&b"newer"[..]));
    }
}

/// Plays schedules until one of them reveals the defect of `writer`.
fn reveal_defect(writer: Writer) -> Option<Violation> {
    (0..1000).find_map(|seed| play(seed, writer, &mut Tally::default()).err())
}

#[test]
fn the_disk_reveals_a_writer_that_does_not_sync_the_file() {
    let found = reveal_defect(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(matches!(found, Some(Violation::NotWhole(_))), "{found:?}");
}

#[test]
fn the_disk_reveals_a_writer_that_does_not_sync_the_folder() {
    let found = reveal_defect(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        let file = disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.sync(&file)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())
    });

    assert!(matches!(found, Some(Violation::Lost(_))), "{found:?}");
}

#[test]
fn the_disk_reveals_a_writer_that_renames_before_the_sync() {
    let found = reveal_defect(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        let file = disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())?;
        disk.sync(&file)?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(matches!(found, Some(Violation::NotWhole(_))), "{found:?}");
}

#[test]
fn the_disk_reveals_a_writer_that_writes_in_place() {
    let found = reveal_defect(|disk, bytes| {
        disk.remove(FILE.as_ref())?;
        let file = disk.write_new(FILE.as_ref(), FILE.as_ref(), bytes)?;
        disk.sync(&file)?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(found.is_some());
}

#[test]
fn a_bare_name_is_in_the_working_directory() {
    assert_eq!(parent_folder(FILE.as_ref()), Path::new("folder"));
    assert_eq!(parent_folder("file".as_ref()), Path::new("."));
}
