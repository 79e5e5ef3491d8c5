//! Containers, infrastructure and languages without a profile.

use super::{Group, Reach};

pub(in crate::check::assignments) const GROUPS: &[Group] = &[
    Group {
        reason: "tools of infrastructure read settings from it, connect to it, or run what it names",
        reach: Reach::NamesAnywhere,
        prefixes: "ANSIBLE_ BUF_ BUILDX_ COMPOSE_ DOCKER_ HADOLINT_ HELM_ KUBECTL_ KUSTOMIZE_ PERF_ TFLINT_ \
            TF_ TOFU_ YAMLLINT_",
        names: "KUBERC",
        free: "ANSIBLE_FORCE_COLOR ANSIBLE_NOCOLOR BUILDX_NO_DEFAULT_ATTESTATIONS COMPOSE_ANSI \
            COMPOSE_BAKE COMPOSE_PROGRESS DOCKER_BUILDKIT DOCKER_CLI_HINTS TF_IN_AUTOMATION TF_INPUT TF_LOG",
        ..Group::NONE
    },
    Group {
        reason: "tools of a language read settings from it, or load code that it names",
        reach: Reach::NamesAnywhere,
        prefixes: "CABAL_ CAML COREHOST_ COURSIER_ DAPP_ DART_ DOTNET_ DUNE_ ELIXIR_ ERL_ FLUTTER_ FOUNDRY_ \
            GHC_ HARNESS_ HEX_ JULIA_ LATEXMK LEIN_ LUA_ MIX_ MSBUILD NUGET_ OCAML OPAM PUB_ REBAR_ R_ SBT_ \
            STACK_ SWIFTPM_ SWIFT_ TEXMF ZIG_",
        names: "BIBINPUTS BSTINPUTS ERLANG_HOME GHCRTS TEXINPUTS TOOLCHAINS openin_any openout_any \
            shell_escape shell_escape_commands",
        free: "DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_CLI_UI_LANGUAGE DOTNET_ENVIRONMENT DOTNET_NOLOGO \
            DOTNET_SKIP_FIRST_TIME_EXPERIENCE DOTNET_SYSTEM_GLOBALIZATION_INVARIANT FOUNDRY_FUZZ_RUNS \
            FOUNDRY_PROFILE HARNESS_ACTIVE HARNESS_VERBOSE HEX_OFFLINE JULIA_NUM_THREADS \
            JULIA_PKG_OFFLINE MIX_DEBUG MIX_ENV MIX_QUIET MIX_TARGET MIX_TEST_PARTITION",
        ..Group::NONE
    },
];
