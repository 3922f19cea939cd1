import type { Boot } from '#core/provider.ts';
import { quoted } from '#core/shell-text.ts';
import { hasEnd } from './agent-file.ts';
import { heredoc, installLines, unitLines } from './install.ts';

/** Stands in the agent's file for the machine's own name. */
export const NAME_PLACE = '@MUSTER_NAME@';
/** Stands there for the folder that the machine's files are below: empty but in simulations. */
export const ROOT_PLACE = '@MUSTER_ROOT@';
export const WORK_DIR = `${ROOT_PLACE}/var/lib/muster`;

/** How a machine learns its name: it is known, or shell lines set `$name`; they may use `has`, `fail` and "$work". */
export type Naming = { readonly name: string } | { readonly shell: string };

export interface ScriptParts {
  readonly naming: Naming;
  /** The agent's file, with the places above. Secret. */
  readonly agentFile: string;
  readonly install: Boot['install'];
}

// A new machine may be up before its network is.
const DOWNLOAD_TRIES = 60;

function agentLines(install: Boot['install']): string {
  if (!install) return 'fail "this machine has no agent, and its server offers none"';
  return installLines({ ...install, unameFlags: '-m', tries: DOWNLOAD_TRIES, into: '"$root/opt/muster"' });
}

const UNIT = '"$root/etc/systemd/system/muster-agent.service"';

// Only the agent ends a machine at its time. One that gets no agent would stay for ever, so it ends now; one that has an
// agent of an earlier boot stays.
const POWER_OFF_LINES = `hadUnit=; work=
[ ! -e ${UNIT} ] || hadUnit=1
trap 'code=$?; rm -rf "$work"; [ "$code" = 0 ] || [ -n "$hadUnit" ] || systemctl poweroff' EXIT
`;

/**
 * What a new machine runs once, as root: it finds its name, writes the agent's file, installs and starts the agent.
 * Machines of earlier versions were started with these very bytes, and a repeated launch must have the same.
 */
export function bootScript({ naming, agentFile, install }: ScriptParts): string {
  const ends = hasEnd(agentFile);
  return `#!/bin/sh
# Brings the Muster agent to life on this machine.
set -eu
root=\${MUSTER_ROOT:-}
fail() { echo "muster: $1" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
${ends ? POWER_OFF_LINES : ''}has curl || has wget || fail "curl or wget is needed"
work=$(mktemp -d)
${ends ? '' : `trap 'rm -rf "$work"' EXIT\n`}${'name' in naming ? `name=${quoted(naming.name)}` : naming.shell}
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
${agentLines(install)}
fi
mkdir -p "$root/etc/systemd/system"
${unitLines({
  file: UNIT,
  program: '$root/opt/muster/muster-agent',
  config: '$root/etc/muster/agent.yaml',
  atEnd: ends ? 'power off' : undefined,
})}
`;
}
