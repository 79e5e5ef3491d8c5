//! Conversations of Gemini CLI, which are kept after a session.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_core::project::create_private_folder;

use super::gemini::SETTINGS;

/// The prefix of the name of a conversation. The minute of its start and its ID follow.
const CHAT: &str = "session-";

/// A minute in which no conversation starts.
const LONG_AGO: &str = "2000-01-01T00-00";

/// Returns the folder of Gemini CLI in a directory for conversations.
pub(super) fn conversations_dir(conversations: &Path) -> PathBuf {
    conversations.join("gemini")
}

/// Creates `kept` and links it to the place where the program looks for conversations in `home`.
pub(super) fn link(home: &Path, kept: &Path) -> io::Result<()> {
    // Each folder is created separately: a symlink at any of them is refused.
    if let Some(conversations) = kept.parent() {
        create_private_folder(conversations)?;
    }
    create_private_folder(kept)?;
    fs::create_dir_all(home.join(SETTINGS))?;
    symlink(kept, home.join(SETTINGS).join("tmp"))
}

/// Renames the conversations in `kept` as if they had started long ago.
///
/// The program overwrites a conversation that is resumed in the minute in which it started: it
/// starts another file of the same ID, and then appends to the file that it resumes. This function
/// deletes that other file. The agent can write to this folder, so symlinks are not followed.
pub(super) fn backdate(kept: &Path) {
    for project in entries(kept) {
        let chats = project.join("chats");
        if !is_folder(&project) || !is_folder(&chats) {
            continue;
        }
        for chat in entries(&chats) {
            let name = chat.file_name().unwrap_or_default().to_string_lossy();
            let is_file = fs::symlink_metadata(&chat).is_ok_and(|found| found.is_file());
            let Some(older) = older(&name).filter(|_| is_file) else {
                continue;
            };
            let older = chat.with_file_name(older);
            let done = match fs::symlink_metadata(&older) {
                Ok(_) => fs::remove_file(&chat),
                Err(_) => fs::rename(&chat, older),
            };
            if let Err(error) = done {
                tracing::warn!(%error, path = %chat.display(), "a conversation keeps its minute");
            }
        }
    }
}

/// Returns the entries of a folder; none if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns the name of a conversation with the minute [`LONG_AGO`] instead of its own.
fn older(name: &str) -> Option<String> {
    let rest = name.strip_prefix(CHAT)?;
    let (minute, id) = (rest.get(..LONG_AGO.len())?, rest.get(LONG_AGO.len()..)?);
    (minute != LONG_AGO && id.starts_with('-')).then(|| format!("{CHAT}{LONG_AGO}{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symlink_in_the_place_of_a_folder_is_refused() {
        for name in ["flow", "flow/gemini"] {
            let dir = tempfile::tempdir().expect("a directory");
            let (home, elsewhere) = (dir.path().join("home"), dir.path().join("elsewhere"));
            fs::create_dir(&elsewhere).expect("made");
            let link_path = dir.path().join(name);
            fs::create_dir_all(link_path.parent().expect("a folder")).expect("made");
            symlink(&elsewhere, &link_path).expect("linked");

            let linked = link(&home, &conversations_dir(&dir.path().join("flow")));

            assert!(linked.is_err(), "{name}");
            assert_eq!(
                fs::read_dir(&elsewhere).expect("readable").count(),
                0,
                "{name}"
            );
        }
    }

    #[test]
    fn only_conversations_are_renamed() {
        for (name, expected) in [
            (
                "session-2026-11-18T02-05-1f3a9c2e.json",
                Some("session-2000-01-01T00-00-1f3a9c2e.json"),
            ),
            ("session-2000-01-01T00-00-1f3a9c2e.json", None),
            ("session-short.json", None),
            ("notes-2026-11-18T02-05-1f3a9c2e.json", None),
        ] {
            assert_eq!(older(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn conversations_behind_symlinks_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let (kept, elsewhere) = (dir.path().join("kept"), dir.path().join("elsewhere"));
        let name = "session-2026-11-18T02-05-1f3a9c2e.json";
        fs::create_dir_all(elsewhere.join("chats")).expect("made");
        fs::create_dir_all(kept.join("a/chats")).expect("made");
        fs::create_dir(kept.join("c")).expect("made");
        for folder in [kept.join("a"), elsewhere.clone()] {
            fs::write(folder.join("chats").join(name), "{}").expect("written");
        }
        symlink(&elsewhere, kept.join("b")).expect("linked");
        symlink(elsewhere.join("chats"), kept.join("c/chats")).expect("linked");

        backdate(&kept);

        assert!(elsewhere.join("chats").join(name).exists());
        assert!(!kept.join("a/chats").join(name).exists());
    }

    #[test]
    fn a_conversation_that_was_resumed_stays_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let chats = dir.path().join("a/chats");
        fs::create_dir_all(&chats).expect("made");
        let whole = chats.join("session-2000-01-01T00-00-1f3a9c2e.jsonl");
        fs::write(&whole, "all of it").expect("written");
        let begun = chats.join("session-2026-11-18T02-05-1f3a9c2e.jsonl");
        fs::write(&begun, "its first line").expect("written");
        let folder = chats.join("session-2026-11-18T02-05-00000000.jsonl");
        fs::create_dir(&folder).expect("made");

        backdate(dir.path());

        assert_eq!(fs::read(&whole).expect("it is there"), b"all of it");
        assert!(!begun.exists());
        assert!(folder.exists());
    }
}
