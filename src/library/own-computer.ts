// What the classes do: set a computer up, ask for it, tear it down. Each is durable before it acts, so that the next run
// goes on where a crashed one ended.
import { offerFor } from '#computers/offer.ts';
import { type Clock, DAY_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Computer, ComputerCaller, ComputerStatus, ShownComputer } from '#core/computer.ts';
import { Fault } from '#core/fault.ts';
import type { MachineEndpoint } from '#core/provider.ts';
import type { ComposeOptions, ComputerPlane } from './compose.ts';
import { addressOf, healthyEndpoint } from './health.ts';
import { openedPlane } from './opened-plane.ts';
import type { LibraryParts } from './parts.ts';
import { TimeoutError } from './timeout-error.ts';

export interface OwnComputerOptions extends Omit<ComposeOptions, 'news'> {
  readonly name: string;
  readonly platform: string;
  /** Of the platform alone. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What they come to. */
  readonly backend: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly ttlMs: number | 'off';
}

export interface FoundComputer {
  readonly status: ComputerStatus;
  /** Where it answers as healthy; absent: it does not run. */
  readonly endpoint: MachineEndpoint | undefined;
}

/** The computer of one folder. */
export interface OwnComputer {
  /** Resolves with where it answers. What it made is removed where that fails. */
  setup(): Promise<MachineEndpoint>;
  /** Resolves when nothing is left. */
  teardown(): Promise<void>;
  /** Undefined: there is none. */
  find(): Promise<FoundComputer | undefined>;
  /** Lets other processes use the computer, and leaves it as it is. */
  close(): void;
}

interface Wait {
  readonly untilMs: number;
  readonly remedy: string;
}

const CALLER: ComputerCaller = { who: 'script', from: 'library', token: 'script', isAdmin: true };
// The wait is that of a run, and the next run waits anew: what is stored only ends what no run comes back for.
const STORED_TIMEOUT_SECONDS = DAY_MS / SECOND_MS;
const LISTED_WITHIN_MS = MINUTE_MS;

const SET_UP_AGAIN =
  'Let this process reach the port of the computer (security group, firewall), or give a longer timeout, and call setup again.';
const TEAR_DOWN_AGAIN = 'Call teardown again: it goes on where this one has ended.';

/** What there is, as far as that is known, for the error of a wait that was too long. */
function seen(plane: ComputerPlane, shown: ShownComputer | undefined): string {
  if (!shown) return 'it is not there';
  const trouble = plane.trouble(shown);
  if (trouble) return trouble.message;
  const { computer, machine, endpoints } = shown;
  if (computer.removal) return 'the platform has not confirmed that its machine is gone';
  if (machine?.createdAt === undefined) return computer.refused?.message ?? 'the platform has not made its machine';
  if (endpoints.length === 0) return 'its machine does not run yet, or has no address';
  return `GET /health does not answer at ${endpoints.map(addressOf).join(', ')}`;
}

function failureOf({ failure, removal }: Computer): Fault | undefined {
  if (removal) return new Fault('conflict', `It was torn down while it was set up: ${removal.why}`);
  if (!failure) return undefined;
  const { kind, message, remedy } = failure;
  return new Fault(kind, message, { remedy });
}

