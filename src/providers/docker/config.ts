import { z } from 'zod';
import { agentFileFields } from '#boot/agent-file.ts';
import { duration, environmentMap, freeMap, secret } from '#core/schema.ts';
import { LABEL_PREFIX } from './marks.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const SIZE = /^(\d+(?:\.\d+)?) ?([bkmgt]?)(?:i?b)?$/i;

/** Bytes as the docker command takes them: `512m`, `4g`, `4GiB`, a number. */
const byteSize = () =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const [, number, unit = ''] = SIZE.exec(String(text).trim()) ?? [];
    const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? 0));
    if (bytes > 0) return bytes;
    context.addIssue({ code: 'custom', message: 'must be a size like 512m or 4g' });
    return z.NEVER;
  });

const labels = freeMap().superRefine((own, context) => {
  for (const key of Object.keys(own)) {
    if (key.startsWith(LABEL_PREFIX))
      context.addIssue({ code: 'custom', path: [key], message: `must not begin with ${LABEL_PREFIX}` });
  }
});

/** `all`, a number, or the ids of devices, as `docker run --gpus` takes them. */
const gpus = z.union([z.literal('all'), z.int().min(1), z.array(z.string().min(1)).min(1)]);

const port = (least: number) => z.int().min(least).max(65_535);

/** Networks whose containers have no ports of their own: another machine's, another container's, or none. */
export const isShared = (network: string | undefined): boolean => /^(host|none|container:.*)$/.test(network ?? '');

const ADDRESS = z.union([z.ipv4(), z.ipv6()]);
const portMap = z.strictObject({
  container: port(1).describe('Port of the container.'),
  host: port(0).optional().describe('Port of the machine; 0: a free one.'),
  bind: z
    .string()
    .refine((text) => ADDRESS.safeParse(text).success, 'must be an address of the machine, like 0.0.0.0')
    .optional()
    .describe('Address of the machine.'),
});
/** A port of a container that its machine publishes. */
export type PublishedPort = z.output<typeof portMap>;

/** As `docker run -p` takes it: an address and a port of the machine before that of the container. */
function spelledOut(written: string | number): PublishedPort {
  const [container, host, ...bind] = String(written)
    .split(/:(?![^[]*\])/)
    .toReversed();
  return {
    container: Number(container),
    ...(host !== undefined && { host: Number(host) }),
    ...(bind.length > 0 && {
      bind: bind
        .toReversed()
        .join(':')
        .replace(/^\[|\]$/g, ''),
    }),
  };
}

const shortPort = z
  .union([z.string(), z.number()])
  .transform(spelledOut)
  .refine((found) => portMap.safeParse(found).success, 'must be a port like 8000, 8080:8000 or 0.0.0.0:8080:8000');

/** How the engine is reached. None of it forms a container. */
export const engineFields = {
  host: z
    .string()
    .regex(/^(unix|tcp|http|https):\/\//, 'must be an address like unix:///var/run/docker.sock or tcp://host:2376')
    .optional()
    .describe('Address of the engine: `unix:///path` or `tcp://host:port`.')
    .meta({ shapes: false, defaultText: '`DOCKER_HOST`, else that of the context' }),
  context: z
    .string()
    .min(1)
    .optional()
    .describe('Context of the docker command whose engine is used.')
    .meta({ shapes: false, defaultText: '`DOCKER_CONTEXT`, else the current one' }),
  certPath: z
    .string()
    .min(1)
    .optional()
    .describe('Folder with `ca.pem`, `cert.pem` and `key.pem` for an engine behind TCP; switches TLS on.')
    .meta({ shapes: false, filePath: true, defaultText: '`DOCKER_CERT_PATH` where `DOCKER_TLS_VERIFY` is set' }),
};

const imageFields = {
  image: z
    .string()
    .min(1)
    .describe('Image whose entry point is the agent: one of `deploy/docker/agent.Dockerfile`, or built from it.'),
  pull: z
    .enum(['missing', 'always', 'never'])
    .default('missing')
    .describe('When the image is pulled: where the engine lacks it, before every launch, or never.')
    .meta({ shapes: false }),
  platform: z.string().min(1).optional().describe('Platform of the image, like `linux/arm64`.'),
  registryUsername: z
    .string()
    .min(1)
    .optional()
    .describe('User at the registry of the image.')
    .meta({ shapes: false, defaultText: 'what `docker login` wrote into its file' }),
  registryPassword: secret().optional().describe('Password or token of that user.'),
};

const dockerFields = {
  ...imageFields,
  ...engineFields,
  network: z
    .string()
    .min(1)
    .optional()
    .describe('Network of the containers: `bridge`, `host`, or the name of one.')
    .meta({ defaultText: "the engine's own; `host` where the broker listens on loopback alone" }),
  ports: z
    .array(z.union([shortPort, portMap]))
    .optional()
    .describe(
      'Ports of the containers that the machine of the engine publishes, on 127.0.0.1: each as `8000` (on a free port), `8080:8000`, `0.0.0.0:8080:8000`, or as a map of `container`, `host` and `bind`.',
    ),
  containerName: z
    .string()
    .regex(
      /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/,
      'must have two or more letters, digits, "_", "." or "-", a letter or digit first',
    )
    .optional()
    .describe('Name of the container, for one worker at a time.')
    .meta({ defaultText: 'that of the worker' }),
  extraHosts: z
    .array(z.string().regex(/^[^:]+[:=].+$/, 'must be host:address'))
    .optional()
    .describe('Lines for `/etc/hosts` of the containers, as `host:address`.')
    .meta({ defaultText: '`host.docker.internal:host-gateway`' }),
  cpus: z.number().positive().optional().describe('Processors of each container.'),
  memory: byteSize().optional().describe('Memory of each container, like `4g`.'),
  shmSize: byteSize().optional().describe('Size of `/dev/shm`, like `1g`.'),
  gpus: gpus.optional().describe('GPUs of each container: `all`, a number, or a list of device ids.'),
  volumes: z
    .array(z.string().regex(/^[^:]+:[^:]+/, 'must be source:target'))
    .optional()
    .describe('Mounts, as `source:target` or `source:target:ro`.'),
  env: environmentMap().optional().describe('Environment variables of the agent and its sessions.'),
  user: z
    .string()
    .min(1)
    .optional()
    .describe('User of the agent, like `1000:1000`.')
    .meta({ defaultText: "the image's" }),
  command: z
    .array(z.string())
    .optional()
    .describe('Arguments for the entry point of the image.')
    .meta({ literal: true, defaultText: "the image's" }),
  runtime: z.string().min(1).optional().describe('Runtime of the engine, like `nvidia` or `sysbox-runc`.'),
  privileged: z.boolean().optional().describe('Whether the containers have all rights on the machine of the engine.'),
  labels: labels.optional().describe('More labels for the containers.'),
  hostConfig: z
    .looseObject({})
    .optional()
    .describe("More of the Engine API's `HostConfig`, in its own words; the keys above win.")
    .meta({ literal: true }),
  stopTimeout: duration()
    .prefault('30s')
    .describe('Time for sessions to finish when a container is stopped; then they are killed.')
    .meta({ shapes: false }),
  ...agentFileFields,
};

export const DockerConfig = z.strictObject(dockerFields).superRefine(({ ports = [], network }, context) => {
  if (ports.length > 0 && isShared(network))
    context.addIssue({
      code: 'custom',
      path: ['ports'],
      message: `cannot be combined with network: ${network}, whose containers have no ports of their own`,
    });
});
export type DockerConfig = z.output<typeof DockerConfig>;
