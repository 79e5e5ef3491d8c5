//! [`Transcript`]s, the recorded conversations.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

/// A recorded conversation.
pub(crate) struct Transcript {
    /// The build and the scenario, for example `2.1.197/a_plain`.
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

/// One step of a conversation.
pub(crate) enum Step {
    /// The host wrote this line.
    Host(String),
    /// The program wrote this line.
    Program(String),
    /// The host did something else.
    Note(String),
    /// The program exited with this code.
    Exit(i32),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

/// Returns all recorded conversations, in the order of their names.
pub(crate) fn all() -> Vec<Transcript> {
    let mut all = Vec::new();
    for build in ["2.1.197", "2.1.325"] {
        let files = std::fs::read_dir(folder().join(build)).expect("there are recordings");
        for file in files {
            let path = file.expect("a file").path();
            let scenario = path.file_stem().expect("a name").to_string_lossy();
            all.push(Transcript {
                name: format!("{build}/{scenario}"),
                steps: read(&path),
            });
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// Returns the lines that the program wrote in all recorded conversations.
pub(crate) fn program_lines() -> Vec<String> {
    let steps = all().into_iter().flat_map(|transcript| transcript.steps);
    steps
        .filter_map(|step| match step {
            Step::Program(line) => Some(line),
            _ => None,
        })
        .collect()
}

fn read(path: &Path) -> Vec<Step> {
    let text = std::fs::read_to_string(path).expect("a recording");
    text.lines()
        .map(|line| step(line).unwrap_or_else(|| panic!("{}: {line}", path.display())))
        .collect()
}

fn step(text: &str) -> Option<Step> {
    #[derive(Deserialize)]
    struct Record {
        dir: String,
        line: Option<Box<RawValue>>,
        code: Option<i32>,
    }
    let Record { dir, line, code } = serde_json::from_str(text).ok()?;
    Some(match dir.as_str() {
        "in" => Step::Host(line?.get().to_owned()),
        "out" => Step::Program(line?.get().to_owned()),
        "note" => Step::Note(serde_json::from_str(line?.get()).ok()?),
        "exit" => Step::Exit(code?),
        _ => return None,
    })
}
