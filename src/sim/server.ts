// The server process: it starts from its disk, dies, and starts again; all else in the world goes on.
import type { AgentLink } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import { type Log, silentLog } from '#core/log.ts';
import type { Context } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { openShared } from '#core/shared.ts';
import type { Change, Store } from '#core/store.ts';
import { makeRedactor } from '#journal/redact.ts';
import { type Plane, type PlaneParts, startPlane } from '#program/plane.ts';
import type { Driver } from '#store/driver.ts';
import { type Disk, memoryDriver } from '#store/memory.ts';
import { openStore } from '#store/store.ts';
import type { CrashPoint, CrashPoints } from './crash-points.ts';
import { modelHere } from './model-here.ts';
import type { Network } from './network.ts';
import { processClock } from './process-clock.ts';
import { commandOf } from './work.ts';

/** One life of the server, from its start to its death. */
export interface Life extends Plane {
  readonly store: Store;
  /** Resolves when so many sessions of that length are durable. */
  submit(pool: string, count: number, durationMs: number): Promise<void>;
}

/** What a composition may use of the process that it is made for. */
export interface LifeProcess {
  readonly store: Store;
  /** Without a network. */
  readonly context: Context;
  readonly died: AbortSignal;
  isAlive(): boolean;
  /** One call that the process may not survive, or may not hear the answer to. */
  call<T>(act: () => Promise<T>): Promise<T>;
}

type Composition = Pick<PlaneParts, 'kinds' | 'sources' | 'agentConfig'> & Partial<PlaneParts>;

/** How a use of the world composes its server, and where it looks on. */
export interface ServerHooks {
  readonly log?: Log | undefined;
  random(life: number): Random;
  compose(process: LifeProcess): Composition | Promise<Composition>;
  /** Instead of the program's: for tests that look into it. */
  readonly startPlane?: typeof startPlane | undefined;
  /** How long it is down after a crash; absent: until it is started. */
  downMs?(): number;
  wrapDriver?(driver: Driver, isAlive: () => boolean): Driver;
  wrapStore?(store: Store, isAlive: () => boolean): Store;
  /** Right before the disk has them, so that who looks at the disk is in step with it. */
  written?(changes: readonly Change[]): void;
  /** Right before it leaves. */
  sending?(...sent: Parameters<AgentLink['send']>): void;
  joined?(agent: string): void;
  starting?(): void;
  started?(life: Life): void;
  crashed?(why: string): void;
  /** It is down, for whatever reason. */
  ended?(): void;
}

export interface ServerOptions extends ServerHooks {
  readonly clock: Clock;
  /** All that a restart finds. */
  readonly disk: Disk;
  readonly network: Network;
  readonly crashPoints: CrashPoints;
}

export interface Server {
  /** Absent while it is down or starting. */
  readonly life: Life | undefined;
  /** The life that is, or was last. */
  readonly lastLife: Life;
  start(): Promise<void>;
  /** As kill -9: nothing of it acts any more. */
  crash(why: string): void;
  /** The same without a crash, where it was up: the next starts after that time, or when it is asked to. */
  end(nextAfterMs: number | undefined): boolean;
}

const ACTOR = { who: 'test', from: 'here' };

const never = (): Promise<never> => new Promise(() => {});

