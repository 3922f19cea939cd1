// An API server that exists only in memory, for the suite's own tests: once right, and once with each mistake.
import { z } from 'zod';
import type { ClusterAccess, ClusterCredential } from '#core/cluster-access.ts';
import { Fault, type FaultKind } from '#core/fault.ts';
import type { AnyKind } from '#core/provider.ts';
import { VirtualClock } from '#core/virtual-clock.ts';
import type { ClusterHarness, ClusterWorld } from './cluster-world.ts';

const CALL_MS = 10;
const LONGEST_CALL_MS = 10_000;
const LIFETIME_MS = 15 * 60_000;
const RENEW_BEFORE_MS = 60_000;
const PLANTED_TOKEN = 'planted-token-5f01ac';
const PLACE = 'tokens.memory.test';

/** What may be wrong with an access; each must break a law of the suite. */
export interface ClusterMistakes {
  readonly slashAtEnd?: boolean;
  readonly tokenInId?: boolean;
  readonly idAnew?: boolean;
  readonly wrongHeader?: boolean;
  readonly asksEveryTime?: boolean;
  readonly freshObjects?: boolean;
  readonly ignoresRefused?: boolean;
  readonly renewsForEach?: boolean;
  readonly neverRenews?: boolean;
  readonly renewsTooLate?: boolean;
  readonly everyFaultIsInternal?: boolean;
  readonly faultWithoutPlace?: boolean;
  readonly tokenInFault?: boolean;
  readonly ignoresAbort?: boolean;
  readonly hangsForEver?: boolean;
  readonly logsToken?: boolean;
  readonly leavesCallsBehind?: boolean;
  readonly closesOnce?: boolean;
}

interface TokensPlace {
  readonly clock: VirtualClock;
  readonly lines: string[];
  serial: number;
  asked: number;
  running: number;
  fault?: FaultKind;
  isHanging?: boolean;
}

interface Grant {
  readonly token: string;
  readonly expiresAtMs: number;
}

const tokenOf = (serial: number, grantedAtMs: number): string => `${PLANTED_TOKEN}.${serial}.${grantedAtMs}`;

/** One question to the place of the tokens, as over a network. */
async function grant(place: TokensPlace, mistakes: ClusterMistakes, ending: AbortSignal): Promise<Grant> {
  place.asked += 1;
  place.running += 1;
  const { clock } = place;
  await clock.sleep(place.isHanging ? Number.MAX_SAFE_INTEGER : CALL_MS, ending);
  place.running -= 1;
  if (ending.aborted) throw new Fault('unavailable', `Asking ${PLACE} was given up.`);
  const token = tokenOf(place.serial, clock.monotonic());
  if (mistakes.logsToken) place.lines.push(`granted ${token}`);
  if (place.fault) {
    const kind = mistakes.everyFaultIsInternal ? 'internal' : place.fault;
    const where = mistakes.faultWithoutPlace ? 'the place' : PLACE;
    throw new Fault(kind, `No token from ${where}${mistakes.tokenInFault ? ` for ${token}` : ''}.`);
  }
  return { token, expiresAtMs: clock.monotonic() + LIFETIME_MS };
}

function openAccess(place: TokensPlace, mistakes: ClusterMistakes, opened: number): ClusterAccess {
  const { clock } = place;
  const closing = new AbortController();
  const ending = mistakes.leavesCallsBehind ? new AbortController().signal : closing.signal;
  let held: (Grant & { readonly credential: ClusterCredential }) | undefined;
  let renewing: Promise<void> | undefined;
  let isClosed = false;
  const id = mistakes.tokenInId ? PLANTED_TOKEN : mistakes.idAnew ? `memory-${opened}` : 'memory';

  function credentialOf(token: string): ClusterCredential {
    return { headers: { authorization: `${mistakes.wrongHeader ? 'Basic' : 'Bearer'} ${token}` }, tls: {} };
  }

  async function renew(): Promise<void> {
    const granted = await grant(place, mistakes, ending);
    held = { ...granted, credential: credentialOf(granted.token) };
  }

  function isGood(): boolean {
    if (!held || mistakes.asksEveryTime) return false;
    if (mistakes.neverRenews) return true;
    return held.expiresAtMs - clock.monotonic() > (mistakes.renewsTooLate ? 0 : RENEW_BEFORE_MS);
  }

  function renewed(): Promise<void> {
    if (mistakes.renewsForEach) return renew();
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  /** Waits for the renewal, or until the caller gives up or the access is closed. */
  function waited(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const givenUp = (): void => reject(new Fault('unavailable', `Waiting for ${PLACE} was given up.`));
      if (!mistakes.hangsForEver) signal.addEventListener('abort', givenUp, { once: true });
      closing.signal.addEventListener('abort', givenUp, { once: true });
      renewed().then(resolve, reject);
    });
  }

  return {
    id,
    server: `https://memory.test${mistakes.slashAtEnd ? '/' : ''}`,
    async credential(signal) {
      if (signal.aborted && !mistakes.ignoresAbort) throw new Fault('unavailable', 'The question was given up.');
      if (!isGood()) await waited(signal);
      const { credential } = held as { readonly credential: ClusterCredential };
      return mistakes.freshObjects ? { ...credential } : credential;
    },
    refused() {
      if (!mistakes.ignoresRefused) held = undefined;
    },
    async close() {
      if (isClosed && mistakes.closesOnce) throw new Fault('internal', 'It is closed already.');
      isClosed = true;
      closing.abort();
    },
  };
}

function openWorld(mistakes: ClusterMistakes): ClusterWorld {
  const place: TokensPlace = { clock: new VirtualClock(), lines: [], serial: 1, asked: 0, running: 0 };
  const { clock } = place;
  let opened = 0;
  return {
    open: async () => openAccess(place, mistakes, ++opened),
    accepts({ headers }) {
      const [, serial, grantedAtMs] =
        /^Bearer planted-token-5f01ac\.(\d+)\.([\d.]+)$/.exec(headers.authorization ?? '') ?? [];
      return Number(serial) === place.serial && clock.monotonic() < Number(grantedAtMs) + LIFETIME_MS;
    },
    async rotate() {
      place.serial += 1;
    },
    pass: (ms) => clock.advance(ms),
    async during(call) {
      let isDone = false;
      const finished = call.finally(() => {
        isDone = true;
      });
      finished.catch(() => {});
      for (let passedMs = 0; !isDone && passedMs < LONGEST_CALL_MS; passedMs += CALL_MS) await clock.advance(CALL_MS);
      if (!isDone) return undefined as never;
      return finished;
    },
    logged: () => place.lines.join('\n'),
    secrets: [PLANTED_TOKEN],
    place: PLACE,
    asked: () => place.asked,
    lifetimeMs: LIFETIME_MS,
    async fail(kind) {
      place.fault = kind;
    },
    async hang() {
      place.isHanging = true;
    },
    left: () => place.running,
    close: async () => {},
  };
}

export function memoryClusterKind(): AnyKind<ClusterAccess> {
  return {
    summary: 'An API server that exists only in memory.',
    config: z.object({ contextName: z.string() }),
    example: { context_name: 'dev' },
    trust: 'operator only',
    open: () => Promise.reject(new Fault('unsupported', 'Opened by its world.')),
  };
}

export function memoryCluster(mistakes: ClusterMistakes = {}): ClusterHarness {
  return {
    kind: memoryClusterKind(),
    openWorld: async () => openWorld(mistakes),
    faults: ['denied', 'missing', 'unavailable'],
  };
}
