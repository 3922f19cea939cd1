// The instance metadata service, version 2: what a machine can learn about itself.
import { Buffer } from 'node:buffer';
import type { Instance } from './ec2/instance.ts';
import type { World } from './world.ts';

const TTL_HEADER = 'x-aws-ec2-metadata-token-ttl-seconds';
const TOKEN_HEADER = 'x-aws-ec2-metadata-token';
const LONGEST_TTL_S = 21_600;

type Leaves = Readonly<Record<string, string | undefined>>;

const isoSeconds = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

/** Both are absent until AWS has said that it takes the machine back. */
function spotLeaves({ interruption }: Instance): Leaves {
  if (!interruption) return {};
  const time = isoSeconds(interruption.atMs);
  return {
    'meta-data/spot/instance-action': JSON.stringify({ action: interruption.action, time }),
    'meta-data/spot/termination-time': time,
  };
}

function tagLeaves({ showsTags, tags }: Instance): Leaves {
  if (!showsTags) return {};
  return Object.fromEntries([...tags].map(([key, value]) => [`meta-data/tags/instance/${key}`, value]));
}

function leavesOf(instance: Instance, { account }: World): Leaves {
  const host = `ip-${instance.privateIp.replaceAll('.', '-')}.${instance.region}.compute.internal`;
  const document = {
    accountId: account,
    architecture: instance.architecture,
    availabilityZone: instance.zone,
    imageId: instance.imageId,
    instanceId: instance.id,
    instanceType: instance.type,
    pendingTime: isoSeconds(instance.launchedAtMs),
    privateIp: instance.privateIp,
    region: instance.region,
    version: '2017-09-30',
  };
  return {
    'meta-data/instance-id': instance.id,
    'meta-data/ami-id': instance.imageId,
    'meta-data/ami-launch-index': String(instance.launchIndex),
    'meta-data/instance-type': instance.type,
    'meta-data/instance-life-cycle': instance.spotRequest ? 'spot' : 'on-demand',
    'meta-data/reservation-id': instance.reservation,
    'meta-data/local-ipv4': instance.privateIp,
    'meta-data/public-ipv4': instance.publicIp,
    'meta-data/hostname': host,
    'meta-data/local-hostname': host,
    'meta-data/placement/availability-zone': instance.zone,
    'meta-data/placement/region': instance.region,
    'dynamic/instance-identity/document': JSON.stringify(document, undefined, 2),
    ...spotLeaves(instance),
    ...tagLeaves(instance),
  };
}

const text = (status: number, body: string | Uint8Array<ArrayBuffer>): Response =>
  new Response(body, { status, headers: { 'content-type': 'text/plain' } });

/** A folder is a list of what is in it. */
function folder(leaves: Leaves, path: string): string | undefined {
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  const below = Object.entries(leaves).filter(([name, value]) => value !== undefined && name.startsWith(prefix));
  const names = below.map(([name]) => name.slice(prefix.length).replace(/\/.*/, '/'));
  return names.length > 0 ? [...new Set(names)].sort().join('\n') : undefined;
}

/** Answers the machine's own questions, as `http://169.254.169.254` would. */
export function openImds(instance: Instance, world: World): (request: Request) => Response {
  const tokens = new Map<string, number>();

  function giveToken(request: Request): Response {
    const ttlS = Number(request.headers.get(TTL_HEADER));
    if (!Number.isInteger(ttlS) || ttlS < 1 || ttlS > LONGEST_TTL_S) return text(400, 'Bad Request');
    const token = Buffer.from(world.random.bytes(32)).toString('base64url');
    tokens.set(token, world.clock.now() + ttlS * 1_000);
    return text(200, token);
  }

  function answer(path: string): Response {
    if (path === 'user-data') {
      if (instance.userData === undefined) return text(404, 'Not Found');
      return text(200, new Uint8Array(Buffer.from(instance.userData, 'base64')));
    }
    const leaves = leavesOf(instance, world);
    const found = leaves[path] ?? folder(leaves, path);
    return found === undefined ? text(404, 'Not Found') : text(200, found);
  }

  return (request) => {
    const path = decodeURIComponent(new URL(request.url).pathname).replace(/^\/latest\//, '');
    if (path === 'api/token') return request.method === 'PUT' ? giveToken(request) : text(405, 'Method Not Allowed');
    const validUntilMs = tokens.get(request.headers.get(TOKEN_HEADER) ?? '') ?? 0;
    return world.clock.now() < validUntilMs ? answer(path) : text(401, 'Unauthorized');
  };
}
