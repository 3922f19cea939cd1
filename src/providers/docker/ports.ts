// Ports of a container on the machine of its engine: how they are published, where they are reached, who holds one already.
import { Fault } from '#core/fault.ts';
import type { Boot, Machine } from '#core/provider.ts';
import type { ContainerSummary } from './api.ts';
import { type DockerConfig, isShared, type PublishedPort } from './config.ts';
import type { Engine } from './engine.ts';
import { nameOf, portIn } from './marks.ts';

const LOOPBACK = '127.0.0.1';
// The engine chooses a free one.
const ANY = 0;

interface Binding {
  readonly container: number;
  readonly host: number;
  readonly bind: string;
}

/** The port of the launch has the same number outside, unless the configuration gives it another. */
function bindingsOf({ ports = [] }: Pick<DockerConfig, 'ports'>, { port }: Pick<Boot, 'port'>): readonly Binding[] {
  const isSaid = ports.some(({ container }) => container === port);
  const wanted: readonly PublishedPort[] = port === undefined || isSaid ? ports : [...ports, { container: port }];
  return wanted.map(({ container, host = container === port ? port : ANY, bind = LOOPBACK }) => ({
    container,
    host,
    bind,
  }));
}

type Part = Readonly<Record<string, unknown>>;

/** As the Engine API takes them: without `ExposedPorts` it publishes nothing. */
export function portParts(
  config: DockerConfig,
  boot: Boot,
  network: string | undefined,
): { readonly ExposedPorts?: Part; readonly PortBindings?: Part } {
  if (isShared(network)) return {};
  const byPort = Map.groupBy(bindingsOf(config, boot), ({ container }) => `${container}/tcp`);
  if (byPort.size === 0) return {};
  const written = [...byPort].map(([key, all]) => [
    key,
    all.map(({ host, bind }) => ({ HostIp: bind, HostPort: String(host) })),
  ]);
  const exposed = [...byPort.keys()].map((key) => [key, {}]);
  return { ExposedPorts: Object.fromEntries(exposed), PortBindings: Object.fromEntries(written) };
}

/** The address by which the server reaches what is bound to that one; nothing where it cannot. */
function outside(ip: string, { isLocal, address }: Pick<Engine, 'isLocal' | 'address'>): string | undefined {
  if (ip === '' || ip === '0.0.0.0' || ip === '::') return isLocal ? LOOPBACK : new URL(address).hostname;
  const isLoopback = ip === '::1' || ip.startsWith('127.');
  return isLoopback && !isLocal ? undefined : ip;
}

/** Where the port of its launch is reached, while it runs. */
export function endpointsOf(
  { Labels, State, HostConfig, Ports }: ContainerSummary,
  engine: Pick<Engine, 'isLocal' | 'address'>,
): NonNullable<Machine['endpoints']> {
  const port = portIn(Labels);
  if (port === undefined || State !== 'running') return [];
  const isOnHost = HostConfig?.NetworkMode === 'host';
  const bound = isOnHost ? [{ IP: '', PrivatePort: port, PublicPort: port, Type: 'tcp' }] : (Ports ?? []);
  const endpoints = bound.flatMap(({ IP = '', PrivatePort, PublicPort, Type }) => {
    const host = PrivatePort === port && Type === 'tcp' ? outside(IP, engine) : undefined;
    return host === undefined || PublicPort === undefined ? [] : [{ host, port: PublicPort }];
  });
  const byPlace = new Map(endpoints.map((endpoint) => [`${endpoint.host} ${endpoint.port}`, endpoint]));
  return [...byPlace.values()];
}

// 20.10 says the first of a container and the second of another program; 28 says `failed to bind host port`.
const IN_USE = /port is already allocated|address already in use/i;

/** The fault of a start, with the port that is in use and who holds it, where that is the reason. */
export async function withHolder(
  fault: Fault,
  { config, boot }: { readonly config: DockerConfig; readonly boot: Boot },
  listed: (filters: object) => Promise<readonly ContainerSummary[]>,
): Promise<Fault> {
  if (!IN_USE.test(fault.message)) return fault;
  const host = bindingsOf(config, boot)
    .map((one) => one.host)
    .find((port) => port !== ANY && new RegExp(`:${port}\\b`).test(fault.message));
  if (host === undefined) return fault;
  const [holder] = await listed({ publish: [`${host}/tcp`] }).catch(() => []);
  const who = holder ? `the container ${nameOf(holder)} (${holder.Image ?? 'of another image'})` : 'another program';
  const see = holder ? `See \`docker ps --filter publish=${host}\`` : `See \`ss -ltnp 'sport = :${host}'\` there`;
  return new Fault('exhausted', `Port ${host} of the machine of the engine is in use: ${who} holds it.`, {
    cause: fault.cause,
    remedy: `${see}. End it, or choose another port.`,
  });
}
