// A container for each worker, made in three steps that may each be repeated: created by name, given its agent's file,
// started.
import { Fault, isUnclear } from '#core/fault.ts';
import type { Launch, Outcome } from '#core/provider.ts';
import { agentArchive } from './agent-archive.ts';
import type { Container, ContainerSummary } from './api.ts';
import { brokerReach } from './broker-reach.ts';
import { type DockerConfig, isShared } from './config.ts';
import { bodyFor } from './container.ts';
import type { Engine } from './engine.ts';
import { clearly } from './faults.ts';
import type { Images } from './images.ts';
import { launchIn, workerIn } from './marks.ts';
import { withHolder } from './ports.ts';

/** What every call about one container shares. */
export interface Containers {
  readonly engine: Engine;
  readonly config: DockerConfig;
  readonly images: Pick<Images, 'pull'>;
  /** By name or id. */
  inspect(container: string, signal: AbortSignal): Promise<Container>;
  /** All that pass, also those that have ended. */
  listed(filters: object, signal: AbortSignal): Promise<readonly ContainerSummary[]>;
  /** Absent is a success. */
  remove(container: string, signal: AbortSignal): Promise<void>;
}

export const pathOf = (container: string, rest = ''): string => `/containers/${encodeURIComponent(container)}${rest}`;

const isImageMissing = (thrown: unknown): boolean => {
  const { kind, message } = Fault.from(thrown);
  return kind === 'missing' && /no such image/i.test(message);
};

/** Why a name is not to be had: a chosen one is another's also where that is a worker of ours. */
function taken(name: string, { Id, Config }: Container, { containerName }: DockerConfig): Fault {
  if (containerName === undefined) return new Fault('denied', `Another container is named ${name}.`);
  const worker = workerIn(Config?.Labels);
  const whose = worker === undefined ? `from the image ${Config?.Image ?? 'unknown'}` : `of the worker ${worker}`;
  return new Fault('denied', `The name ${name} is in use by the container ${Id.slice(0, 12)} ${whose}.`, {
    at: 'container_name',
    remedy: `Remove it (\`docker rm -f ${name}\`), or choose another container_name.`,
  });
}

/** Makes one container of a launch; repeating it makes nothing twice. */
export function creatorOf({ engine, config, images, inspect, listed, remove }: Containers) {
  /** Creates the container, or finds it where an earlier try did. */
  async function created(
    worker: string,
    launch: Launch,
    network: string | undefined,
    signal: AbortSignal,
  ): Promise<Container> {
    const name = config.containerName ?? worker;
    const body = bodyFor(config, launch, { name: worker, network });
    const query = { name, platform: config.platform };
    try {
      const made = { method: 'POST', path: '/containers/create', query, body } as const;
      const { Id } = await engine.ask<{ readonly Id: string }>(made, signal);
      return { Id, Name: `/${name}` };
    } catch (thrown) {
      if (Fault.from(thrown).kind !== 'conflict') throw thrown;
    }
    const found = await inspect(name, signal).catch((thrown) => {
      if (Fault.from(thrown).kind !== 'missing') throw thrown;
      throw new Fault('unavailable', `The container ${name} was there and is not any more.`);
    });
    const labels = found.Config?.Labels;
    if (launchIn(labels) === launch.id && (workerIn(labels) ?? name) === worker) return found;
    throw taken(name, found, config);
  }

  /** Gives a created container its file and starts it; what cannot be started is taken away again. */
  async function start(name: string, { Id, State }: Container, { boot }: Launch, signal: AbortSignal): Promise<void> {
    if (State !== undefined && State.Status !== 'created') return;
    // The name of a worker is never given again; one that was chosen may be another's by now.
    const container = config.containerName === undefined ? name : Id;
    try {
      const { Config } = await inspect(container, signal);
      const content = agentArchive(config, { name, boot, user: Config?.User ?? '' });
      const bytes = { type: 'application/x-tar', content };
      await engine.ask({ method: 'PUT', path: pathOf(container, '/archive'), query: { path: '/' }, bytes }, signal);
      await engine.ask({ method: 'POST', path: pathOf(container, '/start'), mayBeUnchanged: true }, signal);
    } catch (thrown) {
      const fault = clearly(Fault.from(thrown));
      if (isUnclear(fault.kind)) throw fault;
      await remove(Id, signal);
      throw await withHolder(fault, { config, boot }, (filters) => listed(filters, signal));
    }
  }

  /** A broker on loopback alone is reached from the network of the machine, where containers have no ports of their own. */
  function mustPublish(network: string | undefined): void {
    if (!isShared(network) || (config.ports ?? []).length === 0) return;
    const message = `Containers on the network "${network}" publish no ports, and the broker is reached from there alone.`;
    throw new Fault('invalid', message, {
      at: 'ports',
      remedy: 'Set grpc_address to an address of the network, or remove ports.',
    });
  }

  return async (name: string, given: Launch, signal: AbortSignal): Promise<Outcome> => {
    try {
      const { network, boot } = brokerReach(config, given.boot, engine);
      mustPublish(network);
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
  };
}

/** The fault of one name; an unclear one is thrown, since it says nothing about the name. */
export function outcomeOf(name: string, thrown: unknown): Outcome {
  const fault = Fault.from(thrown);
  if (isUnclear(fault.kind)) throw fault;
  return { name, fault };
}
