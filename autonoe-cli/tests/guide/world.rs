//! The machine of somebody who reads the guide.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use autonoe_testkit::model_server::anthropic::{AnthropicServer, MessagesRequest, Script, Turn};
use serde_json::json;
use tempfile::TempDir;

use crate::build::Build;
use crate::playwright;

/// A home, a checkout, the real Claude Code, and a model that does what the guide tells.
pub(crate) struct World {
    folder: TempDir,
    model: AnthropicServer,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let world = Self {
            folder,
            model: AnthropicServer::start(Script::by(answer)),
        };
        for name in ["home", "bin", "cargo"] {
            fs::create_dir(world.path(name)).expect("writable");
        }
        symlink(Build::NEWER.program(), world.path("bin/claude")).expect("writable");
        let server = playwright::script();
        // What `npx` would fetch is there already.
        let npx = format!(
            "#!/bin/sh\nshift\nexec node '{}' \"$@\"\n",
            server.display()
        );
        fs::write(world.path("bin/npx"), npx).expect("writable");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(world.path("bin/npx"), mode).expect("ours");
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the reader is at first: in a checkout.
    pub(crate) fn start(&self) -> PathBuf {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        workspace.expect("it is a member").to_owned()
    }

    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let mut path = vec![self.path("bin"), self.path("cargo/bin")];
        path.extend(std::env::split_paths(&own));
        let path = std::env::join_paths(path).expect("plain names");
        let kept = ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"]
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        let home = std::env::var_os("HOME").unwrap_or_default();
        let of_cargo = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")]
            .map(|(name, folder)| (name, Path::new(&home).join(folder).into()));
        of_cargo
            .into_iter()
            .chain(kept)
            .chain([
                ("PATH", path),
                ("HOME", self.path("home").into()),
                ("ANTHROPIC_BASE_URL", self.model.url().into()),
                ("ANTHROPIC_API_KEY", "nobody checks it".into()),
                // The command of the guide, in less time.
                ("CARGO_INSTALL_ROOT", self.path("cargo").into()),
                ("CARGO_TARGET_DIR", self.start().join("target/guide").into()),
                ("CARGO_PROFILE_RELEASE_LTO", "off".into()),
                ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0".into()),
                ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16".into()),
            ])
            .collect()
    }
}

/// What the model answers: what it is asked to do is seen by the tools that it is offered.
fn answer(request: &MessagesRequest) -> Turn {
    let offers = |tool: &str| request.tool(&format!("mcp__autonoe__{tool}")).is_some();
    let done = request.tool_results().len();
    let id = json!({"deliverableId": "DL-001"});
    match done {
        0 if offers("verify") => Turn::tool("mcp__autonoe__verify", id),
        _ if offers("verify") || offers("deprecate") => Turn::text("It is in line."),
        0 if offers("create") => Turn::tool(
            "mcp__autonoe__create",
            json!({"deliverables": [{
                "id": "DL-001",
                "description": "A script that greets",
                "acceptanceCriteria": ["greet.sh prints hello"],
            }]}),
        ),
        0 if offers("set_status") => Turn::tool(
            "Bash",
            json!({"command": "echo 'echo hello' > greet.sh", "description": "write the script"}),
        ),
        1 if offers("set_status") => Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        _ => Turn::text("It is done."),
    }
}
