import type { AgentCommand, AgentReport } from '#core/agent-link.ts';
import type { Clock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import type { Random } from '#core/random.ts';
import { type Ending, isFromServer, isRefusedByServer, nextAddressDelayMs, reconnectDelayMs } from './backoff.ts';
import { type Connection, type ConnectionOptions, openConnection, type Welcome } from './connection.ts';
import type { DuplexCall, Line, LineOptions } from './dial.ts';
import type { VeldaTask } from './velda-peer.ts';

export interface UplinkOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly tasks: Map<string, VeldaTask>;
  /** Of the same broker, in the order in which they are tried; at least one. */
  readonly addresses: readonly string[];
  /** Dials one of them; called for each connection. */
  openLine(address: string, options: LineOptions): Promise<Line>;
  /** The first message, as of now. */
  hello(): ConnectionOptions['hello'];
  /** The broker has admitted us with this first message. */
  accepted(welcome: Welcome | undefined, hello: ConnectionOptions['hello']): void;
  /** The admitted connection has ended. */
  lost(): void;
  /** The newest connection has ended; a new one follows. */
  failed(ending: Ending): void;
  obey(command: AgentCommand): void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The connection to the broker; reconnects whenever it is lost. */
export interface Uplink {
  /** Dropped while we are not connected: the caller reports again then. */
  report(report: AgentReport): void;
  readonly isIn: boolean;
  /** Reconnects with a new first message; the newer connection replaces the present one. */
  rejoin(): void;
  /** Closes the connection for good; resolves when the broker has confirmed, or after a timeout. */
  leave(): Promise<void>;
  /** Another call to the broker; `unavailable` while we are not connected. */
  fetch(path: string, request: Uint8Array): AsyncIterable<Uint8Array>;
  /** A call with messages both ways; `unavailable` while we are not connected. */
  duplex(path: string, headers: Readonly<Record<string, string>>): DuplexCall;
}

const LEAVING_MS = 2_000;
const FIRST_ANSWER_MS = 20_000;
// A frozen process accepts connections, and never answers.
const OTHER_FIRST_ANSWER_MS = 5_000;

export function openUplink(options: UplinkOptions): Uplink {
  const { clock, log } = options;
  let accepted: Connection | undefined;
  // The one with the newest first message, until it ends.
  let latest: Connection | undefined;
  // Sessions that came after that message was made, by an older connection: once it is heard, the server takes them for
  // never come and places them anew, so they must not start; if it is not heard, they are refused.
  let unlisted: Extract<AgentCommand, { do: 'start' }>[] = [];
  // Counts dials: events of an older one are ignored.
  let newest = 0;
  // Rounds through all addresses without success.
  let failures = 0;
  // The address in use, and how many in a row have failed since the last admission.
  let at = 0;
  let failedAddresses = 0;
  let isForeign = false;
  let cancelRetry = (): void => {};
  let left: (() => void) | undefined;

  async function connect(): Promise<void> {
    newest += 1;
    const dial = newest;
    cancelRetry();
    try {
      const line = await options.openLine(options.addresses[at] as string, { isForeign });
      if (dial === newest && !left) join(line, dial);
      else line.close();
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (dial === newest) failed({ code: FAULTS[fault.kind].grpc, details: `${fault.message} ${fault.remedy}` });
    }
  }

  /** Another address may answer: this one is not waited for long, until all of them had their turn. */
  const hasUntried = (): boolean => failures === 0 && options.addresses.length > 1;

  function join(line: Line, dial: number): void {
    const hello = options.hello();
    let isOurs = false;
    const connection: Connection = openConnection({
      ...options,
      line,
      firstAnswerMs: hasUntried() ? OTHER_FIRST_ANSWER_MS : FIRST_ANSWER_MS,
      hello,
      obey(command) {
        // Only a Muster broker requeues sessions that are not listed.
        const isListed = latest === connection || !isOurs;
        if (command.do !== 'start' || isListed) options.obey(command);
        else if (latest !== accepted) unlisted.push(command);
      },
      accepted(welcome) {
        isOurs = welcome !== undefined;
        isForeign = !isOurs;
        accepted = connection;
        unlisted = [];
        failures = 0;
        failedAddresses = 0;
        options.accepted(welcome, hello);
      },
      ended(ending) {
        if (accepted === connection) {
          accepted = undefined;
          unlisted = [];
          options.lost();
        }
        if (latest === connection) {
          latest = accepted;
          refuseUnlisted();
        }
        if (dial === newest) failed(ending);
      },
    });
    latest = connection;
  }

  function refuseUnlisted(): void {
    const why = 'The agent was reconnecting.';
    for (const { session, attempt } of unlisted) accepted?.report({ is: 'refused', session, attempt, why });
    unlisted = [];
  }

  function failed(ending: Ending): void {
    if (left) return left();
    const { addresses, random } = options;
    const server = addresses[at];
    at = (at + 1) % addresses.length;
    failedAddresses += 1;
    const isRoundOver = failedAddresses % addresses.length === 0;
    const hasOther = !isRoundOver && !isFromServer(ending);
    const retryInMs = Math.round(hasOther ? nextAddressDelayMs(random) : reconnectDelayMs(ending, failures, random));
    if (isRoundOver) failures += 1;
    const level = isRefusedByServer(ending) ? 'error' : 'warn';
    log(level, 'not connected', { server, code: ending.code, error: ending.details, retryInMs });
    cancelRetry = clock.alarm(retryInMs, () => void connect());
    options.failed(ending);
  }

  function connected(): Connection {
    if (accepted) return accepted;
    throw new Fault('unavailable', 'The agent is not connected to the server.');
  }

  void connect();
  return {
    report: (report) => accepted?.report(report),
    get isIn() {
      return accepted !== undefined;
    },
    rejoin: () => void connect(),
    fetch: (path, request) => connected().fetch(path, request),
    duplex: (path, headers) => connected().duplex(path, headers),
    async leave() {
      cancelRetry();
      const last = accepted;
      const gone = new Promise<void>((resolve) => (left = resolve));
      if (!last) return latest?.cancel();
      last.leave();
      const cancel = clock.alarm(LEAVING_MS, () => {
        last.cancel();
        left?.();
      });
      await gone;
      cancel();
    },
  };
}
