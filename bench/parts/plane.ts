// The control plane inside the bench: the composition of the server, without its sockets.
import { writeAgentConfig } from '#config/agent-file.ts';
import { knownKinds } from '#config/kinds.ts';
import type { AgentCommand } from '#core/agent-link.ts';
import { systemClock } from '#core/clock.ts';
import { silentLog } from '#core/log.ts';
import type { Provider } from '#core/provider.ts';
import { systemRandom } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Store } from '#core/store.ts';
import { makeRedactor } from '#journal/redact.ts';
import { openUnary } from '../../src/edge/unary.ts';
import { type Plane, startPlane } from '../../src/program/plane.ts';

export interface BenchPlaneOptions {
  readonly store: Store;
  readonly provider: Provider;
  /** The environment of the server, as far as the provider may read it. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Receives the commands to agents. */
  tell?(agent: string, command: AgentCommand): void;
}

export function openBenchPlane({ store, provider, variables, tell }: BenchPlaneOptions): Promise<Plane> {
  const base = { clock: systemClock, random: systemRandom, log: silentLog };
  return startPlane({
    ...base,
    store,
    redactor: makeRedactor(),
    kinds: knownKinds([provider]),
    context: {
      ...base,
      cluster: store.cluster,
      fetch,
      shared: openShared(),
      dataDir: '/nonexistent',
      agentCommand: ['true'],
      variable: (name) => variables?.[name],
      unary: openUnary(),
    },
    link: {
      send(agent, command) {
        tell?.(agent, command);
        return true;
      },
      dismiss: () => {},
    },
    sources: [],
    agentConfig: ({ name, slots }) =>
      writeAgentConfig({
        broker: { address: 'http://127.0.0.1:50051', ca: undefined },
        pool: name,
        slots,
        workDir: '/tmp/agent',
        labels: {},
        leaseMs: 3_600_000,
      }),
  });
}
