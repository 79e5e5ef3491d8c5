//! What the courier remembers, so that a kill at any step is found out by the next who comes.

/// The commit that the project stands on: what is in the folder is that and what was done since.
pub(super) const HERE: &str = "refs/travel/here";

/// The commit that the project is being brought to. What was there before is kept already.
pub(super) const GOING: &str = "refs/travel/going";

/// The commit that was about to be pushed last. The remote may have it or not.
pub(super) const SENT: &str = "refs/travel/sent";

/// The commit that was pushed last by this host and is still the last of which it knows.
pub(super) const OURS: &str = "refs/travel/ours";

/// The end of the branch of the run, as it was seen last.
pub(super) const TIP: &str = "refs/travel/tip";

/// The end of the base, as it was seen last.
pub(super) const BASE: &str = "refs/travel/base";

/// The commit that agents are at.
pub(super) const AGENTS: &str = "refs/travel/agents";

/// What a repository that was put aside has, while it is looked through.
pub(super) const ASIDE: &str = "refs/travel/aside/";

/// Work that is nowhere else.
pub(super) const KEPT: &str = "refs/travel/kept/";
