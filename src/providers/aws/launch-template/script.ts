import { agentUnit } from '#core/agent-unit.ts';
import type { Boot } from '#core/provider.ts';
import { quoted } from '#core/shell-text.ts';

/** Stands in the agent's file for the machine's own name. */
export const NAME_PLACE = '@MUSTER_NAME@';
/** Stands there for the folder that the machine's files are below: empty but in simulations. */
export const ROOT_PLACE = '@MUSTER_ROOT@';
export const WORK_DIR = `${ROOT_PLACE}/var/lib/muster`;

/** How a machine learns its name: it is told, or finds it by its place in the launch, or is called as its instance. */
export type Naming = { readonly name: string } | { readonly stem: string } | 'instance id';

export interface ScriptParts {
  readonly naming: Naming;
  /** The agent's file, with the places above. Secret. */
  readonly agentFile: string;
  readonly install: Boot['install'];
}

/** Writes a text to a file, letter by letter: the shell expands nothing between quoted marks. */
function heredoc(file: string, text: string): string {
  const lines = text.split('\n');
  let mark = 'MUSTER_END';
  while (lines.includes(mark)) mark += '_';
  return `cat > ${file} <<'${mark}'\n${text}${text.endsWith('\n') ? '' : '\n'}${mark}`;
}

// The session token of the metadata service goes by stdin or a file: others can read the arguments of a program.
const ASK = `metadata=\${AWS_EC2_METADATA_SERVICE_ENDPOINT:-http://169.254.169.254}
metadata=\${metadata%/}/latest
ttl='X-aws-ec2-metadata-token-ttl-seconds: 300'
if has curl; then token=$(curl -fsS -X PUT -H "$ttl" "$metadata/api/token")
else token=$(wget -q -O - --method=PUT --header="$ttl" "$metadata/api/token"); fi
ask() {
  if has curl; then printf 'header = "X-aws-ec2-metadata-token: %s"\\n' "$token" | curl -fsS -K - "$metadata/meta-data/$1"
  else
    printf 'header = X-aws-ec2-metadata-token: %s\\n' "$token" > "$work/wgetrc"
    wget -q -O - --config="$work/wgetrc" "$metadata/meta-data/$1"
  fi
}`;

function nameLines(naming: Naming): string {
  if (naming === 'instance id') return `${ASK}\nname=$(ask instance-id)`;
  if ('name' in naming) return `name=${quoted(naming.name)}`;
  // The same two digits as \`nameAt\`: the place of this machine among those that were started together.
  return `${ASK}
place=$(ask ami-launch-index)
digit() { printf %s 0123456789abcdefghjkmnpqrstvwxyz | cut -c "$(($1 + 1))"; }
name=${quoted(naming.stem)}$(digit $((place / 32 % 32)))$(digit $((place % 32)))`;
}

function installLines(install: Boot['install']): string {
  if (!install) return 'fail "this machine has no agent, and its server offers none"';
  const { archives, ca } = install;
  const cases = archives.map(
    ({ machine, url, sha256 }) => `${machine}) url=${quoted(url)} sha256=${quoted(sha256)} ;;`,
  );
  const kinds = archives.map(({ machine }) => machine).join(', ');
  return `case $(uname -m) in
${cases.join('\n')}
*) fail "the server offers the agent for ${kinds}, and this machine is $(uname -m)" ;;
esac
${ca === undefined ? '' : `${heredoc('"$work/ca.pem"', ca)}\n`}download() {
  if has curl; then curl -fsS ${ca === undefined ? '' : '--cacert "$work/ca.pem" '}-o "$work/agent.tar.gz" "$url"
  else wget -q ${ca === undefined ? '' : '--ca-certificate="$work/ca.pem" '}-O "$work/agent.tar.gz" "$url"; fi
}
tries=0
until download; do
  tries=$((tries + 1))
  [ "$tries" -lt 60 ] || fail "the agent could not be fetched"
  sleep 5
done
sum=$(sha256sum "$work/agent.tar.gz")
[ "\${sum%% *}" = "$sha256" ] || fail "the agent's archive is damaged"
mkdir -p "$root/opt/muster"
tar -xzf "$work/agent.tar.gz" -C "$root/opt/muster"`;
}

/** What a new machine runs once, as root: it finds its name, writes the agent's file, and starts the agent for good. */
export function bootScript({ naming, agentFile, install }: ScriptParts): string {
  return `#!/bin/sh
# Brings the Muster agent to life on this machine.
set -eu
root=\${MUSTER_ROOT:-}
fail() { echo "muster: $1" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
has curl || has wget || fail "curl or wget is needed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${nameLines(naming)}
[ -n "$name" ] || fail "this machine could not find its name"
(
umask 077
${heredoc('"$work/agent.yaml"', agentFile)}
mkdir -p "$root/run/velda" "$root/etc/muster" "$root/var/lib/muster"
for file in "$root/run/velda/velda.yaml" "$root/etc/muster/agent.yaml"; do
  sed -e "s|${NAME_PLACE}|$name|g" -e "s|${ROOT_PLACE}|$root|g" "$work/agent.yaml" > "$file"
done
)
if [ ! -x "$root/opt/muster/muster-agent" ]; then
${installLines(install)}
fi
mkdir -p "$root/etc/systemd/system"
cat > "$root/etc/systemd/system/muster-agent.service" <<UNIT
${agentUnit({ program: '$root/opt/muster/muster-agent', config: '$root/etc/muster/agent.yaml' })}
UNIT
systemctl daemon-reload
systemctl enable --now muster-agent
`;
}
