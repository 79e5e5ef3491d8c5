//! Browser view of a run, a fleet, or both: one page, by default on a loopback port.
//!
//! | request | response |
//! | --- | --- |
//! | `GET /` | the page |
//! | `GET /api/dashboard` | the newest [`Dashboard`](crate::Dashboard), as JSON |
//! | `GET /api/run` | the newest [`RunPage`](crate::RunPage), as JSON |
//! | `GET /run.html` | its document |
//! | `GET /api/events` | server-sent events: `snapshot` (fleet) and `run` at first and on change, `alive` as a heartbeat, `end` after the last one |
//! | `POST /api/members/{id}/pause`, `resume`, `stop`, `kill` | sends a [`FleetIntent`](crate::FleetIntent); 202 means accepted, not carried out, and 409 explains why the member cannot do it now |
//! | `POST /api/members/{id}/instruct` | the same, with `{"text": ".."}` for the agent |
//! | `POST /api/run/pause`, `resume`, `stop`, `instruct` | the same for the run, as a [`RunIntent`](crate::RunIntent) |
//!
//! Every request needs the [`ViewToken`]: in the URL of the first visit, which sets a cookie, or in
//! a header `Authorization: Bearer ..`. Without the token, every path returns 401. The cookie is
//! scoped to an unguessable folder (`/v/../api/dashboard` and so on). Servers on other ports of
//! this machine, including those of agents, therefore never receive it. Requests with a host name
//! other than this machine's, and requests from pages of other sites or ports, get 403. A server
//! that is [exposed to the network](Exposure::Network) also accepts IP addresses and the names that
//! the caller lists.

mod auth;
mod connection_pool;
mod handler;
mod origin;
mod response;
mod server;
mod site;
mod stream;
mod token;

pub use connection_pool::ServeLimits;
pub use origin::Exposure;
pub use server::{DashboardServer, ServeError, serve, serve_with_limits};
pub use site::Site;
pub use token::{InvalidToken, ViewToken};
