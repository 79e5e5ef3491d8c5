#!/bin/sh
# Starts $FAKE_CLAUDE with other arguments than requested: each argument that starts with $REPLACED
# becomes $REPLACEMENT, or is dropped if that is empty.
for argument do
    shift
    case $argument in
        "$REPLACED"*) set -- "$@" ${REPLACEMENT:+"$REPLACEMENT"} ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "$FAKE_CLAUDE" "$@"
