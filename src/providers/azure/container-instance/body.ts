// What one container group is made of, in one request: the same for the same launch and name, always.
import { agentFile, withOverrides } from '#boot/agent-file.ts';
import type { Launch } from '#core/provider.ts';
import { subnetIn } from '../vm/body.ts';
import { tagsFor } from '../vm/marks.ts';
import type { ContainerInstanceConfig } from './config.ts';
import type { Place } from './place.ts';

/** When its launch was committed: Azure does not show when a group was made. */
const ASKED = 'muster-asked';
const VOLUME = 'agent-file';
// Where the agent looks for its file.
const [FOLDER, FILE] = ['/run/velda', 'velda.yaml'];
const DOCKER_HUB = 'index.docker.io';

/** When the launch of a group was committed. */
export function askedAtIn(tags: Readonly<Record<string, string>> | null | undefined): number {
  const [, text = ''] = Object.entries(tags ?? {}).find(([key]) => key.toLowerCase() === ASKED) ?? [];
  return Date.parse(text) || 0;
}

/** The registry of an image: what stands before the first slash, if that is a host. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : DOCKER_HUB;
}

/** Its port is open to all, or to the network of the subnet alone. */
function addressOf({ subnetId }: ContainerInstanceConfig, port: number | undefined): object {
  if (port === undefined) return {};
  const type = subnetId === undefined ? 'Public' : 'Private';
  return { ipAddress: { type, ports: [{ protocol: 'TCP', port }] } };
}

function loginOf({ image, registryUsername: username, registryPassword: password }: ContainerInstanceConfig): object {
  if (username === undefined) return {};
  return { imageRegistryCredentials: [{ server: registryOf(image), username, password }] };
}

/** The request for one group. Azure never shows the secrets in it: secure values, passwords and secret volumes. */
export function bodyFor(
  config: ContainerInstanceConfig,
  launch: Launch,
  { name, place }: { readonly name: string; readonly place: Place },
): object {
  const { location, image, containerName, cpus, memoryGb, env = {}, subnetId } = config;
  const { port } = launch.boot;
  const file = agentFile(withOverrides(launch.boot, config), { name });
  const container = {
    image,
    resources: { requests: { cpu: cpus, memoryInGB: memoryGb } },
    ...(port !== undefined && { ports: [{ protocol: 'TCP', port }] }),
    environmentVariables: Object.entries(env).map(([key, value]) => ({ name: key, secureValue: value })),
    volumeMounts: [{ name: VOLUME, mountPath: FOLDER, readOnly: true }],
  };
  return {
    location,
    tags: { ...tagsFor(config.tags, launch, name), [ASKED]: new Date(launch.askedAt).toISOString() },
    properties: {
      osType: 'Linux',
      // An agent that came to its end has ended its container: it must not come back, and nothing runs any more.
      restartPolicy: 'Never',
      containers: [{ name: containerName, properties: container }],
      volumes: [{ name: VOLUME, secret: { [FILE]: Buffer.from(file).toString('base64') } }],
      ...addressOf(config, port),
      ...loginOf(config),
      ...(subnetId !== undefined && { subnetIds: [{ id: subnetIn(place, subnetId) }] }),
    },
  };
}
