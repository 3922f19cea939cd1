// The Docker engine's API, as far as this provider and the docker command use it, in the words of version 20.10. It
// knows nothing of the provider.
import { hash } from 'node:crypto';
import type { Clock } from '#core/clock.ts';
import { type Answering, openAnswering, type RecordedCall } from '#fakes/answering.ts';
import { refusal } from '#fakes/refusal.ts';
import { filesIn } from './archive.ts';
import { type FakeBuilds, openBuilds } from './builds.ts';
import { detailsOf, type FakeContainer, stateAt, summaryOf } from './container.ts';
import { type FakeEvents, openEvents } from './events.ts';
import { type FakeImages, fullName, openImages } from './images.ts';
import { bind } from './ports.ts';
import { type EngineCall, readCall } from './wire.ts';

export interface FakeEngineOptions {
  readonly clock: Clock;
  /** From its start until the agent of a container is up. */
  readonly bootMs?: number;
  /** From SIGTERM until a container has ended. */
  readonly stopMs?: number;
  /** Of each step of a build. */
  readonly stepMs?: number;
  readonly apiVersion?: string;
  readonly operatingSystem?: string;
}

export interface FakeEngine extends Answering<EngineCall, EngineCall & RecordedCall> {
  /** All containers that ever were. */
  readonly containers: readonly FakeContainer[];
  readonly images: FakeImages;
  readonly builds: FakeBuilds;
  readonly events: FakeEvents;
  /** Networks that there are beside those of the engine itself. */
  readonly networks: Set<string>;
  /** Drivers for devices; none without the toolkit of their maker. */
  readonly drivers: Set<string>;
  /** Ports of the machine that other programs have. */
  readonly busyPorts: Set<number>;
  /** Somebody starts a container by hand. */
  run(name: string, labels?: Readonly<Record<string, string>>, more?: object): FakeContainer;
  /** A container ends by itself. */
  die(
    container: FakeContainer,
    exitCode: number,
    how?: { readonly isOutOfMemory?: boolean; readonly log?: string },
  ): void;
  /** The next containers are started, and killed for want of memory. */
  refuseLate(count: number): void;
  watch(changed: (container: FakeContainer) => void): () => void;
}

const [BOOT_MS, STOP_MS] = [1_000, 200];
const STEP_MS = 100;
const LATE_MS = 500;
const NAME = /^\/?[a-zA-Z0-9][a-zA-Z0-9_.-]+$/;
const ENGINE_ID = 'FAKE:4AXA:UHAG:JOXX:YU2T:OUB3:CKXZ:HJQU:BVL6:PB7E:SRQJ:T5NR';

type Body = Readonly<Record<string, unknown>> & {
  readonly Image?: string;
  readonly Labels?: Readonly<Record<string, string>> | null;
  readonly HostConfig?: Readonly<Record<string, unknown>>;
};

/** A line of a log that is no terminal's has a header of eight bytes. */
function framed(line: string): Uint8Array {
  const text = new TextEncoder().encode(`${line}\n`);
  const frame = new Uint8Array(8 + text.length);
  frame.set([2, 0, 0, 0, 0, 0, text.length >> 8, text.length & 255]);
  frame.set(text, 8);
  return frame;
}

