# syntax=docker/dockerfile:1
#
# autonoe in a container, with Claude Code and git.
#
#   docker build --target node -t autonoe:node .
#   docker run --rm -it -e CLAUDE_CODE_OAUTH_TOKEN -v "$PWD:/project" autonoe:node run
#
# Targets: base, node, python, golang, ruby. The container is the sandbox: the agent's own
# needs rights that a container does not have by default, so it is switched off inside.

ARG RUST_VERSION=1.95
ARG NODE_VERSION=22
ARG GO_VERSION=1.25

FROM rust:${RUST_VERSION}-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package autonoe-cli \
    && install -D target/release/autonoe /out/autonoe

FROM golang:${GO_VERSION}-bookworm AS go-toolchain

FROM node:${NODE_VERSION}-bookworm-slim AS base
ARG CLAUDE_CODE_VERSION=2.1.325
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates curl git less procps ripgrep \
    && rm -rf /var/lib/apt/lists/* \
    && npm install --global "@anthropic-ai/claude-code@${CLAUDE_CODE_VERSION}" \
    && npm cache clean --force
COPY --from=build /out/autonoe /usr/local/bin/autonoe
# A browser for the agent, where one is wanted, is installed as root by
# `npx @playwright/mcp@latest install-browser --with-deps chromium`.
ENV PLAYWRIGHT_BROWSERS_PATH=/tmp/playwright-browsers \
    PLAYWRIGHT_MCP_BROWSER=chromium \
    AUTONOE_NO_SANDBOX=1 \
    DISABLE_AUTOUPDATER=1
# The image has a user `node` with id 1000, which owns the files of most people.
RUN install --directory --owner=node --group=node /project
USER node
WORKDIR /project
# A repository that is mounted from outside belongs to somebody else.
RUN git config --global --add safe.directory /project
ENTRYPOINT ["autonoe"]
CMD ["--help"]

FROM base AS node
USER root
RUN corepack enable && npm install --global bun typescript && npm cache clean --force
USER node

FROM base AS python
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       build-essential pipx python-is-python3 python3 python3-dev python3-pip python3-venv \
    && rm -rf /var/lib/apt/lists/*
USER node

FROM base AS golang
USER root
COPY --from=go-toolchain /usr/local/go /usr/local/go
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
ENV PATH=/usr/local/go/bin:/home/node/go/bin:$PATH
USER node

FROM base AS ruby
USER root
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
       build-essential bundler libyaml-dev ruby ruby-dev \
    && rm -rf /var/lib/apt/lists/*
USER node

# What `docker build` makes without a target.
FROM base
