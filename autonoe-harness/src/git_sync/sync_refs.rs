//! Refs of the sync repository, which record each step so that the next process can detect a kill.

/// The current commit of the project: the folder contains it and the work since.
pub(super) const CURRENT: &str = "refs/git-sync/current";

/// The commit that is being checked out. The previous state is kept already.
pub(super) const TARGET: &str = "refs/git-sync/target";

/// The commit that was last about to be pushed. The remote may or may not have it.
pub(super) const PUSHING: &str = "refs/git-sync/pushing";

/// The commit that this host pushed last and that is still the latest known one.
pub(super) const PUBLISHED: &str = "refs/git-sync/published";

/// The last known commit of the run's branch.
pub(super) const TIP: &str = "refs/git-sync/tip";

/// The last known commit of the base.
pub(super) const BASE: &str = "refs/git-sync/base";

/// The commit of the agents' repository.
pub(super) const AGENTS: &str = "refs/git-sync/agents";

/// The refs of a quarantined repository, while it is searched.
pub(super) const QUARANTINE: &str = "refs/git-sync/quarantine/";

/// Kept work that exists nowhere else.
pub(super) const UNPUBLISHED: &str = "refs/git-sync/kept/";
