// Those who ask for sessions: at all hours, more by day, and again with the same key until they are answered.

import type { Clock } from '#core/clock.ts';
import { DAY_MS } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Session, SessionSpec } from '#core/session.ts';
import type { SessionRequest, Sessions } from '#sessions/sessions.ts';
import type { Chance } from './chance.ts';
import { commandOf } from './work.ts';

export interface LoadOptions {
  readonly clock: Clock;
  readonly chance: Chance;
  /** On average over a day. */
  readonly sessionsPerPoolHour: number;
  readonly meanMs: number;
  /** Whether some are killed by those who asked, or have too short a limit. */
  readonly isMoody: boolean;
  pools(): readonly string[];
  /** The server confirmed to them that these are accepted. */
  accepted(sessions: readonly Session[], job: Job): void;
}

/** One request, until it is answered. */
export interface Job {
  readonly key: string;
  readonly requests: readonly SessionRequest[];
  readonly askedMs: number;
}

/** What takes the requests: the server, as far as callers use it. */
export type SessionServer = Pick<Sessions, 'submit' | 'kill'>;

export interface Load {
  start(): void;
  stop(): void;
  /** Somebody takes requests again: all that was not answered is asked again. */
  open(server: SessionServer): void;
  shut(): void;
  submit(requests: readonly SessionRequest[]): void;
  readonly unanswered: number;
  /** Sessions that no pool would take. */
  readonly turnedAway: number;
}

const ACTOR = { who: 'client', from: '10.1.0.1' };
const MOST_MS = 30 * 60_000;
const AGAIN_MS = 2_000;

export function openLoad(options: LoadOptions): Load {
  const { clock, chance, meanMs } = options;
  const waiting = new Set<Job>();
  let server: SessionServer | undefined;
  let isRunning = false;
  let jobs = 0;
  let turnedAway = 0;

  /** Between a third of the average at night and five thirds by day. */
  const shapeOfDay = (): number => 1 - (2 / 3) * Math.cos((clock.monotonic() / DAY_MS) * 2 * Math.PI);

  function next(): void {
    const perJob = 1.8;
    const perHour = (options.pools().length * options.sessionsPerPoolHour * shapeOfDay()) / perJob;
    if (perHour <= 0) return;
    clock.alarm(chance.exponentialMs(3_600_000 / perHour), () => {
      if (!isRunning) return;
      ask();
      next();
    });
  }

  function ask(): void {
    const pool = chance.pick(options.pools());
    const count = chance.happens(0.2) ? chance.whole(2, 8) : 1;
    submit(Array.from({ length: count }, () => ({ pool, spec: someSpec() })));
  }

  function someSpec(): SessionSpec {
    const durationMs = Math.min(MOST_MS, 1_000 + chance.exponentialMs(meanMs));
    const isShort = options.isMoody && chance.happens(0.03);
    return {
      command: commandOf({ durationMs, exitCode: chance.pick([0, 0, 0, 1]), pieces: chance.whole(0, 3) }),
      env: {},
      stdin: false,
      priority: chance.pick([0, 0, 0, 1, 5]),
      labels: {},
      graceMs: 5_000,
      retries: chance.pick([0, 1, 3]),
      ...(isShort && { timeoutMs: Math.max(1_000, Math.round(durationMs / 2)) }),
    };
  }

  function submit(requests: readonly SessionRequest[]): void {
    jobs += 1;
    const job: Job = { key: `job-${jobs}`, requests, askedMs: clock.monotonic() };
    waiting.add(job);
    bring(job);
  }

  function bring(job: Job): void {
    const asked = server;
    if (!asked) return;
    // Who knows that the server never dies need not be able to ask twice.
    asked.submit(job.requests, ACTOR, options.isMoody ? job.key : undefined).then(
      (sessions) => {
        if (asked !== server || !waiting.delete(job)) return;
        options.accepted(sessions, job);
        if (options.isMoody && chance.happens(0.03)) regret(sessions);
      },
      (thrown) => {
        if (asked !== server || !waiting.has(job)) return;
        if (isFinal(Fault.from(thrown))) {
          waiting.delete(job);
          turnedAway += job.requests.length;
        } else clock.alarm(AGAIN_MS, () => asked === server && bring(job));
      },
    );
  }

  const isFinal = ({ kind }: Fault): boolean => kind === 'missing' || kind === 'conflict' || kind === 'invalid';

  function regret(sessions: readonly Session[]): void {
    clock.alarm(chance.exponentialMs(meanMs), () => {
      for (const { id } of sessions) server?.kill(id, chance.happens(0.3), ACTOR).catch(() => {});
    });
  }

  return {
    start() {
      isRunning = true;
      next();
    },
    stop: () => {
      isRunning = false;
    },
    open(opened) {
      server = opened;
      for (const job of waiting) clock.alarm(chance.ms(0, AGAIN_MS), () => waiting.has(job) && bring(job));
    },
    shut: () => {
      server = undefined;
    },
    submit,
    get unanswered() {
      return waiting.size;
    },
    get turnedAway() {
      return turnedAway;
    },
  };
}
