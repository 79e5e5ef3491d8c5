//! `Fixture`, the machine of a reader of the guide.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use autonoe_testkit::model_server::anthropic::{
    AnthropicServer, ModelScript, ReceivedPrompt, Turn,
};
use serde_json::json;
use tempfile::TempDir;

use crate::browser::programs;
use crate::build::Build;

/// A home, a checkout, the real Claude Code, and a model that does what the guide describes.
pub(crate) struct Fixture {
    folder: TempDir,
    model: AnthropicServer,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let fixture = Self {
            folder,
            model: AnthropicServer::start(ModelScript::from_fn(answer)),
        };
        for name in ["home", "bin", "installed"] {
            fs::create_dir(fixture.path(name)).expect("writable");
        }
        symlink(Build::NEWER.program(), fixture.path("bin/claude")).expect("writable");
        let server = programs::playwright();
        // The package that `npx` would fetch is installed already.
        let npx = format!(
            "#!/bin/sh\nshift\nexec node '{}' \"$@\"\n",
            server.display()
        );
        fs::write(fixture.path("bin/npx"), npx).expect("writable");
        fixture.make_executable("bin/npx");
        // The command is built already. `cargo xtask test-install` runs the real installation. The
        // guide installs from Git after the first release.
        let cargo = format!(
            "#!/bin/sh\n\
             case \"$*\" in\n\
             'install --locked --path autonoe-cli') [ -e autonoe-cli/Cargo.toml ] ;;\n\
             'install --locked --git https://github.com/autonoe/autonoe autonoe-cli') ;;\n\
             *) false ;;\n\
             esac || {{ echo \"unexpected in $PWD: cargo $*\" >&2; exit 2; }}\n\
             exec ln -s '{}' \"$CARGO_INSTALL_ROOT/autonoe\"\n",
            env!("CARGO_BIN_EXE_autonoe")
        );
        fs::write(fixture.path("bin/cargo"), cargo).expect("writable");
        fixture.make_executable("bin/cargo");
        fixture
    }

    fn make_executable(&self, name: &str) {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path(name), mode).expect("ours");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The first working directory of the reader: a checkout.
    pub(crate) fn start(&self) -> PathBuf {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        workspace.expect("it is a member").to_owned()
    }

    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let mut path = vec![self.path("bin"), self.path("installed")];
        path.extend(std::env::split_paths(&own));
        let path = std::env::join_paths(path).expect("plain names");
        vec![
            ("PATH", path),
            ("HOME", self.path("home").into()),
            ("ANTHROPIC_BASE_URL", self.model.url().into()),
            ("ANTHROPIC_API_KEY", "nobody checks it".into()),
            ("CARGO_INSTALL_ROOT", self.path("installed").into()),
        ]
    }
}

/// Returns the answer of the model. The offered tools identify the instruction.
fn answer(request: &ReceivedPrompt) -> Turn {
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
