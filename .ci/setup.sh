#!/usr/bin/env bash
# Installs what the tests and checks need and the machine lacks, on Debian and
# Ubuntu. Elsewhere it names what is missing. It starts no service.
set -euo pipefail

# command, Debian packages, what needs it
programs() {
	cat <<-'LIST'
		redis-server  redis-server  the tests start real Redis servers
		promtool      prometheus    the alert rules are checked and tested with it
		prometheus    prometheus    the alert rules run in a real Prometheus
		prometheus-alertmanager prometheus-alertmanager alerts reach a receiver through it
		redis-cli     redis-tools   the commands of the runbooks are tried with it
		gcc           gcc,libc6-dev the race detector needs a C compiler
		buildah       buildah       the container image is built and run with it
		systemd-analyze systemd     the systemd unit is judged with it
		busybox       busybox-static the shell of the stand-in for the golang image
	LIST
}

policy=/usr/sbin/policy-rc.d
sudo=()
made_policy=

fail() {
	echo "setup: $*" >&2
	exit 1
}

cleanup() {
	if [ -n "$made_policy" ]; then
		"${sudo[@]}" rm -f "$policy"
	fi
}

# Debian starts a service when its package is installed, unless this file says
# 101. One that is there already belongs to somebody else and stays as it is.
forbid_services() {
	if [ -e "$policy" ]; then
		return
	fi
	made_policy=yes
	printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null
	"${sudo[@]}" chmod 755 "$policy"
}

missing=()
packages=()
while read -r command package reason; do
	if ! command -v "$command" >/dev/null; then
		missing+=("$command ($reason)")
		for p in ${package//,/ }; do
			[[ " ${packages[*]-} " == *" $p "* ]] || packages+=("$p")
		done
	fi
done < <(programs)

if [ ${#missing[@]} -eq 0 ]; then
	echo "setup: nothing to install"
	exit 0
fi
list=$(printf ', %s' "${missing[@]}")
list=${list:2}

if ! command -v apt-get >/dev/null; then
	fail "missing: $list. There is no apt-get here: install them by hand"
fi
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || fail "missing: $list. Run it as root, or install sudo"
	sudo=(sudo)
fi

echo "setup: installing ${packages[*]}, because these are missing: $list"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
forbid_services
apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${packages[@]}" >/dev/null

while read -r command package _; do
	command -v "$command" >/dev/null || fail "$command is still missing after the installation of $package"
done < <(programs)
