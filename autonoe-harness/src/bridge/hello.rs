//! The first line of each side.

use serde::{Deserialize, Serialize};
use tokio::io::AsyncRead;

use super::BridgeError;
use super::lines::Lines;

/// What a program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    pub(super) name: &'static str,
    pub(super) version: u32,
}

/// The first line of each side. What else stands in it is for later versions.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HelloLine {
    hello: Hello,
}

#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    protocol: String,
    version: u32,
}

impl Protocol {
    pub(super) fn hello(self) -> HelloLine {
        HelloLine {
            hello: Hello {
                protocol: self.name.to_owned(),
                version: self.version,
            },
        }
    }

    /// Reads what the other side speaks, which must be the same. `Ok(false)` if it says nothing
    /// and is gone.
    pub(super) async fn greeted<R: AsyncRead + Unpin>(
        self,
        lines: &mut Lines<R>,
    ) -> Result<bool, BridgeError> {
        let Some(HelloLine { hello }) = lines.next().await? else {
            return Ok(false);
        };
        if hello.protocol == self.name && hello.version == self.version {
            return Ok(true);
        }
        let words = |name: &str, version| {
            let name: String = name.chars().flat_map(char::escape_debug).collect();
            format!("version {version} of {name}")
        };
        Err(BridgeError::OtherProtocol {
            theirs: words(&hello.protocol, hello.version),
            ours: words(self.name, self.version),
        })
    }
}
