// Google's guest agent runs the metadata value `startup-script` as root at every boot, so all of it may be repeated.
import { type AgentOverrides, agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { heredoc } from '#boot/install.ts';
import { bootScript, NAME_PLACE, type Naming, WORK_DIR } from '#boot/script.ts';
import { Fault } from '#core/fault.ts';
import type { Boot } from '#core/provider.ts';

export const STARTUP_KEY = 'startup-script';

// Compute Engine, "Set custom metadata": 256 KB for each value.
const MOST_BYTES = 256 * 1024;

/** For machines that share their metadata: each asks for its own name. */
export const OWN_NAME: Naming = {
  shell: `metadata=http://\${GCE_METADATA_HOST:-metadata.google.internal}/computeMetadata/v1/instance/name
if has curl; then name=$(curl -fsS --retry 5 --retry-connrefused -H 'Metadata-Flavor: Google' "$metadata"); else name=$(wget -q -O - --header='Metadata-Flavor: Google' "$metadata"); fi`,
};

export interface StartupParts {
  readonly boot: Boot;
  readonly naming: Naming;
  readonly overrides: AgentOverrides;
  /** The machine can be preempted: its agent asks the metadata server for the notice. */
  readonly isSpot: boolean;
  /** The `startup-script` of the instance template, which ours would replace. */
  readonly ofTemplate?: string | undefined;
}

/** What the template runs, then ours; a failure of the first is told on the console and keeps no agent away. */
function after(theirs: string, ours: string): string {
  return `#!/bin/sh
theirs=$(mktemp)
${heredoc('"$theirs"', theirs)}
chmod 700 "$theirs"
${theirs.startsWith('#!') ? '"$theirs"' : 'sh "$theirs"'} || echo "muster: the startup-script of the instance template failed" >&2
rm -f "$theirs"
${ours.replace(/^#![^\n]*\n/, '')}`;
}

/** The same bytes for the same launch, however often it is repeated. Secret. */
export function startupScript({ boot, naming, overrides, isSpot, ofTemplate }: StartupParts): string {
  const settings = {
    name: NAME_PLACE,
    ...(hasWorkDir(overrides) ? {} : { workDir: WORK_DIR }),
    ...(isSpot && { notices: 'gcp' }),
  };
  const file = agentFile(withOverrides(boot, overrides), settings);
  const ours = bootScript({ naming, agentFile: file, install: boot.install });
  const script = ofTemplate ? after(ofTemplate, ours) : ours;
  const bytes = Buffer.byteLength(script);
  if (bytes > MOST_BYTES) {
    throw new Fault(
      'invalid',
      `A startup-script of ${bytes} bytes exceeds the limit of Google Cloud, ${MOST_BYTES} bytes.`,
      {
        remedy:
          'Shorten agent_config, or the startup-script of the instance template; put long scripts into the image.',
      },
    );
  }
  return script;
}
