//! Processes that belong to a folder.

use std::fs;
use std::path::Path;

use crate::waiting::eventually;

/// Waits until no process is related to a folder. A process that has reported its end may still be
/// exiting, so workers must be stopped before.
pub async fn wait_for_no_processes(folder: &Path) {
    eventually("the end of all processes", || {
        processes_in(folder).is_empty()
    })
    .await;
}

/// Returns the processes, except this one, that are related to a folder: by their working
/// directory, arguments or environment.
pub fn processes_in(folder: &Path) -> Vec<String> {
    let place = folder.to_string_lossy();
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let own = std::process::id().to_string();
    let others = processes.filter(|process| process.file_name() != own.as_str());
    let of_folder = others.filter_map(|process| {
        let path = process.path();
        let mut texts: Vec<_> = ["cmdline", "environ"]
            .into_iter()
            .flat_map(|file| fs::read(path.join(file)))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect();
        texts.extend(fs::read_link(path.join("cwd")).map(|cwd| cwd.to_string_lossy().into_owned()));
        let is_there = texts.iter().any(|text| text.contains(&*place));
        is_there.then(|| texts.first().cloned().unwrap_or_default())
    });
    of_folder.collect()
}
