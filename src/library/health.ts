// Whether a machine answers `GET /health`, where no agent joins a server: asked every few seconds while somebody waits.
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { MachineEndpoint } from '#core/provider.ts';

const ASK_EVERY_MS = 5 * SECOND_MS;
const ANSWER_WITHIN_MS = 5 * SECOND_MS;

export const addressOf = ({ host, port, scheme = 'http' }: MachineEndpoint): string =>
  `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;

export interface HealthDeps {
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}

async function isHealthy({ clock, fetch }: HealthDeps, endpoint: MachineEndpoint): Promise<boolean> {
  const late = new AbortController();
  const cancel = clock.alarm(ANSWER_WITHIN_MS, () => late.abort());
  try {
    const answer = await fetch(`${addressOf(endpoint)}/health`, { signal: late.signal, redirect: 'error' });
    const body = (await answer.json()) as { readonly healthy?: unknown } | null;
    return answer.status === 200 && body?.healthy === true;
  } catch {
    // Refused, too late, or no JSON: it is not there yet.
    return false;
  } finally {
    cancel();
  }
}

/** The first of these places, the best one first, that answers as healthy. */
export async function healthyEndpoint(
  deps: HealthDeps,
  endpoints: readonly MachineEndpoint[],
): Promise<MachineEndpoint | undefined> {
  const answers = await Promise.all(endpoints.map((endpoint) => isHealthy(deps, endpoint)));
  return endpoints.find((_, at) => answers[at]);
}

export interface HealthWatch {
  /** Where it answered when it was last asked. */
  endpointOf(machine: string): MachineEndpoint | undefined;
  /** Asks at once and then every 5 seconds, until it is stopped. */
  start(watched: WatchedMachines): void;
  stop(): void;
}

export interface WatchedMachines {
  /** The machines to ask now. */
  machines(): readonly { readonly id: string; readonly endpoints: readonly MachineEndpoint[] }[];
  /** One answers for the first time, or no longer. */
  changed(): void;
}

export function openHealthWatch(deps: HealthDeps): HealthWatch {
  const healthy = new Map<string, MachineEndpoint>();
  let isStopped = false;
  let cancel = (): void => {};

  async function ask(watched: WatchedMachines): Promise<void> {
    cancel = deps.clock.alarm(ASK_EVERY_MS, () => void ask(watched));
    for (const { id, endpoints } of watched.machines()) {
      const found = await healthyEndpoint(deps, endpoints);
      if (isStopped) return;
      const isNews = (found !== undefined) !== healthy.has(id);
      if (found) healthy.set(id, found);
      else healthy.delete(id);
      if (isNews) watched.changed();
    }
  }

  return {
    endpointOf: (machine) => healthy.get(machine),
    start: (watched) => void ask(watched),
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
