// A container for each worker, made in three steps that may each be repeated: created by name, given its agent's file,
// started.
import { readFileSync } from 'node:fs';
import { Fault, isUnclear } from '#core/fault.ts';
import type { Backend, Context, Launch, Machine, Outcome } from '#core/provider.ts';
import { agentArchive } from './agent-archive.ts';
import type { Container, ContainerSummary } from './api.ts';
import { brokerReach } from './broker-reach.ts';
import type { DockerConfig } from './config.ts';
import { bodyFor } from './container.ts';
import { endpointOf } from './endpoint.ts';
import { openEnds } from './ends.ts';
import { openEngine } from './engine.ts';
import { followEvents } from './events.ts';
import { clearly } from './faults.ts';
import { openImages } from './images.ts';
import { labelFilter, launchIn, machineOf, markIn } from './marks.ts';
import { storedLogin } from './registry-login.ts';

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
  /** By id: containers that were listed with our mark. Labels never change, so they need no second look. */
  let ours = new Set<string>();

  const pathOf = (container: string, rest = ''): string => `/containers/${encodeURIComponent(container)}${rest}`;
  const inspect = (container: string, signal: AbortSignal): Promise<Container> =>
    engine.ask<Container>({ path: pathOf(container, '/json') }, signal);

  /** Creates the container, or finds it where an earlier try did. */
  async function created(
    name: string,
    launch: Launch,
    network: string | undefined,
    signal: AbortSignal,
  ): Promise<Container> {
    const body = bodyFor(config, launch, { name, network });
    const query = { name, platform: config.platform };
    try {
      const { Id } = await engine.ask<{ readonly Id: string }>(
        { method: 'POST', path: '/containers/create', query, body },
        signal,
      );
      return { Id, Name: `/${name}` };
    } catch (thrown) {
      if (Fault.from(thrown).kind !== 'conflict') throw thrown;
    }
    const found = await inspect(name, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'missing') throw thrown;
      throw new Fault('unavailable', `The container ${name} was there and is not any more.`);
    });
    if (launchIn(found.Config?.Labels) === launch.id) return found;
    throw new Fault('denied', `Another container is named ${name}.`);
  }

  async function remove(container: string, signal: AbortSignal): Promise<void> {
    const query = { force: 1, v: 1 };
    await engine.ask({ method: 'DELETE', path: pathOf(container), query }, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      // Absent, or its removal is in progress: the listing will tell when it is gone.
      if (fault.kind !== 'missing' && fault.kind !== 'conflict') throw fault;
    });
  }

  /** Gives a created container its file and starts it; what cannot be started is taken away again. */
  async function start(name: string, { Id, State }: Container, launch: Launch, signal: AbortSignal): Promise<void> {
    if (State !== undefined && State.Status !== 'created') return;
    const { Config } = await inspect(name, signal);
    const content = agentArchive(config, { name, boot: launch.boot, user: Config?.User ?? '' });
    try {
      await engine.ask(
        {
          method: 'PUT',
          path: pathOf(name, '/archive'),
          query: { path: '/' },
          bytes: { type: 'application/x-tar', content },
        },
        signal,
      );
      await engine.ask({ method: 'POST', path: pathOf(name, '/start'), mayBeUnchanged: true }, signal);
    } catch (thrown) {
      const fault = clearly(Fault.from(thrown));
      if (!isUnclear(fault.kind)) await remove(Id, signal);
      throw fault;
    }
  }

  async function createOne(name: string, given: Launch, signal: AbortSignal): Promise<Outcome> {
    try {
      const { network, boot } = brokerReach(config, given.boot, engine);
      const launch = { ...given, boot };
      const container = await created(name, launch, network, signal).catch(async (thrown) => {
        if (!isImageMissing(thrown) || config.pull === 'never') throw thrown;
        await images.pull(signal);
        return created(name, launch, network, signal);
      });
      await start(name, container, launch, signal);
      return { name };
    } catch (thrown) {
      return outcomeOf(name, clearly(Fault.from(thrown)));
    }
  }

  async function deleteOne({ name, id }: Machine, signal: AbortSignal): Promise<Outcome> {
    try {
      if (id === undefined || !ours.has(id)) {
        const { Id, Config } = await inspect(id ?? name, signal);
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
      const query = { all: 1, filters: JSON.stringify({ label: [labelFilter(cluster)] }) };
      const containers = await engine.ask<readonly ContainerSummary[]>({ path: '/containers/json', query }, signal);
      if (!Array.isArray(containers))
        throw new Fault('unavailable', `Docker at ${engine.address} answered a listing without containers.`);
      const marked = containers.filter(({ Labels }) => markIn(Labels)?.cluster === cluster);
      await ends.look(marked, signal);
      const machines = marked.flatMap((one) => machineOf(one, ends.of(one.Id)) ?? []);
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

const isImageMissing = (thrown: unknown): boolean => {
  const { kind, message } = Fault.from(thrown);
  return kind === 'missing' && /no such image/i.test(message);
};

function whileWanted(signal: AbortSignal): void {
  if (signal.aborted) throw new Fault('unavailable', 'The call was cancelled.');
}

/** The fault of one name; an unclear one is thrown, since it says nothing about the name. */
function outcomeOf(name: string, thrown: unknown): Outcome {
  const fault = Fault.from(thrown);
  if (isUnclear(fault.kind)) throw fault;
  return { name, fault };
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
