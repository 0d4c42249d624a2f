#!/bin/sh
# The tests start servers of their own; this makes sure that their programs are there: RabbitMQ, PostgreSQL, bubblewrap.
set -eu
wanted=
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || wanted="$wanted rabbitmq-server"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$wanted postgresql"
command -v bwrap >/dev/null || wanted="$wanted bubblewrap"
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "The tests need what is not installed. On Debian, as root, run:" >&2
    echo "    apt-get install --no-install-recommends$wanted" >&2
    exit 2
fi
# A policy of 101 keeps Debian from starting system-wide servers that nobody asked for.
policy=/usr/sbin/policy-rc.d
made=
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod +x "$policy"
    made=yes
fi
trap '[ -z "$made" ] || rm -f "$policy"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 - a list
apt-get install -y -qq --no-install-recommends $wanted
