import { installLines, unitLines } from '#boot/install.ts';
import { quoted } from '#core/shell-text.ts';
import type { Uname } from './runtime.ts';

export interface ScriptFacts {
  /** Where this server is reached: `https://muster.example:8081`. */
  readonly origin: string;
  /** Where agents reach the broker, as `host:port` or with `https://`. */
  readonly broker: string;
  /** Further addresses of the broker. */
  readonly otherBrokers: readonly string[];
  /** Trusted in place of the system's authorities, where the server made its own: at the broker, and for the download. */
  readonly brokerCa: string | undefined;
  readonly originCa: string | undefined;
  readonly archives: readonly (Uname & { readonly name: string; readonly sha256: string })[];
}

/** A script for `curl … | sh`: fetches the agent with its runtime, checks it, and starts it. Needs sh, tar and curl or wget. */
export function installScript(facts: ScriptFacts): string {
  return `#!/bin/sh
# Installs the Muster agent from the server that it will belong to.
# usage: install.sh --pool NAME [--token TOKEN] [--name NAME] [--prefix DIR] [--slots N] [--run]
# The token may also come as MUSTER_JOIN_TOKEN, where others cannot read it in the list of processes.
set -eu

broker=${quoted(facts.broker)}
broker_ca=${quoted(facts.brokerCa ?? '')}
prefix=/opt/muster pool= token=\${MUSTER_JOIN_TOKEN:-} name= slots=1 run=

fail() { printf 'muster: %s\\n' "$1" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
# As a YAML text: names of pools may hold quotes and backslashes.
yaml() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"; }
while [ $# -gt 0 ]; do
  case "$1" in
    --pool) pool=\${2:?}; shift 2 ;;
    --token) token=\${2:?}; shift 2 ;;
    --name) name=\${2:?}; shift 2 ;;
    --prefix) prefix=\${2:?}; shift 2 ;;
    --slots) slots=\${2:?}; shift 2 ;;
    --run) run=1; shift ;;
    *) fail "unknown option $1; see the head of this script" ;;
  esac
done
[ -n "$pool" ] || fail "--pool NAME says which pool this machine joins"
has curl || has wget || fail "this machine has neither curl nor wget: install one of them, then run this script again"

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${installLines({
  archives: facts.archives.map(({ system, machine, name, sha256 }) => ({
    machine: `${system} ${machine}`,
    url: `${facts.origin}/agent/${name}`,
    sha256,
  })),
  unameFlags: '-sm',
  ca: facts.originCa,
  tries: 1,
  into: '"$prefix"',
})}
chmod 755 "$prefix"
config=$prefix/agent.yaml
{
  echo "broker:"
  printf '  address: %s\\n' "$(yaml "$broker")"
${facts.otherBrokers.length === 0 ? '' : `  echo "  addresses:"\n${facts.otherBrokers.map((one) => `  printf '    - %s\\n' "$(yaml ${quoted(one)})"\n`).join('')}`}  if [ -n "$broker_ca" ]; then echo "  ca: |"; printf '%s\\n' "$broker_ca" | sed 's/^/    /'; fi
  printf 'pool: %s\\n' "$(yaml "$pool")"
  [ -z "$token" ] || printf 'join_token: %s\\n' "$(yaml "$token")"
  echo "daemon_config:"
  printf '  max_sessions: %s\\n' "$slots"
  printf '  work_dir_path: %s\\n' "$(yaml "$prefix/work")"
  [ -z "$name" ] || printf '  agent_name: %s\\n' "$(yaml "$name")"
} > "$config"
echo "muster: agent installed in $prefix"
said=$("$prefix/node" --version 2>&1) ||
  fail "its Node does not start on this machine: $said. Install what it lacks, then run this script again"
if [ -n "$run" ]; then trap - EXIT; rm -rf "$work"; exec "$prefix/muster-agent" --config "$config"; fi
if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
${unitLines({
  file: '/etc/systemd/system/muster-agent.service',
  program: '$prefix/muster-agent',
  config: '$config',
  atEnd: 'stay stopped',
})}
else
  echo "muster: start it with: $prefix/muster-agent --config $config"
fi
`;
}
