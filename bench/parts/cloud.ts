// A cloud that answers at once, as a plug-in of a real server or inside the bench.
import { z } from 'zod';
import { Fault } from '#core/fault.ts';
import { type Backend, kind, type Launch, type Machine, type Provider } from '#core/provider.ts';

export interface BenchCloud {
  readonly provider: Provider;
  /** What exists. */
  readonly machines: Map<string, Machine>;
  /** Shapes that are out of stock. */
  readonly exhausted: Set<string>;
  /** Called for each machine that is asked for, made or not, and for each that is deleted. */
  heard: (call: 'create' | 'refuse' | 'delete', name: string) => void;
}

const BenchConfig = z.object({ shape: z.string() });

/** Machines that never boot: they exist, and that is all. */
export function openBenchCloud(): BenchCloud {
  const machines = new Map<string, Machine>();
  const exhausted = new Set<string>();

  function make({ mark }: Launch, name: string): void {
    machines.set(name, { name, mark, createdAt: 0, state: 'running' });
    cloud.heard('create', name);
  }

  function open(shape: string): Backend {
    return {
      cloud: 'bench',
      list: async () => [...machines.values()],
      async create(launch) {
        if (exhausted.has(shape)) {
          for (const name of launch.names) cloud.heard('refuse', name);
          throw new Fault('exhausted', 'There is not enough capacity in this zone.');
        }
        for (const name of launch.names) make(launch, name);
        return launch.names.map((name) => ({ name }));
      },
      async delete(gone) {
        for (const { name } of gone) {
          machines.delete(name);
          cloud.heard('delete', name);
        }
        return gone.map(({ name }) => ({ name }));
      },
    };
  }

  const backend = kind({
    summary: 'Machines that exist only in memory.',
    config: BenchConfig,
    example: { shape: 'small' },
    trust: 'any source',
    open: async ({ shape }) => open(shape),
  });
  const cloud: BenchCloud = {
    provider: { id: 'bench', title: 'Machines of a bench', backends: { bench: backend } },
    machines,
    exhausted,
    heard: () => {},
  };
  return cloud;
}
