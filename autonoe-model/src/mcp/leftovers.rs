//! What a host that was killed could not end.

use std::path::Path;
use std::time::Duration;

use autonoe_process::{InvalidMarker, Marker, SessionFolder};

/// The variable that processes of servers are found by.
const MARKER: &str = "AUTONOE_MCP_SERVER";

/// How the names of folders begin.
const FOLDER: &str = "autonoe-mcp-";

/// How long it is tried to end what is left of one server.
const SWEEP: Duration = Duration::from_secs(2);

/// Makes a folder of a session in `temporary`, and the marker by which the processes of a server are found.
///
/// The folder holds nothing. Its name is that of the marker, and it is locked as long as this
/// program lives: who comes next knows by it what was left.
///
/// # Errors
///
/// The folder cannot be made.
pub(super) fn folder_and_marker(temporary: &Path) -> Result<(SessionFolder, Marker), String> {
    let folder = SessionFolder::create_in(temporary, FOLDER)
        .map_err(|error| format!("its folder cannot be made in {temporary:?}: {error}"))?;
    let marker = marker(&folder).map_err(|error| error.to_string())?;
    Ok((folder, marker))
}

fn marker(folder: &SessionFolder) -> Result<Marker, InvalidMarker> {
    let name = folder.path().file_name().unwrap_or_default();
    Marker::new(MARKER, name.to_string_lossy())
}

/// Ends what hosts that were killed left of their servers. If it fails, that is no reason not
/// to go on.
///
/// It blocks the thread, but hardly if there is nothing to do.
pub(super) fn sweep(temporary: &Path) {
    let abandoned = match SessionFolder::abandoned_in(temporary, FOLDER) {
        Ok(abandoned) => abandoned,
        Err(error) => {
            tracing::warn!(%error, "left folders of MCP servers cannot be looked for");
            return;
        }
    };
    for folder in abandoned {
        let Ok(marker) = marker(&folder) else {
            continue;
        };
        let swept = marker.kill_all(SWEEP);
        let (killed, left) = (swept.killed.len(), swept.left.len());
        tracing::info!(
            killed,
            left,
            "what a killed host left of an MCP server was ended"
        );
    }
}
