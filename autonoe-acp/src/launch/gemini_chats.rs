//! Folder that preserves the conversations of Gemini CLI after a session, so that they can be
//! resumed.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use autonoe_core::project::create_private_folder;
use autonoe_core::time::AgentSessionId;

use super::gemini::SETTINGS;

/// The prefix of the name of a conversation. The minute of its start and its ID follow.
const CHAT: &str = "session-";

/// A minute in which no conversation starts.
const LONG_AGO: &str = "2000-01-01T00-00";

/// The length of the part of an ID that the name of its conversation has.
const SHORT_ID_LEN: usize = 8;

/// Returns the folder of Gemini CLI in a directory for conversations.
pub(super) fn conversations_dir(conversations: &Path) -> PathBuf {
    conversations.join("gemini")
}

/// Returns the folder in which Gemini CLI keeps its conversations in `home`.
pub(super) fn home_dir(home: &Path) -> PathBuf {
    home.join(SETTINGS).join("tmp")
}

/// Creates `target` and links it to the place where the program looks for conversations in `home`.
pub(super) fn link(home: &Path, target: &Path) -> io::Result<()> {
    // Each folder is created separately: a symlink at any of them is refused.
    if let Some(conversations) = target.parent() {
        create_private_folder(conversations)?;
    }
    create_private_folder(target)?;
    fs::create_dir_all(home.join(SETTINGS))?;
    symlink(target, home_dir(home))
}

/// Renames the conversation `session` in `chats_dir` as if it had started long ago.
///
/// The program overwrites a conversation that is resumed in the minute in which it started: it
/// starts another file of the same ID, and then appends to the file that it resumes. This function
/// deletes that other file. Other conversations stay, because other sessions may use them. The
/// agent can write to this folder, so symlinks are not followed.
pub(super) fn backdate(chats_dir: &Path, session: &AgentSessionId) {
    if !is_folder(chats_dir) {
        return;
    }
    for project in entries(chats_dir) {
        let chats = project.join("chats");
        if !is_folder(&project) || !is_folder(&chats) {
            continue;
        }
        for chat in entries(&chats) {
            let name = chat.file_name().unwrap_or_default().to_string_lossy();
            let is_file = fs::symlink_metadata(&chat).is_ok_and(|found| found.is_file());
            let Some(older) = older(&name, session).filter(|_| is_file) else {
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

/// Returns the name of the conversation `session` with the minute [`LONG_AGO`] instead of its own.
fn older(name: &str, session: &AgentSessionId) -> Option<String> {
    let rest = name.strip_prefix(CHAT)?;
    let (minute, rest) = (rest.get(..LONG_AGO.len())?, rest.get(LONG_AGO.len()..)?);
    let (id, extension) = rest.strip_prefix('-')?.split_once('.')?;
    let is_session = Some(id) == session.as_str().get(..SHORT_ID_LEN);
    (minute != LONG_AGO && is_session).then(|| format!("{CHAT}{LONG_AGO}-{id}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> AgentSessionId {
        AgentSessionId::new("1f3a9c2e-5d07-4c11-9a52-0c8c1a6d7b3f")
    }

    #[test]
    fn a_symlink_in_the_place_of_a_folder_is_refused() {
        for name in ["flow", "flow/gemini"] {
            let dir = tempfile::tempdir().expect("a directory");
            let (home, outside_dir) = (dir.path().join("home"), dir.path().join("elsewhere"));
            fs::create_dir(&outside_dir).expect("made");
            let link_path = dir.path().join(name);
            fs::create_dir_all(link_path.parent().expect("a folder")).expect("made");
            symlink(&outside_dir, &link_path).expect("linked");

            let linked = link(&home, &conversations_dir(&dir.path().join("flow")));

            assert!(linked.is_err(), "{name}");
            assert_eq!(
                fs::read_dir(&outside_dir).expect("readable").count(),
                0,
                "{name}"
            );
        }
    }

    #[test]
    fn only_the_conversation_of_the_session_is_renamed() {
        for (name, expected) in [
            (
                "session-2026-11-18T02-05-1f3a9c2e.json",
                Some("session-2000-01-01T00-00-1f3a9c2e.json"),
            ),
            ("session-2000-01-01T00-00-1f3a9c2e.json", None),
            ("session-2026-11-18T02-05-7b3f9c2e.json", None),
            ("session-2026-11-18T02-05-1f3a9c2e", None),
            ("session-short.json", None),
            ("notes-2026-11-18T02-05-1f3a9c2e.json", None),
        ] {
            assert_eq!(older(name, &session()).as_deref(), expected, "{name}");
        }
        let short = AgentSessionId::new("1f3a");
        assert_eq!(older("session-2026-11-18T02-05-1f3a.json", &short), None);
    }

    #[test]
    fn conversations_behind_symlinks_stay() {
        let dir = tempfile::tempdir().expect("a directory");
        let (chats_dir, outside_dir) = (dir.path().join("kept"), dir.path().join("elsewhere"));
        let name = "session-2026-11-18T02-05-1f3a9c2e.json";
        fs::create_dir_all(outside_dir.join("chats")).expect("made");
        fs::create_dir_all(chats_dir.join("a/chats")).expect("made");
        fs::create_dir(chats_dir.join("c")).expect("made");
        for folder in [chats_dir.join("a"), outside_dir.clone()] {
            fs::write(folder.join("chats").join(name), "{}").expect("written");
        }
        symlink(&outside_dir, chats_dir.join("b")).expect("linked");
        symlink(outside_dir.join("chats"), chats_dir.join("c/chats")).expect("linked");
        let outside = dir.path().join("outside");
        fs::create_dir_all(outside.join("d/chats")).expect("made");
        fs::write(outside.join("d/chats").join(name), "{}").expect("written");
        let linked = dir.path().join("linked");
        symlink(&outside, &linked).expect("linked");

        backdate(&chats_dir, &session());
        backdate(&linked, &session());

        assert!(outside.join("d/chats").join(name).exists());

        assert!(outside_dir.join("chats").join(name).exists());
        assert!(!chats_dir.join("a/chats").join(name).exists());
    }

    #[test]
    fn a_conversation_that_was_resumed_stays_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let chats = dir.path().join("a/chats");
        fs::create_dir_all(&chats).expect("made");
        let whole = chats.join("session-2000-01-01T00-00-1f3a9c2e.jsonl");
        fs::write(&whole, "all of it").expect("written");
        let resumed_file = chats.join("session-2026-11-18T02-05-1f3a9c2e.jsonl");
        fs::write(&resumed_file, "its first line").expect("written");
        let folder = chats.join("session-2026-11-19T02-05-1f3a9c2e.jsonl");
        fs::create_dir(&folder).expect("made");

        backdate(dir.path(), &session());

        assert_eq!(fs::read(&whole).expect("it is there"), b"all of it");
        assert!(!resumed_file.exists());
        assert!(folder.exists());
    }
}