export function openServer(options: ServerOptions): Server {
  const { disk, network, crashPoints, log = silentLog } = options;
  let life: Life | undefined;
  let lastLife: Life | undefined;
  let kill: (() => void) | undefined;

  function crash(why: string): void {
    if (!kill) return;
    options.crashed?.(why);
    end(options.downMs?.());
  }

  function end(nextAfterMs: number | undefined): boolean {
    if (!kill) return false;
    kill();
    kill = undefined;
    life = undefined;
    network.shut();
    options.ended?.();
    if (nextAfterMs !== undefined) options.clock.alarm(nextAfterMs, () => void start());
    return true;
  }

  async function dieAt(point: CrashPoint, act: () => Promise<unknown>): Promise<never> {
    if (point.isDone) await act();
    crash(`at a ${point.at}`);
    return never();
  }

  /** Not async where nothing goes wrong: a simulated day has a hundred thousand commits. */
  function throughDisk(write: () => Promise<void>): Promise<void> {
    const point = crashPoints.atCommit();
    if (point) return dieAt(point, write);
    const slow = crashPoints.disk();
    return slow === undefined ? write() : slow.then(write);
  }

  function processDriver(isAlive: () => boolean): Driver {
    const driver = memoryDriver(disk);
    const own: Driver = {
      ...driver,
      async write(changes) {
        if (!isAlive()) return never();
        await throughDisk(() => {
          if (!isAlive()) return never();
          options.written?.(changes);
          return driver.write(changes);
        });
        if (!isAlive()) await never();
      },
    };
    return options.wrapDriver?.(own, isAlive) ?? own;
  }

  async function callAlive<T>(isAlive: () => boolean, act: () => Promise<T>): Promise<T> {
    if (!isAlive()) return never();
    const point = crashPoints.atCall();
    if (point) return dieAt(point, act);
    const done = await act();
    return isAlive() ? done : never();
  }

  /** Nothing of a dead server reaches an agent any more. */
  function processLink(isAlive: () => boolean): AgentLink {
    return {
      send(agent, command) {
        if (!isAlive()) return false;
        const point = crashPoints.atMessage();
        if (point && !point.isDone) {
          crash('at a message');
          return false;
        }
        options.sending?.(agent, command);
        const isSent = network.send(agent, command);
        if (point) crash('at a message');
        return isSent;
      },
      dismiss(agent, why) {
        if (isAlive()) network.dismiss(agent, why);
      },
    };
  }

  async function compose(isAlive: () => boolean, died: AbortSignal): Promise<Life> {
    const clock = processClock(options.clock, isAlive);
    const opened = await openStore(processDriver(isAlive), () => crash('its disk failed'));
    const random = options.random(opened.epoch);
    const store = options.wrapStore?.(opened, isAlive) ?? opened;
    const context: Context = {
      cluster: store.cluster,
      clock,
      random,
      log,
      fetch: () => Promise.reject(new Fault('unsupported', 'A simulated world has no network.')),
      shared: openShared(),
      dataDir: '/nowhere',
      agentCommand: [],
    };
    const composition = await options.compose({
      store,
      context,
      died,
      isAlive,
      call: (act) => callAlive(isAlive, act),
    });
    const { startPlane: startAny = startPlane } = options;
    const link = processLink(isAlive);
    const plane = await startAny({
      store,
      clock,
      random,
      log,
      redactor: makeRedactor(),
      context,
      link,
      model: modelHere,
      ...composition,
    });
    return {
      ...plane,
      store,
      async submit(pool, count, durationMs) {
        const command = commandOf({ durationMs, exitCode: 0, pieces: 0 });
        const spec = { command, env: {}, stdin: false, priority: 0, labels: {}, graceMs: 0, retries: 3 };
        await plane.sessions.submit(Array(count).fill({ pool, spec }), ACTOR);
      },
    };
  }

  async function start(): Promise<void> {
    const dying = new AbortController();
    let isDead = false;
    kill = () => {
      isDead = true;
      dying.abort();
    };
    options.starting?.();
    try {
      const born = await compose(() => !isDead, dying.signal);
      if (isDead) return;
      life = born;
      lastLife = born;
      listen(born);
      options.started?.(born);
    } catch (thrown) {
      if (isDead) return;
      if (!options.downMs) throw thrown;
      crash(`it could not start: ${Fault.from(thrown).message}`);
    }
  }

  function listen({ machines, sessions }: Life): void {
    network.open({
      async join(hello, proof) {
        const agent = await machines.join(hello, proof);
        options.joined?.(agent.id);
        return agent;
      },
      leave: machines.leave,
      agentJoined: sessions.agentJoined,
      report: sessions.report,
    });
  }

  return {
    get life() {
      return life;
    },
    get lastLife() {
      return lastLife as Life;
    },
    start,
    crash,
    end,
  };
}
