import { nextStepMs, type Step, stepAt } from '#fakes/timeline.ts';
import type { PublishedPort } from './ports.ts';

type State = 'created' | 'running' | 'exited' | 'gone';

interface ContainerStep extends Step<State> {
  readonly exitCode?: number;
  readonly isOutOfMemory?: boolean;
}

/** A container as the engine keeps it. */
export interface FakeContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly imageId: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The body of its creation. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly hostConfig: Readonly<Record<string, unknown>>;
  readonly madeAtMs: number;
  /** What was put into it, by path. */
  readonly files: Map<string, string>;
  /** What it wrote to its standard error. */
  readonly log: string[];
  /** Its processes are up so long after its start. */
  readonly bootMs: number;
  /** Those of its machine that lead to it, since its last start. */
  ports: readonly PublishedPort[];
  timeline: readonly ContainerStep[];
}

export const stepOf = ({ timeline }: FakeContainer, nowMs: number): ContainerStep =>
  stepAt(timeline, nowMs) ?? { atMs: 0, state: 'created' };

export const stateAt = (container: FakeContainer, nowMs: number): State => stepOf(container, nowMs).state;

/** When its agent is up, while it runs. */
export const upAtMs = ({ timeline, bootMs }: FakeContainer): number | undefined => {
  const started = timeline.find(({ state }) => state === 'running');
  return started && started.atMs + bootMs;
};

/** When something about it changes next. */
export function nextChangeMs(container: FakeContainer, nowMs: number): number | undefined {
  const changes = [nextStepMs(container.timeline, nowMs), upAtMs(container)];
  const coming = changes.filter((atMs): atMs is number => atMs !== undefined && atMs > nowMs);
  return coming.length === 0 ? undefined : Math.min(...coming);
}

const ago = (ms: number): string => (ms < 1_000 ? 'Less than a second' : `${Math.floor(ms / 1_000)} seconds`);

function statusOf(container: FakeContainer, nowMs: number): string {
  const { state, atMs, exitCode = 0 } = stepOf(container, nowMs);
  if (state === 'created') return 'Created';
  return state === 'running' ? `Up ${ago(nowMs - atMs)}` : `Exited (${exitCode}) ${ago(nowMs - atMs)} ago`;
}

/** Numbers in place of a network: one address for each container. */
export const addressOf = ({ id }: FakeContainer): string =>
  `172.17.${Number.parseInt(id.slice(0, 2), 16)}.${Number.parseInt(id.slice(2, 4), 16)}`;

function networksOf(container: FakeContainer, nowMs: number): Readonly<Record<string, unknown>> {
  const mode = String(container.hostConfig.NetworkMode ?? 'default');
  const isUp = stateAt(container, nowMs) === 'running' && mode !== 'host' && mode !== 'none';
  return { [mode === 'default' ? 'bridge' : mode]: { IPAddress: isUp ? addressOf(container) : '' } };
}

/** As the listing shows it. */
export function summaryOf(container: FakeContainer, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, name, image, imageId, labels, hostConfig, madeAtMs } = container;
  return {
    Id: id,
    Names: [`/${name}`],
    Image: image,
    ImageID: imageId,
    Command: '/opt/muster/bin/muster',
    Created: Math.floor(madeAtMs / 1_000),
    Ports: stateAt(container, nowMs) === 'running' ? container.ports : [],
    Labels: labels,
    State: stateAt(container, nowMs),
    Status: statusOf(container, nowMs),
    HostConfig: { NetworkMode: hostConfig.NetworkMode ?? 'default' },
    NetworkSettings: { Networks: networksOf(container, nowMs) },
    Mounts: [],
  };
}

/** As it is inspected. */
export function detailsOf(container: FakeContainer, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, name, image, imageId, labels, config, hostConfig, madeAtMs } = container;
  const { state, exitCode = 0, isOutOfMemory = false } = stepOf(container, nowMs);
  const { HostConfig: _host, ...rest } = config;
  return {
    Id: id,
    Name: `/${name}`,
    Created: new Date(madeAtMs).toISOString(),
    Image: imageId,
    State: {
      Status: state,
      Running: state === 'running',
      ExitCode: exitCode,
      OOMKilled: isOutOfMemory,
      Error: '',
    },
    Config: { User: '', ...rest, Image: image, Labels: labels },
    HostConfig: { NetworkMode: 'default', ...hostConfig },
    NetworkSettings: { Networks: networksOf(container, nowMs) },
  };
}
