//! Defects of the run lock, `.autonoe/run.lock`, and of the write lock, `.autonoe/status.lock`.

use autonoe_core::Project;
use autonoe_core::project::RunLock;

use crate::bad_input::attempt::Attempt::{self, CheckWritable, Lock, Run, Save};
use crate::bad_input::case::Case;

pub(crate) fn cases() -> Vec<Case> {
    let files = [
        (".autonoe/run.lock", [Lock, CheckWritable, Run]),
        (".autonoe/status.lock", [Save, CheckWritable, Run]),
    ];
    let held = Case::new("run.lock is held by another run", [Lock, Run], |folder| {
        let project = Project::find(folder.project_dir(), None).expect("it is there");
        let started = "2026-01-31T12:00:00Z".parse().expect("a time");
        let lock = RunLock::acquire(&project, started).expect("the lock is free");
        // Held until the folder is deleted.
        std::mem::forget(lock);
    });
    files
        .into_iter()
        .flat_map(|(file, attempts)| of_file(file, attempts))
        .chain([held])
        .collect()
}

fn of_file(file: &'static str, attempts: [Attempt; 3]) -> Vec<Case> {
    let named = |defect: &str| format!("{} {defect}", file.trim_start_matches(".autonoe/"));
    vec![
        Case::new(named("is a folder"), attempts, move |folder| {
            folder.put_folder(file);
        }),
        Case::new(named("is a pipe"), attempts, move |folder| {
            folder.put_pipe(file);
        }),
        Case::new(
            named("is a symlink to a file of somebody"),
            attempts,
            move |folder| {
                folder.put_symlink(file, "../../foreign");
            },
        ),
        Case::new(
            named("is a symlink that leads nowhere"),
            attempts,
            move |folder| {
                folder.put_symlink(file, "../../gone");
            },
        ),
        Case::new(named("is read-only"), attempts, |_| {})
            .forbidding(move |folder| folder.allow(file, 0o444)),
    ]
}
