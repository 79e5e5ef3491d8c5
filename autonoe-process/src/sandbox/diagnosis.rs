//! [`Obstacle`], the diagnosis of a sandbox that bubblewrap cannot create.

/// The reason why a sandbox cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel does not allow this user to create namespaces.
    NamespacesForbidden,
    /// The limit of namespaces is reached.
    NamespacesUsedUp,
    /// AppArmor does not allow this program to use its namespace.
    AppArmor,
    /// A container around this program denies the permissions that a sandbox needs.
    Container,
    /// This bubblewrap is too old to forbid further sandboxes inside.
    TooOld,
    /// It did not answer in time.
    Hangs,
    /// Something else.
    Other,
}

/// Settings of the system for user namespaces, where it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// `kernel.unprivileged_userns_clone`
    pub(super) clone: Option<u64>,
    /// `user.max_user_namespaces`
    pub(super) max_namespaces: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`
    pub(super) apparmor: Option<u64>,
}

impl Obstacle {
    /// Determines the obstacle from the output of bubblewrap and the settings of the system.
    ///
    /// The messages are those of bubblewrap 0.4 to 0.11.
    pub(super) fn find(output: &str, settings: Settings) -> Self {
        let mentions = |text: &str| output.contains(text);
        let about_namespaces = mentions("reating new namespace")
            || mentions("o create a new namespace")
            || mentions("o creating new namespace")
            || mentions("o create new namespace")
            || mentions("user namespaces")
            || mentions("uid map");
        if mentions("nknown option") {
            Self::TooOld
        } else if mentions("ENOSPC")
            || mentions("No space left")
            || settings.max_namespaces == Some(0)
        {
            Self::NamespacesUsedUp
        } else if about_namespaces && settings.clone == Some(0) {
            Self::NamespacesForbidden
        } else if settings.apparmor == Some(1) && (about_namespaces || mentions("RTM_NEWADDR")) {
            Self::AppArmor
        } else if about_namespaces {
            Self::NamespacesForbidden
        } else if mentions("mount proc")
            || mentions("RTM_NEWADDR")
            || mentions("/ slave")
            || mentions("max_user_namespaces")
            || mentions("pivot_root")
        {
            Self::Container
        } else {
            Self::Other
        }
    }

    /// Returns the remedy for the operator.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::NamespacesForbidden => {
                "let users create namespaces (sysctl kernel.unprivileged_userns_clone=1); in a \
                 container, you can switch this sandbox off and rely on the container"
            }
            Self::NamespacesUsedUp => {
                "allow more namespaces (sysctl user.max_user_namespaces=10000); inside a \
                 sandbox that forbids them, this one cannot run"
            }
            Self::AppArmor => {
                "give bwrap a profile with `userns,` (Ubuntu: package apparmor-profiles, \
                 bwrap-userns-restrict), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"
            }
            Self::Container => {
                "start the container with the rights to mount (Docker: --security-opt \
                 seccomp=unconfined --security-opt systempaths=unconfined), or switch this \
                 sandbox off and rely on the container"
            }
            Self::TooOld => "install bubblewrap 0.8 or later",
            Self::Hangs | Self::Other => "read its message",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SILENT: Settings = Settings {
        clone: None,
        max_namespaces: None,
        apparmor: None,
    };

    #[test]
    fn messages_of_bubblewrap_are_diagnosed() {
        let no_permissions = "bwrap: No permissions to create a new namespace, likely because the \
                              kernel does not allow non-privileged user namespaces.";
        let apparmor = Settings {
            clone: Some(1),
            apparmor: Some(1),
            ..SILENT
        };
        let forbidden = Settings {
            clone: Some(0),
            ..apparmor
        };
        for (said, settings, obstacle) in [
            (no_permissions, SILENT, Obstacle::NamespacesForbidden),
            (no_permissions, forbidden, Obstacle::NamespacesForbidden),
            (no_permissions, apparmor, Obstacle::AppArmor),
            (
                "bwrap: No permissions to creating new namespace, likely because the kernel",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: Creating new namespace failed: Permission denied",
                SILENT,
                Obstacle::NamespacesForbidden,
            ),
            (
                "bwrap: setting up uid map: Permission denied",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                apparmor,
                Obstacle::AppArmor,
            ),
            (
                "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Creating new namespace failed: nesting depth or \
                 /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                SILENT,
                Obstacle::NamespacesUsedUp,
            ),
            (
                no_permissions,
                Settings {
                    max_namespaces: Some(0),
                    ..SILENT
                },
                Obstacle::NamespacesUsedUp,
            ),
            (
                "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Failed to make / slave: Operation not permitted",
                SILENT,
                Obstacle::Container,
            ),
            (
                "bwrap: Unknown option --disable-userns",
                SILENT,
                Obstacle::TooOld,
            ),
            ("bwrap: Can't chdir to /x", SILENT, Obstacle::Other),
            ("", SILENT, Obstacle::Other),
        ] {
            assert_eq!(Obstacle::find(said, settings), obstacle, "{said}");
        }
    }

    #[test]
    fn every_obstacle_has_a_remedy() {
        for obstacle in [
            Obstacle::NamespacesForbidden,
            Obstacle::NamespacesUsedUp,
            Obstacle::AppArmor,
            Obstacle::Container,
            Obstacle::TooOld,
            Obstacle::Hangs,
            Obstacle::Other,
        ] {
            assert!(!obstacle.remedy().is_empty(), "{obstacle:?}");
        }
    }
}
