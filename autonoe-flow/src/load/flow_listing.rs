//! Directory listings: the flows of a project, and possible prompts of a flow.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::loader::AGENT_FILE;
use crate::definition::FlowName;

/// Limits of the number of directory entries and of the depth.
const MOST: usize = 1000;
const DEEPEST: usize = 8;

/// Returns the names of the flows in `dir`, usually `.autonoe/flows`, in order.
///
/// A flow is a folder that contains `agent.json` and has a valid flow name. If `dir` does not
/// exist, there are no flows.
///
/// ```
/// let dir = tempfile::tempdir()?;
/// std::fs::create_dir(dir.path().join("review"))?;
/// std::fs::write(dir.path().join("review/agent.json"), "{}")?;
///
/// assert_eq!(autonoe_flow::load::flows_in(dir.path())?, ["review".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The folder cannot be read.
pub fn flows_in(dir: &Path) -> io::Result<Vec<FlowName>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.parse().ok());
        if let Some(name) = name.filter(|_| entry.path().join(AGENT_FILE).is_file()) {
            names.insert(name);
        }
    }
    Ok(names.into_iter().collect())
}

/// The files of a folder that could be prompts.
#[derive(Debug, Default)]
pub(crate) struct PossiblePrompts {
    pub(crate) files: BTreeSet<String>,
    /// The other files.
    pub(crate) others: BTreeSet<String>,
    /// Whether the whole folder was searched.
    pub(crate) is_complete: bool,
}

/// Returns the files below `root` that could be prompts. Unreadable directories are skipped.
pub(crate) fn possible_prompts(root: &Path) -> PossiblePrompts {
    let mut found = PossiblePrompts {
        is_complete: true,
        ..PossiblePrompts::default()
    };
    let mut left = MOST;
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if left == 0 {
                found.is_complete = false;
                return found;
            }
            left -= 1;
            let path = entry.path();
            // Symlinks are not followed: they may leave the folder or form a cycle.
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                if depth < DEEPEST {
                    folders.push((path, depth + 1));
                } else {
                    found.is_complete = false;
                }
            } else {
                let is_prompt = path.extension().is_some_and(|ending| ending == "md");
                let inside = path.strip_prefix(root).ok().and_then(Path::to_str);
                let files = if is_prompt {
                    &mut found.files
                } else {
                    &mut found.others
                };
                files.extend(inside.map(str::to_owned));
            }
        }
    }
    found
}
