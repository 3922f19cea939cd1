// DigitalOcean has no idempotency key and takes a name twice: one creation a launch, and a look before it is repeated.
import { agentFile, hasWorkDir, withOverrides } from '#boot/agent-file.ts';
import { bootScript, NAME_PLACE, type Naming, WORK_DIR } from '#boot/script.ts';
import { userData } from '#boot/user-data.ts';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { joined } from '#rest/creations.ts';
import type { Created } from '../api.ts';
import type { DigitalOcean } from '../client.ts';
import type { DropletConfig } from '../config.ts';
import { type Account, look, named } from './account.ts';
import { tagsFor } from './marks.ts';

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

// Listings of an account under load were seen late by seconds; longer than any of them.
const REPEAT_AFTER_MS = 120_000;

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

export interface CreatorDeps {
  readonly account: Account;
  readonly api: DigitalOcean;
  readonly config: DropletConfig;
  /** What else to say of a refusal. */
  advise(fault: Fault, signal: AbortSignal): Promise<Fault>;
}

export function creatorOf({ account, api, config, advise }: CreatorDeps) {
  const { clock, unclear, promised, underWay } = account;

  async function post(launch: Launch, signal: AbortSignal): Promise<Outcome[]> {
    const body = bodyFor(config, launch);
    try {
      const { droplets, links } = await api.ask<Created>({ method: 'POST', path: '/droplets', body }, signal);
      if (!droplets) throw new Fault('unavailable', `${api.host} answered a creation without a list of droplets.`);
      const actions = (links?.actions ?? []).filter(({ rel }) => rel === 'create');
      const [atMs, checkedMs] = [clock.monotonic(), Number.NEGATIVE_INFINITY];
      for (const [place, { id, name }] of droplets.entries())
        promised.set(name, { id, api, mark: launch.mark, action: actions[place]?.id, atMs, checkedMs, isMade: false });
      account.follower?.();
      return droplets.filter(({ name }) => launch.names.includes(name)).map(({ name }) => ({ name }));
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!isUnclear(fault.kind)) throw await advise(fault, signal);
      if (!isUnsent(fault)) unclear.set(launch.id, clock.monotonic());
      throw fault;
    }
  }

  /** What there is of the launch; where a name is there twice, the oldest stays. */
  async function found({ names }: Launch, isAnew: boolean, signal: AbortSignal): Promise<Outcome[]> {
    const snapshot = isAnew || !account.last ? await look(account, api, signal) : account.last;
    const outcomes: Outcome[] = [];
    for (const name of names) {
      const [first, ...rest] = named(snapshot, name);
      if (first) outcomes.push({ name });
      for (const { id } of rest) await api.ask({ method: 'DELETE', path: `/droplets/${id}` }, signal).catch(() => {});
    }
    return outcomes;
  }

  async function createOnce(launch: Launch, signal: AbortSignal): Promise<Outcome[]> {
    const known = launch.names.filter((name) => promised.has(name));
    if (known.length > 0) return known.map((name) => ({ name }));
    const endedMs = unclear.get(launch.id);
    // A launch of an earlier process is in every listing of this one.
    const there = await found(launch, endedMs !== undefined, signal);
    if (there.length > 0) return there;
    const leftMs = (endedMs ?? Number.NEGATIVE_INFINITY) + REPEAT_AFTER_MS - clock.monotonic();
    if (leftMs > 0) {
      throw new Fault('unavailable', `${api.host} did not answer the creation, and does not list the droplets yet.`, {
        retryAfterMs: leftMs,
      });
    }
    unclear.delete(launch.id);
    return post(launch, signal);
  }

  return async (launch: Launch, signal: AbortSignal): Promise<readonly Outcome[]> => {
    if (signal.aborted) throw new Fault('unavailable', 'The creation was cancelled.');
    const joining = { clock, signal, what: `The creation of ${launch.id}` };
    return joined(underWay, launch.id, joining, () => createOnce(launch, signal));
  };
}
