// DigitalOcean has no idempotency key and takes a name twice: the listing is read before a launch is asked for.
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, type Naming, WORK_DIR } from '#boot/script.ts';
import { userData } from '#boot/user-data.ts';
import { chunked } from '#core/chunked.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Launch, Outcome } from '#core/provider.ts';
import type { CloudClient } from '#rest/cloud-client.ts';
import { createEach } from '#rest/creations.ts';
import type { Created } from '../api.ts';
import type { DropletConfig } from '../config.ts';
import { advised } from '../sizes.ts';
import { listDroplets } from './listing.ts';
import { tagsFor } from './marks.ts';

/** As many as one request takes. */
const MOST_NAMES = 10;

const USER_DATA_LIMIT = { cloud: 'DigitalOcean', bytes: 64 * 1024 };

// All droplets of one call have the same user data: each finds its name, which is its host name, in its metadata.
const OWN_NAME: Naming = {
  shell: `metadata=\${DIGITALOCEAN_METADATA_URL:-http://169.254.169.254}/metadata/v1/hostname
if has curl; then name=$(curl -fsS --retry 5 --retry-connrefused "$metadata"); else name=$(wget -q -O - "$metadata"); fi`,
};

function scriptFor(config: DropletConfig, { boot, names }: Launch): string {
  const naming = names.length === 1 ? { name: names[0] as string } : OWN_NAME;
  const settings = { name: NAME_PLACE, ...(hasWorkDir(config) ? {} : { workDir: WORK_DIR }) };
  return bootScript({ naming, agentFile: agentFile(withOverrides(boot, config), settings), install: boot.install });
}

/** The same bytes for the same launch, however often it is repeated. */
function bodyFor(config: DropletConfig, launch: Launch): Record<string, unknown> {
  const { region, size, image, sshKeyIds, backups, ipv6, monitoring, vpcUuid } = config;
  return {
    names: launch.names,
    region,
    size,
    image: /^\d+$/.test(image) ? Number(image) : image,
    tags: tagsFor(config, launch.mark),
    user_data: userData(scriptFor(config, launch), undefined, USER_DATA_LIMIT).toString(),
    ...(sshKeyIds && { ssh_keys: sshKeyIds }),
    ...(backups !== undefined && { backups }),
    ...(ipv6 !== undefined && { ipv6 }),
    ...(monitoring !== undefined && { monitoring }),
    ...(vpcUuid && { vpc_uuid: vpcUuid }),
  };
}

// Listings of an account under load were seen late by seconds. A launch without an answer is not repeated before this
// time, when every listing shows what came of it.
const REPEAT_AFTER_MS = 2 * MINUTE_MS;
// A repeat comes that much later or from another process: a listing of this age shows what was made before.
const LISTING_HOLDS_MS = MINUTE_MS;

// The request did not leave: it is as if it had never been tried.
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function isUnsent(fault: Fault): boolean {
  for (let at: unknown = fault.cause, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++)
    if (UNSENT.has(String((at as Error & { code?: unknown }).code))) return true;
  return false;
}

export function creatorOf(api: CloudClient, config: DropletConfig, cluster: string): Backend['create'] {
  async function post(launch: Launch, signal: AbortSignal): Promise<ReadonlyMap<string, Outcome>> {
    const body = bodyFor(config, launch);
    try {
      const { droplets, links } = await api.ask<Created>({ method: 'POST', path: '/droplets', body }, signal);
      if (!droplets) throw new Fault('unavailable', `${api.host} answered a creation without a list of droplets.`);
      const actions = (links?.actions ?? []).filter(({ rel }) => rel === 'create');
      return new Map(droplets.map(({ name }, at) => [name, { name, operation: actions[at]?.id.toString() }]));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) throw await advised(api, fault, config, signal);
      if (isUnsent(fault)) throw fault;
      const { message, cause, remedy } = fault;
      throw new Fault(fault.kind, message, { cause, remedy, retryAfterMs: REPEAT_AFTER_MS });
    }
  }

  /** What there is of the launch; where a name is there twice, the oldest stays. */
  async function found({ names }: Launch, signal: AbortSignal): Promise<Outcome[]> {
    const droplets = await listDroplets(api, { cluster, holdsMs: LISTING_HOLDS_MS, signal });
    const byName = Map.groupBy(droplets, ({ name }) => name);
    const there = names.filter((name) => byName.has(name));
    for (const { id } of there.flatMap((name) => byName.get(name)?.slice(1) ?? []))
      await api.ask({ method: 'DELETE', path: `/droplets/${id}` }, signal).catch(() => {});
    return there.map((name) => ({ name }));
  }

  return async (launch, signal) => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    const there = await found(launch, signal);
    if (there.length > 0) return there;
    const answers = chunked(launch.names, MOST_NAMES).map((names) => post({ ...launch, names }, signal));
    return createEach(launch, signal, async (name) => {
      const outcome = (await answers[Math.floor(launch.names.indexOf(name) / MOST_NAMES)])?.get(name);
      return outcome ?? Promise.reject(new Fault('unavailable', `${api.host} did not say what became of ${name}.`));
    });
  };
}
