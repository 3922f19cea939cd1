import { agentUnit } from '#core/agent-unit.ts';
import { quoted } from '#core/shell-text.ts';
import type { Uname } from './runtime.ts';

export interface ScriptFacts {
  /** Where this server is reached: `https://muster.example:8081`. */
  readonly origin: string;
  /** Where agents reach the broker, as `host:port` or with `https://`. */
  readonly broker: string;
  /** Trusted in place of the system's authorities, where the server made its own: at the broker, and for the download. */
  readonly brokerCa: string | undefined;
  readonly originCa: string | undefined;
  readonly archives: readonly (Uname & { readonly name: string; readonly sha256: string })[];
}

/** Chooses what this machine can run. */
function choice({ archives }: ScriptFacts): string {
  const kinds = archives.map(({ system, machine }) => `${system} ${machine}`);
  const cases = archives.map(
    ({ name, sha256 }, at) => `  ${quoted(kinds[at] ?? '')}) archive=${quoted(name)} sha256=${quoted(sha256)} ;;`,
  );
  return `case "$(uname -s) $(uname -m)" in
${cases.join('\n')}
  *) fail "this server offers the agent for ${kinds.join(', ')}, and this is $(uname -s) $(uname -m)" ;;
esac`;
}

/** A script for `curl … | sh`: fetches the agent with its runtime, checks it, and starts it. Needs sh, tar and curl or wget. */
export function installScript(facts: ScriptFacts): string {
  return `#!/bin/sh
# Installs the Muster agent from the server that it will belong to.
# usage: install.sh --pool NAME [--token TOKEN] [--name NAME] [--prefix DIR] [--slots N] [--run]
# The token may also come as MUSTER_JOIN_TOKEN, where others cannot read it in the list of processes.
set -eu

origin=${quoted(facts.origin)}
broker=${quoted(facts.broker)}
broker_ca=${quoted(facts.brokerCa ?? '')}
origin_ca=${quoted(facts.originCa ?? '')}
prefix=/opt/muster pool= token=\${MUSTER_JOIN_TOKEN:-} name= slots=1 run=

fail() { printf 'muster: %s\\n' "$1" >&2; exit 1; }
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
${choice(facts)}

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -z "$origin_ca" ] || printf '%s\\n' "$origin_ca" > "$work/ca.pem"
if command -v curl >/dev/null 2>&1; then
  curl -fsS \${origin_ca:+--cacert "$work/ca.pem"} -o "$work/agent.tar.gz" "$origin/agent/$archive"
elif command -v wget >/dev/null 2>&1; then
  wget -q \${origin_ca:+--ca-certificate="$work/ca.pem"} -O "$work/agent.tar.gz" "$origin/agent/$archive"
else
  fail "curl or wget is needed"
fi
if command -v sha256sum >/dev/null 2>&1; then sum=$(sha256sum "$work/agent.tar.gz"); else sum=$(shasum -a 256 "$work/agent.tar.gz"); fi
[ "\${sum%% *}" = "$sha256" ] || fail "the archive is damaged: its checksum is not $sha256"

mkdir -p "$prefix"
chmod 755 "$prefix"
tar -xzf "$work/agent.tar.gz" -C "$prefix"
config=$prefix/agent.yaml
{
  echo "broker:"
  printf '  address: %s\\n' "$(yaml "$broker")"
  if [ -n "$broker_ca" ]; then echo "  ca: |"; printf '%s\\n' "$broker_ca" | sed 's/^/    /'; fi
  printf 'pool: %s\\n' "$(yaml "$pool")"
  [ -z "$token" ] || printf 'join_token: %s\\n' "$(yaml "$token")"
  echo "daemon_config:"
  printf '  max_sessions: %s\\n' "$slots"
  printf '  work_dir_path: %s\\n' "$(yaml "$prefix/work")"
  [ -z "$name" ] || printf '  agent_name: %s\\n' "$(yaml "$name")"
} > "$config"
echo "muster: agent installed in $prefix"
if [ -n "$run" ]; then trap - EXIT; rm -rf "$work"; exec "$prefix/muster-agent" --config "$config"; fi
if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then
  cat > /etc/systemd/system/muster-agent.service <<UNIT
${agentUnit({ program: '$prefix/muster-agent', config: '$config' })}
UNIT
  systemctl daemon-reload
  systemctl enable --now muster-agent
else
  echo "muster: start it with: $prefix/muster-agent --config $config"
fi
`;
}
