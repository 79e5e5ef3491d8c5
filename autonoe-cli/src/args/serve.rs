//! Options of `autonoe serve`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::ProjectArgs;

/// Options of `autonoe serve`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    /// The port; 0 chooses a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// The fleet [default: the running one, else the last]
    #[arg(long, short = 'f', value_name = "FLEET")]
    pub(crate) fleet: Option<String>,
    /// The address to listen on. The connection is not encrypted: beyond this machine, anyone with
    /// access to the network can read the token and control the run
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) listen: IpAddr,
    /// A host name under which browsers may open the page, besides IP addresses; repeatable
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
}
