// The containers of one engine as machines.
import { readFileSync } from 'node:fs';
import { Fault } from '#core/fault.ts';
import type { Backend, Context, Machine, Outcome } from '#core/provider.ts';
import type { Container, ContainerSummary } from './api.ts';
import type { DockerConfig } from './config.ts';
import { creatorOf, outcomeOf, pathOf } from './create.ts';
import { endpointOf } from './endpoint.ts';
import { openEnds } from './ends.ts';
import { openEngine } from './engine.ts';
import { followEvents } from './events.ts';
import { openImages } from './images.ts';
import { labelFilter, machineOf, markIn, nameFilter } from './marks.ts';
import { endpointsOf } from './ports.ts';
import { storedLogin } from './registry-login.ts';
import { openUnstarted } from './unstarted.ts';

// The engine does most of the work of one start on one processor.
const AT_ONCE = 8;
// A stop waits for the sessions of an agent, and keeps nobody from anything.
const STOPS_AT_ONCE = 50;
const STOP_MARGIN_MS = 30_000;
const OPEN_WITHIN_MS = 20_000;
const LEAST_GAP_MS = 200;

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

export async function openContainers(config: DockerConfig, context: Context): Promise<Backend> {
  const { cluster, log, clock } = context;
  const variable = (name: string): string | undefined => context.variable?.(name);
  const files = { variable, readFile };
  const endpoint = endpointOf(config, files);
  const opening = new AbortController();
  const cancel = clock.alarm(OPEN_WITHIN_MS, () => opening.abort());
  const engine = await openEngine(endpoint, context, opening.signal).finally(cancel);
  const images = openImages({ engine, config, log, login: () => storedLogin(config.image, files) });
  const ends = openEnds(engine);
  const unstarted = openUnstarted(clock);
  /** By id: containers that were listed with our mark. Labels never change, so they need no second look. */
  let ours = new Set<string>();

  const inspect = (container: string, signal: AbortSignal): Promise<Container> =>
    engine.ask<Container>({ path: pathOf(container, '/json') }, signal);

  async function listed(filters: object, signal: AbortSignal): Promise<readonly ContainerSummary[]> {
    const query = { all: 1, filters: JSON.stringify(filters) };
    const containers = await engine.ask<readonly ContainerSummary[]>({ path: '/containers/json', query }, signal);
    if (Array.isArray(containers)) return containers;
    throw new Fault('unavailable', `Docker at ${engine.address} answered a listing without containers.`);
  }

  async function remove(container: string, signal: AbortSignal): Promise<void> {
    const query = { force: 1, v: 1 };
    await engine.ask({ method: 'DELETE', path: pathOf(container), query }, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      // Absent, or its removal is in progress: the listing will tell when it is gone.
      if (fault.kind !== 'missing' && fault.kind !== 'conflict') throw fault;
    });
  }

  const createOne = creatorOf({ engine, config, images, inspect, listed, remove });

  /** By its id; else by its name, or by its label where the container has another name. */
  async function found({ name, id }: Pick<Machine, 'name' | 'id'>, signal: AbortSignal): Promise<Container> {
    try {
      return await inspect(id ?? name, signal);
    } catch (thrown) {
      if (id !== undefined || Fault.from(thrown).kind !== 'missing') throw thrown;
      const [own] = await listed({ label: [labelFilter(cluster), nameFilter(name)] }, signal);
      if (!own) throw thrown;
      return inspect(own.Id, signal);
    }
  }

  async function deleteOne({ name, id }: Machine, signal: AbortSignal): Promise<Outcome> {
    try {
      if (id === undefined || !ours.has(id)) {
        const { Id, Config } = await found({ name, id }, signal);
        if (markIn(Config?.Labels)?.cluster !== cluster)
          return { name, fault: new Fault('denied', `The container ${name} does not bear the mark of this cluster.`) };
        ours.add(Id);
        return await deleteOne({ name, id: Id } as Machine, signal);
      }
      await engine.ask(
        { method: 'POST', path: pathOf(id, '/stop'), mayBeUnchanged: true },
        signal,
        config.stopTimeout + STOP_MARGIN_MS,
      );
      await remove(id, signal);
      return { name };
    } catch (thrown) {
      const fault = Fault.from(thrown);
      return fault.kind === 'missing' ? { name } : outcomeOf(name, fault);
    }
  }

  return {
    // Not by the id of the engine: machines that were copied from one image share it.
    cloud: `docker:${engine.address}`,
    isExact: true,
    leastGapMs: LEAST_GAP_MS,
    async list(signal) {
      const containers = await listed({ label: [labelFilter(cluster)] }, signal);
      const marked = containers.filter(({ Labels }) => markIn(Labels)?.cluster === cluster);
      await ends.look(marked, signal);
      unstarted.note(marked);
      const machines = marked.flatMap(
        (one) =>
          machineOf(one, { end: ends.of(one.Id) ?? unstarted.of(one.Id), endpoints: endpointsOf(one, engine) }) ?? [],
      );
      ours = new Set(machines.flatMap(({ id }) => id ?? []));
      return machines;
    },
    async create(launch, signal) {
      whileWanted(signal);
      if (config.pull === 'always') await images.pull(signal);
      return inTurns(launch.names, AT_ONCE, (name) => createOne(name, launch, signal));
    },
    async delete(machines, signal) {
      whileWanted(signal);
      return inTurns(machines, STOPS_AT_ONCE, (machine) => deleteOne(machine, signal));
    },
    form: (signal) => images.current(signal),
    watch: (changed, signal) => void followEvents({ engine, cluster, log }, changed, signal),
    close: async () => images.close(),
  };
}

function whileWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
}

/** A few at a time. Names whose answer is unclear are left out. */
async function inTurns<T>(
  items: readonly T[],
  most: number,
  run: (item: T) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let unclear: unknown;
  const waiting = items.values();
  async function work(): Promise<void> {
    for (const item of waiting) {
      try {
        outcomes.push(await run(item));
      } catch (thrown) {
        unclear ??= thrown;
        // Where the engine is away, it is so for the others too.
        return;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  if (outcomes.length === 0 && unclear !== undefined) throw unclear;
  return outcomes;
}
