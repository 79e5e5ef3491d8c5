//! Writers that are killed in the middle of a write: the file is always whole, and no acknowledged
//! update is lost.

use std::time::Duration;

use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::{DeliverableRepository, Project};

use crate::project::invariants::assert_nothing_is_lost;
use crate::project::rounds;
use crate::project::writer::{
    APPENDS_TO_A_SHARED_LOG, CREATES_DELIVERABLES, Writer, assert_no_shared_entry_is_lost,
    wait_for_updates,
};

/// The writers of one folder, and their acknowledged updates.
struct Generation {
    project: Project,
    writers: Vec<Writer>,
    started: usize,
    acknowledged: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Generation {
    fn start(writers: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(folder.path(), None).expect("it is there");
        let mut generation = Self {
            project,
            writers: Vec::new(),
            started: 0,
            acknowledged: Vec::new(),
            _folder: folder,
        };
        for _ in 0..writers {
            let writer = generation.new_writer();
            generation.writers.push(writer);
        }
        generation
    }

    fn new_writer(&mut self) -> Writer {
        self.started += 1;
        let name = format!("W{}", self.started);
        Writer::start(CREATES_DELIVERABLES, &self.project, &name)
    }

    fn replace(&mut self, index: usize) {
        let writer = self.new_writer();
        let killed = std::mem::replace(&mut self.writers[index], writer);
        self.acknowledged.extend(killed.kill());
    }

    /// Kills all writers. Fails if an acknowledged update is missing or anything was left behind.
    async fn end(mut self) -> usize {
        for writer in std::mem::take(&mut self.writers) {
            self.acknowledged.extend(writer.kill());
        }
        let files = [".gitignore", "status.json", "status.lock"];
        assert_nothing_is_lost(&self.project, &self.acknowledged, &files).await;
        self.acknowledged.len()
    }
}

// Shows: interfaces/tools/file-deliverable-repository
#[tokio::test]
async fn eight_writers_that_are_killed_at_random_lose_nothing() {
    const WRITERS: usize = 8;
    const ROUNDS_PER_FOLDER: usize = 100;
    let rounds = rounds().unwrap_or(50);
    let (mut done, mut updates) = (0, 0);

    while done < rounds {
        let mut generation = Generation::start(WRITERS);
        let repository = FileDeliverableRepository::open(&generation.project).expect("writable");
        for round in done..rounds.min(done + ROUNDS_PER_FOLDER) {
            wait_for_updates(&generation.writers, 1);
            // At an arbitrary point of their next write, never at the same one.
            let pause = (round * 7919) % 3000;
            std::thread::sleep(Duration::from_micros(pause as u64));
            if round % 10 == 9 {
                (0..WRITERS).for_each(|index| generation.replace(index));
            } else {
                generation.replace(round * 31 % WRITERS);
            }
            // A reader takes no lock and sees a whole ledger each time.
            repository.load().await.expect("the file is whole");
        }
        done += ROUNDS_PER_FOLDER;
        updates += generation.end().await;
    }

    println!("kills: {rounds} rounds, {updates} updates acknowledged, none lost");
    assert!(
        updates >= rounds,
        "only {updates} updates in {rounds} rounds show nothing"
    );
}

#[test]
fn four_writers_of_one_log_that_are_killed_at_random_lose_nothing() {
    const WRITERS: usize = 4;
    let rounds = rounds().unwrap_or(50);
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(folder.path(), None).expect("it is there");
    let start = |number| Writer::start(APPENDS_TO_A_SHARED_LOG, &project, &format!("W{number}"));
    let mut writers: Vec<_> = (0..WRITERS).map(start).collect();
    let mut acknowledged = Vec::new();

    for round in 0..rounds {
        wait_for_updates(&writers, WRITERS);
        // At an arbitrary point of its next write, never at the same one.
        std::thread::sleep(Duration::from_micros((round * 7919 % 3000) as u64));
        let writer = start(WRITERS + round);
        let killed = std::mem::replace(&mut writers[round % WRITERS], writer);
        acknowledged.extend(killed.kill());
        // A reader takes no lock and sees whole lines each time.
        assert_no_shared_entry_is_lost(&project, &acknowledged);
    }
    for writer in writers {
        acknowledged.extend(writer.kill());
    }

    assert_no_shared_entry_is_lost(&project, &acknowledged);
    assert!(acknowledged.len() >= rounds * WRITERS);
}
