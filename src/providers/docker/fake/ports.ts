// Ports that the fake engine publishes on its machine while a container runs.
import { refusal } from '#fakes/refusal.ts';
import type { FakeContainer } from './container.ts';

export interface PublishedPort {
  readonly IP: string;
  readonly PrivatePort: number;
  readonly PublicPort: number;
  readonly Type: 'tcp';
}

interface Wanted {
  readonly HostIp?: string;
  readonly HostPort?: string;
}

const FIRST_FREE = 32_768;

/** What a creation asks for; what is not exposed, and what has the network of another, is left out without a word. */
function wantedBy({ config, hostConfig }: FakeContainer) {
  const { ExposedPorts = {} } = config as { readonly ExposedPorts?: object };
  const { PortBindings = {}, NetworkMode = 'default' } = hostConfig as {
    readonly PortBindings?: Readonly<Record<string, readonly Wanted[]>>;
    readonly NetworkMode?: string;
  };
  if (NetworkMode === 'host' || NetworkMode === 'none') return [];
  return Object.entries(PortBindings)
    .filter(([key]) => key in ExposedPorts)
    .flatMap(([key, all]) => all.map((one) => ({ PrivatePort: Number.parseInt(key, 10), ...one })));
}

const overlap = (a: string, b: string): boolean => a === b || a === '0.0.0.0' || b === '0.0.0.0';

/** Binds the ports of a container that starts, beside those of the others that run; or refuses its start. */
export function bind(
  container: FakeContainer,
  { others, busy }: { readonly others: readonly FakeContainer[]; readonly busy: ReadonlySet<number> },
): readonly PublishedPort[] {
  const held = others.flatMap(({ ports }) => ports);
  const bound: PublishedPort[] = [];
  for (const { PrivatePort, HostIp, HostPort = '' } of wantedBy(container)) {
    const IP = HostIp || '0.0.0.0';
    const isHeld = (port: number): boolean =>
      [...held, ...bound].some((one) => one.PublicPort === port && overlap(one.IP, IP));
    let PublicPort = Number(HostPort);
    if (PublicPort === 0) for (PublicPort = FIRST_FREE; isHeld(PublicPort) || busy.has(PublicPort); ) PublicPort += 1;
    const failed = `driver failed programming external connectivity on endpoint ${container.name} (${container.id}): `;
    if (isHeld(PublicPort))
      throw refusal('system', `${failed}Bind for ${IP}:${PublicPort} failed: port is already allocated`, 500);
    if (busy.has(PublicPort)) {
      const said = `Error starting userland proxy: listen tcp4 ${IP}:${PublicPort}: bind: address already in use`;
      throw refusal('system', `${failed}${said}`, 500);
    }
    bound.push({ IP, PrivatePort, PublicPort, Type: 'tcp' });
  }
  return bound;
}