export function openOwnComputer(parts: LibraryParts, options: OwnComputerOptions): OwnComputer {
  const { clock } = parts;
  const { name, platform, timeoutMs, log } = options;
  const opened = openedPlane(parts, options);
  const found = ({ computers }: ComputerPlane): ShownComputer | undefined => computers.find(name);

  /** Resolves with what `check` answers once it answers anything; a `TimeoutError` says what there was. */
  async function until<T>(
    plane: ComputerPlane,
    { untilMs, remedy }: Wait,
    check: (shown: ShownComputer | undefined) => T | undefined,
  ): Promise<T> {
    for (;;) {
      const answer = check(found(plane));
      if (answer !== undefined) return answer;
      if (clock.monotonic() >= untilMs) {
        const timedOut = new TimeoutError(seen(plane, found(plane)), remedy);
        throw timedOut;
      }
      await nextNews(clock, opened.onNews, untilMs);
    }
  }

  async function removed(plane: ComputerPlane, why: string): Promise<void> {
    if (!found(plane)) return;
    await plane.computers.remove(name, CALLER, why);
    const wait = { untilMs: clock.monotonic() + timeoutMs, remedy: TEAR_DOWN_AGAIN };
    await until(plane, wait, (shown) => (shown ? undefined : true));
    await plane.store.durable();
  }

  /** The computer of an earlier run, unless that one has failed or is being removed. */
  async function earlier(plane: ComputerPlane): Promise<Computer | undefined> {
    const { computer } = found(plane) ?? {};
    if (!computer) return undefined;
    const { removal, failure } = computer;
    if (removal || failure) {
      log('info', removal ? 'Finishing an earlier teardown' : 'Removing an earlier setup that has failed');
      await removed(plane, 'Set up again');
      return undefined;
    }
    if (computer.platform !== platform || computer.offer.id !== offerFor(parts.kinds, options.backend).id)
      throw new Fault('conflict', `There is a computer ${name} already, on ${computer.platform}, with other options.`, {
        remedy: 'Tear it down first, set it up with the same options, or give another `name`.',
      });
    log('info', 'Found the computer of an earlier run');
    return computer;
  }

  function runningAt(plane: ComputerPlane, shown: ShownComputer | undefined): MachineEndpoint | undefined {
    if (!shown) throw new Fault('conflict', 'It was torn down while it was set up.');
    const failure = failureOf(shown.computer);
    if (failure) throw failure;
    return shown.status === 'running' && plane.isListed(shown) ? plane.healthyAt(shown) : undefined;
  }

  async function cleanUp(plane: ComputerPlane): Promise<void> {
    try {
      await removed(plane, 'Its setup has failed');
    } catch (thrown) {
      log('error', `Not all of it could be removed: ${Fault.from(thrown).message} ${TEAR_DOWN_AGAIN}`);
    }
  }

  async function setUp(plane: ComputerPlane): Promise<MachineEndpoint> {
    const untilMs = clock.monotonic() + timeoutMs;
    const before = await earlier(plane);
    try {
      if (!before) {
        const own = { ...options.options, timeout: STORED_TIMEOUT_SECONDS };
        await plane.computers.create({ name, platform, options: own, ttlMs: options.ttlMs }, CALLER);
      }
      const wait = { untilMs, remedy: SET_UP_AGAIN };
      return await until(plane, wait, (shown) => runningAt(plane, shown));
    } catch (thrown) {
      // One that ran before this setup may hold work.
      if (before?.runningAt === undefined) await cleanUp(plane);
      throw thrown;
    }
  }

  return {
    setup: () =>
      opened.use(async (plane) => {
        opened.keep();
        try {
          return await setUp(plane);
        } catch (thrown) {
          opened.release();
          throw thrown;
        }
      }),
    async teardown() {
      if (!parts.isUsed(options.folder)) return;
      await opened.use(async (plane) => {
        opened.release();
        await removed(plane, 'Torn down');
      });
    },
    async find() {
      if (!parts.isUsed(options.folder)) return undefined;
      return opened.use(async (plane) => {
        if (!found(plane)) return undefined;
        const wait = { untilMs: clock.monotonic() + LISTED_WITHIN_MS, remedy: 'Ask again.' };
        await until(plane, wait, (shown) => isKnown(plane, shown));
        const shown = found(plane);
        if (!shown) return undefined;
        const { status, endpoints } = shown;
        const isUp = status === 'running' || status === 'starting';
        const endpoint = isUp ? await healthyEndpoint({ clock, fetch: parts.probe }, endpoints) : undefined;
        return { status: endpoint ? 'running' : status, endpoint };
      });
    },
    close: () => opened.release(),
  };
}

/** Whether its platform has answered; throws where that cannot be asked. */
function isKnown(plane: ComputerPlane, shown: ShownComputer | undefined): true | undefined {
  if (!shown) return true;
  const trouble = plane.trouble(shown);
  if (trouble) throw trouble;
  return plane.isListed(shown) || undefined;
}

/** Resolves at the next news, or at that time. */
async function nextNews(clock: Clock, onNews: (heard: () => void) => () => void, untilMs: number): Promise<void> {
  const news = new AbortController();
  const unhear = onNews(() => news.abort());
  await clock.sleep(untilMs - clock.monotonic(), news.signal);
  unhear();
}
