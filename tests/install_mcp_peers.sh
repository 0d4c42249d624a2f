#!/bin/sh
# Real MCP servers to test against, at fixed versions, in .mcp-peers; left alone where they are there already.
# One that cannot be had is reported and nothing more: its tests then skip with the reason, or fail where CI is set.
set -u
python=$1
folder=$2
mkdir -p "$folder"

pypi() { # name, then what is installed
    name=$1
    shift
    [ "$(cat "$folder/$name/.installed" 2>/dev/null)" = "$*" ] && return
    rm -rf "${folder:?}/$name"
    if "$python" -m venv "$folder/$name" &&
        "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; then
        echo "$*" > "$folder/$name/.installed"
    else
        echo "$name: cannot be installed with pip; its tests will be skipped" >&2
    fi
}

npm_package() {
    name=$1
    shift
    [ "$(cat "$folder/$name/.installed" 2>/dev/null)" = "$*" ] && return
    rm -rf "${folder:?}/$name"
    mkdir -p "$folder/$name"
    if command -v npm >/dev/null &&
        npm install --prefix "$folder/$name" --silent --no-audit --no-fund --ignore-scripts "$@" >/dev/null; then
        echo "$*" > "$folder/$name/.installed"
    else
        echo "$name: cannot be installed with npm (is Node.js there?); its tests will be skipped" >&2
    fi
}

pypi time mcp-server-time==2026.10.19 mcp==2.3.0
pypi calculator mcp-server-calculator==0.2.1 mcp==1.30.0
npm_package everything @modelcontextprotocol/server-everything@2026.8.31
# Not a server: the published schema of SARIF comes with it.
npm_package sarif @microsoft/jest-sarif@1.0.0-beta.0
