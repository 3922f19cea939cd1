// How the agent in a container gets to the broker: `127.0.0.1` means another machine there than here.
import { parse, stringify } from 'yaml';
import { withOverrides } from '#boot/agent-file.ts';
import { Fault } from '#core/fault.ts';
import type { Boot } from '#core/provider.ts';
import type { DockerConfig } from './config.ts';
import type { Engine } from './engine.ts';

export interface BrokerReach {
  /** Absent: the engine's own choice. */
  readonly network: string | undefined;
  readonly boot: Boot;
}

/** What stands for the machine of the engine in `/etc/hosts` of a container. */
export const GATEWAY_NAME = 'host.docker.internal';

const HOST = /^((?:https?:\/\/)?)(\[[^\]]+\]|[^:/]+)(.*)$/i;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/i;

type Broker = Readonly<Record<string, unknown>> & {
  readonly address?: string;
  readonly publicAddress?: string | string[];
};

function addressesIn({ agentConfig }: Boot): string[] {
  const { broker = {} } = (parse(agentConfig) ?? {}) as { readonly broker?: Broker };
  return [broker.address ?? [], broker.publicAddress ?? []].flat();
}

const isLoopback = (address: string): boolean => LOOPBACK.test(HOST.exec(address)?.[2] ?? '');

function throughGateway(boot: Boot): Boot {
  const file = parse(boot.agentConfig) as { readonly broker: Broker };
  const address = (file.broker.address ?? '').replace(
    HOST,
    (_all, scheme: string, _host: string, rest: string) => `${scheme}${GATEWAY_NAME}${rest}`,
  );
  return { ...boot, agentConfig: stringify({ ...file, broker: { ...file.broker, address } }, { lineWidth: 0 }) };
}

/**
 * A broker that listens on the network is reached from anywhere. One on loopback alone is reached on the network of this
 * machine, or through the gateway of Docker Desktop; from any other engine it is not.
 */
export function brokerReach(
  config: DockerConfig,
  given: Boot,
  engine: Pick<Engine, 'isLocal' | 'isDesktop' | 'address'>,
): BrokerReach {
  const boot = withOverrides(given, config);
  const { network } = config;
  const addresses = addressesIn(boot);
  if (addresses.length === 0 || !addresses.every(isLoopback)) return { network, boot };
  if (engine.isLocal && engine.isDesktop && network !== 'host') return { network, boot: throughGateway(boot) };
  if (engine.isLocal && (network ?? 'host') === 'host') return { network: 'host', boot };
  const from = engine.isLocal ? `the network "${network}"` : `the engine at ${engine.address}`;
  throw new Fault(
    'invalid',
    `Containers on ${from} cannot reach the broker at ${addresses[0]}: it listens on this machine alone.`,
    {
      remedy:
        'Set grpc_address to an address of the network, and default_broker_info.address where containers need another; or set network: host.',
    },
  );
}
