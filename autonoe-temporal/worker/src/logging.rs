//! What the program says of itself, on standard error.

use tracing_subscriber::filter::LevelFilter;

/// Begins to say what happens.
pub(crate) fn start(quiet: bool) {
    let level = match quiet {
        true => LevelFilter::ERROR,
        false => LevelFilter::WARN,
    };
    let lines = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(level)
        .with_writer(std::io::stderr);
    // Only the first one counts, and there is one.
    let _ = lines.try_init();
}
