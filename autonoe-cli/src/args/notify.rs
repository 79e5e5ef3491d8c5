//! Options for notifications.

use autonoe_app::NotifyOptions;
use clap::Args;

/// Options for notifications, which runs, flows and fleets share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Notifications")]
pub(crate) struct NotifyArgs {
    /// Send notifications to this webhook
    #[arg(long, value_name = "URL")]
    notify: Option<String>,
    /// The key that signs the notifications. For NAME `ops-hook`, set AUTONOE_SIGNING_KEY_OPS_HOOK
    #[arg(long, value_name = "NAME", requires = "notify")]
    notify_key: Option<String>,
    /// Run this command line with `/bin/sh` for each notification, in your home directory and
    /// without a sandbox; AUTONOE_ALERT contains the notification as JSON
    #[arg(long, value_name = "CMD")]
    notify_command: Option<String>,
    /// Show desktop notifications
    #[arg(long)]
    notify_desktop: bool,
}

impl NotifyArgs {
    pub(crate) fn options(&self) -> NotifyOptions {
        NotifyOptions {
            url: self.notify.clone(),
            key: self.notify_key.clone(),
            command: self.notify_command.clone(),
            desktop: self.notify_desktop,
        }
    }
}
