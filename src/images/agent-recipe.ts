// The recipe of our own agent, for what a builder makes. Pure.
import { Fault } from '#core/fault.ts';
import { AGENT_IMAGE, type ImageTarget, type Recipe, type RecipeFile, recipeOf } from '#core/image-builder.ts';

/** A file of this machine, known by its content. */
export interface HashedFile {
  readonly path: string;
  readonly sha256: string;
}

/** The agent in both of its forms. */
export interface AgentContent {
  /** One file, for the Node of its image. */
  readonly bundle?: HashedFile | undefined;
  /** An archive with a Node of its own, for machines. */
  readonly archive?: HashedFile | undefined;
}

const FOLDER = '/opt/muster';
const COMMAND = `${FOLDER}/bin/muster`;
const PORT = 8000;

const scriptFor = (program: string): string => `#!/bin/sh\nexec ${program} "$@"\n`;

// Whatever tells one machine from another is made at the first boot of each.
const WITHOUT_IDENTITY =
  'rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /var/lib/dbus/machine-id; [ ! -e /etc/machine-id ] || : > /etc/machine-id';

// What cloud-init has written of the machine that the image was made on, its user data among it.
const WITHOUT_FIRST_BOOT =
  'if command -v cloud-init >/dev/null; then cloud-init clean --logs; fi; rm -rf /var/lib/cloud/instances /var/lib/cloud/instance /root/.bash_history /home/*/.bash_history';

const text = (path: string, mode: number, content: string): RecipeFile => ({ path, mode, from: { text: content } });

type Contents = Pick<Recipe, 'files' | 'steps' | 'ports' | 'entry'>;

/** A container finds Node in its base; the first step fails where that is too old for the agent. */
function containerOf({ bundle }: AgentContent): Contents {
  if (!bundle) throw new Fault('internal', 'An image for containers needs the bundle of the agent.');
  return {
    files: [
      { path: `${FOLDER}/agent.mjs`, mode: 0o644, from: { file: bundle.path, sha256: bundle.sha256 } },
      // Without `--`, Node takes an `--env-file` behind the program for its own.
      text(COMMAND, 0o755, scriptFor(`node -- ${FOLDER}/agent.mjs`)),
      text('/usr/local/bin/muster', 0o755, scriptFor(COMMAND)),
    ],
    steps: [`${COMMAND} --version`, WITHOUT_IDENTITY],
    ports: [PORT],
    entry: [COMMAND],
  };
}

/** A machine gets its configuration at its first boot, which then finds the agent installed. */
function machineOf({ archive }: AgentContent): Contents {
  if (!archive) throw new Fault('internal', 'An image for machines needs the archive of the agent.');
  return {
    files: [{ path: FOLDER, mode: 0o755, from: { archive: archive.path, sha256: archive.sha256 } }],
    steps: [`${FOLDER}/muster-agent --version`, WITHOUT_FIRST_BOOT, WITHOUT_IDENTITY],
    ports: [],
    entry: [],
  };
}

export function agentRecipe(version: string, { form, base }: ImageTarget, agent: AgentContent): Recipe {
  const contents = form === 'container' ? containerOf(agent) : machineOf(agent);
  return recipeOf({ name: AGENT_IMAGE, version, base, ...contents });
}