export function openFakeEngine(options: FakeEngineOptions): FakeEngine {
  const { clock, bootMs = BOOT_MS, stopMs = STOP_MS, stepMs = STEP_MS, apiVersion = '1.41' } = options;
  const containers: FakeContainer[] = [];
  const living = new Map<string, FakeContainer>();
  const images = openImages();
  const networks = new Set<string>();
  const drivers = new Set<string>();
  const busyPorts = new Set<number>();
  const watchers = new Set<(container: FakeContainer) => void>();
  const events = openEvents(clock);
  let late = 0;
  const empty = (status: number): Response => new Response(null, { status });

  function tell(container: FakeContainer, action: string, more: Readonly<Record<string, string>> = {}): void {
    events.send(container, action, more);
    for (const heard of watchers) heard(container);
  }

  function found({ subject }: EngineCall, because = ''): FakeContainer {
    const container =
      living.get(subject.replace(/^\//, '')) ?? [...living.values()].find(({ id }) => id.startsWith(subject));
    if (!container) throw refusal('not_found', `${because}No such container: ${subject}`, 404);
    return container;
  }

  function checkHost({ NetworkMode = 'default', DeviceRequests }: Readonly<Record<string, unknown>>): void {
    const network = String(NetworkMode);
    if (!['default', 'bridge', 'host', 'none'].includes(network) && !networks.has(network))
      throw refusal('not_found', `network ${network} not found`, 404);
    if (Array.isArray(DeviceRequests) && DeviceRequests.length > 0 && !drivers.has('nvidia'))
      throw refusal('system', 'could not select device driver "" with capabilities: [[gpu]]', 500);
  }

  function make(name: string, body: Body, imageId: string): FakeContainer {
    const madeAtMs = clock.now();
    const { Image = '', Labels, HostConfig = {} } = body;
    const id = hash('sha256', `container ${containers.length}`);
    const own = { id, name, image: Image, imageId, labels: Labels ?? {}, config: body, hostConfig: HostConfig };
    const container: FakeContainer = {
      ...own,
      madeAtMs,
      files: new Map(),
      log: [],
      bootMs,
      ports: [],
      timeline: [{ atMs: madeAtMs, state: 'created' }],
    };
    containers.push(container);
    living.set(id, container);
    living.set(name, container);
    tell(container, 'create');
    return container;
  }

  function create({ query, body }: EngineCall): Response {
    const wanted = body as Body;
    const imageId = images.idOf(wanted.Image ?? '');
    const { name = `${['calm', 'odd', 'proud'][containers.length % 3]}_${containers.length}` } = query;
    if (!NAME.test(name))
      throw refusal(
        'bad_parameter',
        `Invalid container name (${name}), only [a-zA-Z0-9][a-zA-Z0-9_.-] are allowed`,
        400,
      );
    const other = living.get(name);
    if (other) {
      const said = `Conflict. The container name "/${name}" is already in use by container "${other.id}". You have to remove (or rename) that container to be able to reuse that name.`;
      throw refusal('conflict', said, 409);
    }
    return Response.json({ Id: make(name, wanted, imageId).id, Warnings: [] }, { status: 201 });
  }

  function end(container: FakeContainer, exitCode: number, isOutOfMemory = false): void {
    const atMs = clock.now();
    container.timeline = [
      ...container.timeline.filter((step) => step.atMs <= atMs),
      { atMs, state: 'exited', exitCode, isOutOfMemory },
    ];
    if (isOutOfMemory) events.send(container, 'oom', {});
    tell(container, 'die', { exitCode: String(exitCode) });
  }

  function begin(container: FakeContainer): Response {
    const state = stateAt(container, clock.now());
    if (state === 'running') return empty(304);
    checkHost(container.hostConfig);
    const atMs = clock.now();
    const others = containers.filter((one) => stateAt(one, atMs) === 'running');
    container.ports = bind(container, { others, busy: busyPorts });
    container.timeline = [...container.timeline, { atMs, state: 'running' }];
    tell(container, 'start');
    if (late > 0) {
      late -= 1;
      clock.alarm(LATE_MS, () => end(container, 137, true));
    }
    return empty(204);
  }

  async function stop(container: FakeContainer): Promise<Response> {
    if (stateAt(container, clock.now()) !== 'running') return empty(304);
    events.send(container, 'kill', { signal: '15' });
    await clock.sleep(stopMs);
    if (stateAt(container, clock.now()) === 'running') end(container, 0);
    tell(container, 'stop');
    return empty(204);
  }

  function remove(container: FakeContainer, isForced: boolean): Response {
    const nowMs = clock.now();
    if (stateAt(container, nowMs) === 'running') {
      if (!isForced) {
        const said = `You cannot remove a running container ${container.id}. Stop the container before attempting removal or force remove`;
        throw refusal('conflict', said, 409);
      }
      end(container, 137);
    }
    container.timeline = [...container.timeline, { atMs: nowMs, state: 'gone' }];
    living.delete(container.id);
    living.delete(container.name);
    tell(container, 'destroy');
    return empty(204);
  }

  function list({ query: { all, filters = '{}' } }: EngineCall): Response {
    const { label = [], publish } = JSON.parse(filters) as {
      readonly label?: readonly string[] | Readonly<Record<string, boolean>>;
      readonly publish?: readonly string[];
    };
    const wanted = Array.isArray(label) ? label : Object.keys(label);
    const nowMs = clock.now();
    const isAll = all !== undefined && all !== '0' && all !== 'false';
    const shown = new Set([...living.values()].filter((one) => isAll || stateAt(one, nowMs) === 'running'));
    const isPublished = ({ ports }: FakeContainer): boolean =>
      publish === undefined || ports.some(({ PublicPort, Type }) => publish.includes(`${PublicPort}/${Type}`));
    const matching = [...shown].filter(isPublished).filter(({ labels }) =>
      wanted.every((pair: string) => {
        const [key = '', ...value] = pair.split('=');
        return value.length === 0 ? key in labels : labels[key] === value.join('=');
      }),
    );
    // The newest first.
    return Response.json(matching.toReversed().map((one) => summaryOf(one, nowMs)));
  }

  function put(container: FakeContainer, { query: { path = '/' }, bytes }: EngineCall): Response {
    for (const [name, text] of filesIn(bytes))
      container.files.set(`${path.replace(/\/*$/, '/')}${name.replace(/^\.?\//, '')}`, text);
    tell(container, 'extract-to-dir');
    return empty(200);
  }

  const stat = ({ query: { path = '/' } }: EngineCall): Response => {
    const described = {
      name: path.split('/').at(-1),
      size: 4096,
      mode: 2147484141,
      mtime: new Date(clock.now()).toISOString(),
      linkTarget: '',
    };
    return new Response(null, { headers: { 'x-docker-container-path-stat': btoa(JSON.stringify(described)) } });
  };

  function logs({ log }: FakeContainer, { query: { tail = 'all' } }: EngineCall): Response {
    const lines = tail === 'all' ? log : log.slice(-Number(tail));
    return new Response(new Blob(lines.map((line) => framed(line) as Uint8Array<ArrayBuffer>)));
  }

  const builds = openBuilds({
    clock,
    images,
    stepMs,
    runStep(labels) {
      const container = make(`step_${containers.length}`, { Image: '', Labels: labels }, '');
      container.timeline = [...container.timeline, { atMs: clock.now(), state: 'running' }];
      // It may have been removed by force.
      return () => void (living.has(container.id) && remove(container, true));
    },
  });

  const about = { 'api-version': apiVersion, ostype: 'linux', server: 'Docker/20.10.24 (linux)' };
  const actions: Readonly<Record<string, (call: EngineCall, signal: AbortSignal) => Response | Promise<Response>>> = {
    ping: () => new Response('OK', { headers: about }),
    version: () =>
      Response.json({
        Version: '20.10.24',
        ApiVersion: apiVersion,
        MinAPIVersion: '1.12',
        Os: 'linux',
        Arch: 'amd64',
        Components: [{ Name: 'Engine', Version: '20.10.24', Details: {} }],
      }),
    info: () =>
      Response.json({
        ID: ENGINE_ID,
        Name: 'fake',
        OperatingSystem: options.operatingSystem ?? 'Debian GNU/Linux 12 (bookworm)',
        OSType: 'linux',
        ServerVersion: '20.10.24',
        Containers: living.size / 2,
        Images: images.local.size,
      }),
    events: (call, signal) => events.stream(call, signal),
    list,
    create,
    inspect: (call) => Response.json(detailsOf(found(call), clock.now())),
    logs: (call) => logs(found(call), call),
    stat: (call) => found(call) && stat(call),
    put: (call) => put(found(call), call),
    start: (call) => begin(found(call)),
    stop: (call) => stop(found(call)),
    kill(call) {
      const because = `Cannot kill container: ${call.subject}: `;
      const container = found(call, because);
      if (stateAt(container, clock.now()) !== 'running')
        throw refusal('conflict', `${because}Container ${container.id} is not running`, 409);
      events.send(container, 'kill', { signal: '9' });
      end(container, 137);
      return empty(204);
    },
    delete: (call) => remove(found(call), ['1', 'true'].includes(call.query.force ?? '')),
    pull: (call) => images.pull(call),
    image({ subject }) {
      const Id = images.idOf(subject);
      const Config = { Labels: builds.layers.get(Id)?.labels ?? null };
      return Response.json({ Id, RepoTags: [fullName(subject)], Config });
    },
    images: builds.list,
    build: builds.build,
    tag: builds.tag,
    push: builds.push,
    'delete image': builds.remove,
  };

  const answering = openAnswering<EngineCall, EngineCall & RecordedCall>(
    {
      read: readCall,
      record: (call, atMs) => ({ ...call, atMs, outcome: 'open' }),
      answer(call, signal) {
        const act = actions[call.action];
        if (!act) throw refusal('not_found', 'page not found', 404);
        return act(call, signal);
      },
      refuse: (_call, { message, status }) => Response.json({ message }, { status, headers: about }),
      tooMuch: () => refusal('too_many_requests', 'too many requests', 429),
    },
    clock,
  );
  return {
    ...answering,
    containers,
    images,
    builds,
    events,
    networks,
    drivers,
    busyPorts,
    run(name, labels = {}, more = {}) {
      const image = 'others/program';
      const container = make(name, { Image: image, Labels: labels, ...more }, images.build(image));
      begin(container);
      return container;
    },
    die(container, exitCode, { isOutOfMemory = false, log } = {}) {
      if (log !== undefined) container.log.push(...log.split('\n'));
      end(container, exitCode, isOutOfMemory);
    },
    refuseLate(count) {
      late = count;
    },
    watch(heard) {
      watchers.add(heard);
      return () => void watchers.delete(heard);
    },
  };
}
