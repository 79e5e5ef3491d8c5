//! A file that is replaced again and again on a disk that fails and loses power.

use std::io;
use std::path::Path;

use super::disk::Disk;
use super::lying_disk::{Fails, LyingDisk};
use super::{folder_of, replace_on};

const FILE: &str = "folder/file";
const TEMPORARY: &str = "folder/file.tmp";

/// Replaces the file by one with these bytes.
type Writer = fn(&LyingDisk, &[u8]) -> io::Result<()>;

fn durably(disk: &LyingDisk, bytes: &[u8]) -> io::Result<()> {
    replace_on(disk, FILE.as_ref(), TEMPORARY.as_ref(), bytes)
}

/// What must never be.
#[derive(Debug, PartialEq, Eq)]
enum Violation {
    /// The file is neither an old nor a new one.
    NotWhole(Vec<u8>),
    /// An update that was acknowledged is not there.
    Lost(u64),
    /// After an error the file is neither the one before nor the one that was to come.
    OtherAfterError,
    /// Something else than the file is left behind.
    LeftBehind,
}

/// What happened on the way.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: u64,
    errors: u64,
    cuts: u64,
}

/// A file that lists the updates it has seen, and those that were acknowledged.
struct Updates<'a> {
    disk: &'a LyingDisk,
    writer: Writer,
    begun: u64,
    acknowledged: Vec<u64>,
}

impl Updates<'_> {
    /// Returns the updates in the file, having looked that none is missing.
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
        self.begun += 1;
        let mut after = before.clone();
        after.push(self.begun);
        let bytes = serde_json::to_vec(&after).expect("numbers");
        if (self.writer)(self.disk, &bytes).is_ok() {
            self.acknowledged.push(self.begun);
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
    let disk = LyingDisk::new(seed);
    let mut updates = Updates {
        disk: &disk,
        writer,
        begun: 0,
        acknowledged: Vec::new(),
    };
    for _ in 0..3 {
        disk.fails(Fails::OneIn(12));
        disk.cut_power_within(60);
        while disk.has_power() {
            updates.update(tally)?;
        }
        disk.restart();
        tally.cuts += 1;
        updates.present()?;
    }
    disk.fails(Fails::Never);
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

    // Schedules without these would show nothing.
    assert!(tally.acknowledged > 5 * SCHEDULES, "{tally:?}");
    assert!(tally.errors > 5 * SCHEDULES, "{tally:?}");
    assert_eq!(tally.cuts, 3 * SCHEDULES);
}

#[test]
fn an_error_of_any_call_is_told_and_leaves_a_whole_file_and_nothing_else() {
    let table = [
        ("remove what stands there", "old"),
        ("write", "old"),
        ("sync the file", "old"),
        ("rename", "old"),
        // Everybody sees the new file, but a power cut may bring the old one back.
        ("sync the folder", "new"),
    ];
    for (call, (what, expected)) in table.into_iter().enumerate() {
        let disk = LyingDisk::new(1);
        durably(&disk, b"old").expect("no trouble yet");
        disk.fails(Fails::After(call));

        let told = durably(&disk, b"new");

        assert!(told.is_err(), "{what}");
        let found = disk.read(FILE.as_ref()).expect("a file");
        assert_eq!(String::from_utf8_lossy(&found), expected, "{what}");
        assert_eq!(disk.names(), [Path::new(FILE)], "{what}");
        durably(&disk, b"newer").expect("the trouble is over");
        assert_eq!(disk.read(FILE.as_ref()).as_deref(), Some(&b"newer"[..]));
    }
}

/// Plays schedules until one finds out what is wrong with `writer`.
fn found_out(writer: Writer) -> Option<Violation> {
    (0..1000).find_map(|seed| play(seed, writer, &mut Tally::default()).err())
}

#[test]
fn the_disk_finds_out_who_does_not_sync_the_file() {
    let found = found_out(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(matches!(found, Some(Violation::NotWhole(_))), "{found:?}");
}

#[test]
fn the_disk_finds_out_who_does_not_sync_the_folder() {
    let found = found_out(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        let file = disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.sync(&file)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())
    });

    assert!(matches!(found, Some(Violation::Lost(_))), "{found:?}");
}

#[test]
fn the_disk_finds_out_who_renames_before_the_file_is_synced() {
    let found = found_out(|disk, bytes| {
        disk.remove(TEMPORARY.as_ref())?;
        let file = disk.write_new(TEMPORARY.as_ref(), FILE.as_ref(), bytes)?;
        disk.rename(TEMPORARY.as_ref(), FILE.as_ref())?;
        disk.sync(&file)?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(matches!(found, Some(Violation::NotWhole(_))), "{found:?}");
}

#[test]
fn the_disk_finds_out_who_writes_in_place() {
    let found = found_out(|disk, bytes| {
        disk.remove(FILE.as_ref())?;
        let file = disk.write_new(FILE.as_ref(), FILE.as_ref(), bytes)?;
        disk.sync(&file)?;
        disk.sync_folder("folder".as_ref())
    });

    assert!(found.is_some());
}

#[test]
fn a_bare_name_stands_in_the_working_directory() {
    assert_eq!(folder_of(FILE.as_ref()), Path::new("folder"));
    assert_eq!(folder_of("file".as_ref()), Path::new("."));
}
