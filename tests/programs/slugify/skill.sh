#!/usr/bin/env bash
read -r request
text=${request#*\"text\":\"}
text=${text%%\"*}
slug=$(printf %s "$text" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-')
echo "slugify $*"
printf '{"jsonrpc": "2.0", "result": {"result": "%s"}, "id": 1}\n' "${slug%-}"
