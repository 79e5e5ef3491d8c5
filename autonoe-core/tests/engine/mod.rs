//! Engines and their job runners.

mod local;
