#!/bin/sh
# Debian ships Python without the module that makes virtual environments.
set -eu
"$1" -c 'import venv, ensurepip' 2>/dev/null && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "$1 cannot make virtual environments. On Debian, as root, run:" >&2
    echo "    apt-get install python3-venv" >&2
    exit 2
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3-venv
