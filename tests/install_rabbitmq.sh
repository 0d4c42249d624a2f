#!/bin/sh
# The tests start a private RabbitMQ; this makes sure that its programs are there.
set -eu
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "The tests start a private RabbitMQ, and it is not installed. As root, run:" >&2
    echo "    apt-get install --no-install-recommends rabbitmq-server" >&2
    exit 2
fi
# A policy of 101 keeps Debian from starting a system-wide broker that nobody asked for.
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
apt-get install -y -qq --no-install-recommends rabbitmq-server
