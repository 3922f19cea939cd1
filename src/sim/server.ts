// The server process: it starts from its disk, dies, and starts again; all else in the world goes on.
import type { AgentLink } from '#core/agent-link.ts';
import { Fault } from '#core/fault.ts';
import type { Change } from '#core/store.ts';
import type { Crashes, CrashPoint } from './crashes.ts';
import type { Definitions } from './definitions.ts';
import { indexEnded } from './ended-by-key.ts';
import type { Ground } from './ground.ts';
import type { Laws } from './laws/laws.ts';
import { type Life, type LifeHooks, startLife } from './life.ts';
import type { Load } from './load.ts';
import type { Door, Network } from './network.ts';
import { countOccasions, countReplacement } from './occasions.ts';

export interface Server {
  /** Absent while it is down or starting. */
  readonly life: Life | undefined;
  start(): Promise<void>;
  /** As kill -9: nothing of it acts any more; it is started again after a while. */
  crash(why: string): void;
  /** Another process takes the lease: nothing of the former holder counts any more but what has left it. */
  takeOver(afterMs: number): void;
}

export interface ServerOptions extends Ground {
  readonly definitions: Definitions;
  readonly network: Network;
  readonly load: Load;
  readonly laws: Laws;
  readonly crashes: Crashes;
  readonly sabotage: Pick<LifeHooks, 'wrapBackend' | 'wrapDriver'>;
}

const SHORTEST_DOWN_MS = 1_000;
const LONGEST_DOWN_MS = 45_000;

export function openServer(options: ServerOptions): Server {
  const { clock, network, load, laws, crashes, figures, happenings } = options;
  const ended = indexEnded();
  const downtime = options.chance('down');
  let lives = 0;
  let life: Life | undefined;
  let kill: (() => void) | undefined;

  function crash(why: string): void {
    if (!kill) return;
    figures.crashes += 1;
    happenings.note('server died', why);
    end(kill, downtime.ms(SHORTEST_DOWN_MS, LONGEST_DOWN_MS));
  }

  function takeOver(afterMs: number): void {
    if (!kill) return;
    happenings.note('takeover');
    end(kill, afterMs);
    figures.occasions.takeover += 1;
  }

  function end(killed: () => void, nextAfterMs: number): void {
    killed();
    kill = undefined;
    life = undefined;
    network.shut();
    load.shut();
    clock.alarm(nextAfterMs, () => void start());
  }

  /** All that the server says, looked at right before it leaves. */
  const link: AgentLink = {
    send(agent, command) {
      const point = crashes.atMessage();
      if (point && !point.isDone) {
        crash('at a message');
        return false;
      }
      laws.durability.sending(agent, command);
      const isSent = network.send(agent, command);
      if (point) crash('at a message');
      return isSent;
    },
    dismiss: network.dismiss,
  };

  /** Not async where nothing goes wrong: a simulated day has a hundred thousand commits. */
  function writing(_changes: readonly Change[], write: () => Promise<void>): Promise<void> {
    figures.commits += 1;
    const point = crashes.atCommit();
    if (point) return dyingAt(point, write);
    const slow = crashes.disk();
    return slow === undefined ? write() : slow.then(write);
  }

  async function dyingAt(point: CrashPoint, write: () => Promise<void>): Promise<void> {
    if (point.isDone) await write();
    crash('at a commit');
    return new Promise(() => {});
  }

  function hooks(isAlive: () => boolean): LifeHooks {
    return {
      ...options.sabotage,
      writing,
      written(changes) {
        laws.written(changes);
        for (const change of changes) note(options, change);
      },
      committing(changes) {
        if (!isAlive()) return;
        laws.committing(changes);
        for (const change of changes)
          if ('append' in change && change.append === 'decisions') countReplacement(change.row, figures.occasions);
      },
      creating(launch) {
        happenings.note('create', launch.names.join(' '));
        laws.durability.creating(launch);
      },
      deleting(machines) {
        happenings.note('delete', machines.map(({ name }) => name).join(' '));
        laws.durability.deleting(machines);
        laws.machines.deleting(machines);
      },
      opened(store) {
        laws.watch(store, isAlive);
        countOccasions(store, figures.occasions, isAlive);
      },
      fatal: () => crash('its disk failed'),
      passed: () => {
        figures.passes += 1;
      },
    };
  }

  async function start(): Promise<void> {
    let isDead = false;
    kill = () => {
      isDead = true;
    };
    lives += 1;
    const isAlive = (): boolean => !isDead;
    happenings.note('server starts', `life ${lives}`);
    const { random } = options.chance('life', lives);
    try {
      const born = await startLife({ ...options, random, ended, link, isAlive, hooks: hooks(isAlive) });
      if (isDead) return;
      life = born;
      network.open(doorOf(born, laws));
      load.open(born.plane.sessions);
    } catch (thrown) {
      if (!isDead) crash(`it could not start: ${Fault.from(thrown).message}`);
    }
  }

  return {
    get life() {
      return life;
    },
    start,
    crash,
    takeOver,
  };
}

function doorOf({ plane }: Life, laws: Laws): Door {
  const { machines, sessions } = plane;
  return {
    async join(hello, proof) {
      const agent = await machines.join(hello, proof);
      laws.durability.joined(agent.id);
      return agent;
    },
    leave: machines.leave,
    agentJoined: sessions.agentJoined,
    report: sessions.report,
  };
}

function note({ figures, happenings }: ServerOptions, change: Change): void {
  if (!('append' in change)) return;
  if (change.append === 'events') {
    happenings.note(change.row.kind, change.row);
    figures.events.set(change.row.kind, (figures.events.get(change.row.kind) ?? 0) + 1);
  }
  if (change.append !== 'decisions') return;
  const did = change.row.did.replace(/ \d+/g, '');
  figures.decisions.set(did, (figures.decisions.get(did) ?? 0) + 1);
}
