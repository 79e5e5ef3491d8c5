# syntax=docker/dockerfile:1
#
# autonoe in a container, with Claude Code and git. docs/guides/docker.md describes the targets.
#
#   docker build --target node -t autonoe:node .
#   cd ~/my-project
#   docker run --rm -it --init -e CLAUDE_CODE_OAUTH_TOKEN -v "$PWD:/project" autonoe:node run
#
# `cargo xtask check-image` checks this file without building it.

ARG RUST_VERSION=1.95
ARG NODE_VERSION=22
ARG GO_VERSION=1.25
ARG CLAUDE_CODE_VERSION=2.1.325
ARG BUN_VERSION=1.4.4
ARG TYPESCRIPT_VERSION=7.0.2
ARG UV_VERSION=0.13.8

FROM rust:${RUST_VERSION}-bookworm AS rust-toolchain
RUN rustup component add clippy rustfmt

FROM golang:${GO_VERSION}-bookworm AS go-toolchain

FROM rust-toolchain AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package autonoe-cli \
    && install -D target/release/autonoe /out/autonoe

FROM node:${NODE_VERSION}-bookworm-slim AS base
ARG CLAUDE_CODE_VERSION
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       ca-certificates curl git gnupg jq less openssh-client procps ripgrep \
    && rm -rf /var/lib/apt/lists/* \
    && npm install --global "@anthropic-ai/claude-code@${CLAUDE_CODE_VERSION}" \
    && npm cache clean --force
COPY --from=build /out/autonoe /usr/local/bin/autonoe
# The container is the sandbox: the agent's own needs rights that a container does not have by default.
ENV AUTONOE_NO_SANDBOX=1 \
    DISABLE_AUTOUPDATER=1
# Git refuses a mounted repository of another user unless it is listed. /workspace is where the compose files of the
# first Autonoe mount a project. User 1000 is `node`.
RUN install --directory --owner=1000 --group=1000 /project /workspace \
    && git config --system --add safe.directory /project \
    && git config --system --add safe.directory /workspace
USER 1000
WORKDIR /project
ENTRYPOINT ["autonoe"]
CMD ["--help"]

# Debian's Chromium exists for amd64 and arm64, and a new release of the browser server does not make it stale.
FROM base AS browser
USER 0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium fonts-liberation \
    && rm -rf /var/lib/apt/lists/*
# The sandbox of Chromium needs rights that a container does not have by default.
ENV PLAYWRIGHT_MCP_EXECUTABLE_PATH=/usr/bin/chromium \
    PLAYWRIGHT_MCP_SANDBOX=false \
    PLAYWRIGHT_BROWSERS_PATH=/tmp/playwright-browsers
USER 1000

FROM browser AS node
ARG BUN_VERSION
ARG TYPESCRIPT_VERSION
USER 0
RUN corepack enable \
    && npm install --global "bun@${BUN_VERSION}" "typescript@${TYPESCRIPT_VERSION}" \
    && npm cache clean --force
USER 1000

FROM browser AS bun
ARG BUN_VERSION
USER 0
RUN npm install --global "bun@${BUN_VERSION}" \
    && npm cache clean --force
USER 1000

FROM browser AS python
ARG UV_VERSION
USER 0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       build-essential pipx python-is-python3 python3 python3-dev python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && PIPX_HOME=/opt/pipx PIPX_BIN_DIR=/usr/local/bin \
       pipx install --pip-args=--no-cache-dir "uv==${UV_VERSION}"
USER 1000

FROM browser AS golang
USER 0
COPY --from=go-toolchain /usr/local/go /usr/local/go
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/usr/local/go/bin:/home/node/go/bin:$PATH
USER 1000

FROM browser AS ruby
USER 0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       build-essential bundler libyaml-dev ruby ruby-dev \
    && rm -rf /var/lib/apt/lists/*
# Gems of the user: the system's folder belongs to root.
ENV GEM_HOME=/home/node/.gem \
    PATH=/home/node/.gem/bin:$PATH
USER 1000

FROM browser AS rust
USER 0
COPY --from=rust-toolchain /usr/local/cargo/bin /usr/local/cargo/bin
COPY --from=rust-toolchain /usr/local/rustup /usr/local/rustup
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential libssl-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
# The toolchain is shared and read-only; what cargo downloads belongs to the user.
ENV RUSTUP_HOME=/usr/local/rustup \
    CARGO_HOME=/home/node/.cargo \
    PATH=/home/node/.cargo/bin:/usr/local/cargo/bin:$PATH
USER 1000

FROM browser AS php
USER 0
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       composer php-cli php-curl php-mbstring php-sqlite3 php-xml php-zip unzip \
    && rm -rf /var/lib/apt/lists/*
USER 1000

# Built without --target.
FROM base
