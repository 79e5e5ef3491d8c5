//! The view in a browser: one page on a port of this machine.
//!
//! | address | what it is |
//! | --- | --- |
//! | `GET /` | the page |
//! | `GET /api/dashboard` | the newest [`Dashboard`](crate::Dashboard), as JSON |
//! | `GET /api/events` | server-sent events: `snapshot` at first and on change, `alive` now and then, `end` when no more come |
//! | `POST /api/members/{id}/pause`, `resume`, `stop`, `kill` | hands a [`FleetIntent`](crate::FleetIntent) over; 202 says that it was taken, not that it was done, and 409 why that member cannot be asked for it now |
//! | `POST /api/members/{id}/instruct` | the same, with `{"text": ".."}` for the agent |
//!
//! Everything needs the [`ViewToken`]: in the address of the first visit, which leaves a cookie, or in
//! a header `Authorization: Bearer ..`. Without it the answer is 401, whatever was asked for. The cookie
//! is for a folder that nobody can guess (`/v/../api/dashboard` and so on), so that servers on other
//! ports of this machine, those of the agents among them, never get to see it. Requests
//! to another name than this machine's, and by pages of other sites or ports, get 403.

mod connection_pool;
mod door;
mod exchange;
mod folder;
mod response;
mod server;
mod site;
mod stream;
mod token;

pub use connection_pool::ServeLimits;
pub use server::{DashboardServer, ServeError, serve, serve_within};
pub use token::{InvalidToken, ViewToken};
