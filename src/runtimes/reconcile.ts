// The life of a runtime that a kind of the family `runtimes` makes: from its committed request until it answered, and from
// there until nothing of it exists any more. Every step is read afresh from the store, so a restart goes on where it was.
import { type CallBy, type ChosenKind, idOf, type OpenKinds } from '#clouds/open-kinds.ts';
import type { Clock } from '#core/clock.ts';
import { FAULTS, Fault, type FaultKind } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Again, type Loop, type PassResult, startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { Runtime, RuntimePhase } from '#core/runtime.ts';
import type { RuntimeHost, RuntimeObservation, RuntimeRequest } from '#core/runtime-host.ts';
import { drop, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { openNotes } from './notes.ts';
import { type RuntimeReason, runtimeSubject } from './reasons.ts';
import { askedOf, openRollout } from './rollout.ts';
import { isStatic, type RuntimeSettings } from './section.ts';

export interface ReconcileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly hosts: OpenKinds<RuntimeHost>;
  /** Ids whose objects are being removed because no row knew them: nothing is applied for them meanwhile. */
  readonly collecting: ReadonlySet<string>;
  settings(): RuntimeSettings;
}

export interface Reconciling extends Loop {
  host(provisioner: string): ChosenKind | undefined;
  /** Looks at it now, and resolves when that pass has ended. */
  check(id: string): Promise<void>;
  /** Runtimes that wait for an update to end look whether it is their turn. */
  pokeNext(): void;
}

const LOOK_AGAIN_MS = 1_000;
const LOOK_AT_FAILED_MS = 15_000;
const WAIT_FOR_TURN_MS = 60_000;
const LONGEST_REPAIR_PAUSE_MS = 300_000;
const LONGEST_APPLY_MS = 120_000;
const LOOK_FOR_PLACE_MS = 8_000;
/** What is seen where a namespace does not exist yet, or the rights in it. */
const WITHOUT_PLACE: readonly FaultKind[] = ['missing', 'denied'];
const UNDER_WAY: readonly RuntimePhase[] = ['pending', 'provisioning', 'updating'];

/** What the request comes to now: versions that are not pinned are those of the settings. */
export function requestOf(
  runtime: Omit<Runtime, 'wanted' | 'phase' | 'since' | 'createdAt'>,
  latest: string,
): RuntimeRequest {
  const { id, slots, version, annotations, environment, diskGb } = runtime;
  return { id, slots, version: version ?? latest, annotations, environment, diskGb };
}

export function startReconciling(deps: ReconcileDeps): Reconciling {
  const { store, clock, journal, hosts, settings } = deps;
  const { note, decide } = openNotes(deps);
  const rollout = openRollout({ store, settings, note, decide });
  /** When each is checked next. */
  const checkAt = new Map<string, number>();
  /** How often in a row each differed from what was applied. */
  const repairs = new Map<string, number>();
  const checks = new Map<string, (() => void)[]>();
  /** Cancels the last try within the time that each has to become ready. */
  const lastTries = new Map<string, () => void>();

  function host(provisioner: string): ChosenKind | undefined {
    const found = settings().provisioners[provisioner];
    return found && !isStatic(found) ? { kind: found.type, config: found.spec as ChosenKind['config'] } : undefined;
  }

  const read = (id: string): Runtime | undefined => store.view.runtimes.get(id);

  async function removing(runtime: Runtime, chosen: ChosenKind, by: By): Promise<PassResult> {
    const { id } = runtime;
    await hosts.call(chosen, { ...by, name: 'release', is: 'write' }, (it, signal) => it.release(id, signal));
    const seen = await observe(runtime, chosen, by);
    if (seen.state !== 'absent') {
      await note(runtime, 'releasing', seen.why ?? 'Its objects are being deleted.');
      return { afterMs: LOOK_AGAIN_MS };
    }
    const gone = journal.event({
      kind: 'runtime.gone',
      subject: runtimeSubject(id),
      message: `Runtime ${id} is gone.`,
    });
    checkAt.delete(id);
    repairs.delete(id);
    await store.commit([drop('runtimes', id), gone]);
  }

  async function hibernating(runtime: Runtime, chosen: ChosenKind, by: By): Promise<PassResult> {
    const { id } = runtime;
    if (runtime.phase === 'hibernated') return;
    await hosts.call(chosen, { ...by, name: 'hibernate', is: 'write' }, async (it, signal) => {
      if (!it.hibernate) throw new Fault('unsupported', `Runtimes of ${runtime.provisioner} cannot hibernate.`);
      await it.hibernate(id, signal);
    });
    const { state, why } = await observe(runtime, chosen, by);
    if (state !== 'hibernated' && state !== 'absent') {
      await note(runtime, 'updating', why ?? 'Its objects are being removed.');
      return { afterMs: LOOK_AGAIN_MS };
    }
    await note(runtime, 'hibernated', undefined, { applied: undefined });
  }

  const observe = (
    runtime: Runtime,
    chosen: ChosenKind,
    by: By,
    { request = requestOf(runtime, settings().latestVersion), former }: Observed = {},
  ): Promise<RuntimeObservation> =>
    hosts.call(chosen, { ...by, name: 'observe', is: 'read' }, (it, signal) => it.observe(request, signal, former));

  /** Why it must be applied; undefined: what was applied is what is wanted. */
  function whyApply(runtime: Runtime, request: RuntimeRequest, digest: string): RuntimeReason | undefined {
    const { applied, grant } = runtime;
    if (!applied) return grant ? 'woken' : 'first-apply';
    if (applied.version !== request.version) return 'new-version';
    return applied.digest === digest ? undefined : 'rendered-differently';
  }

  function callApply({ request, chosen, by, readyWithinMs }: Applying): ReturnType<RuntimeHost['apply']> {
    const timeoutMs = Math.min(LONGEST_APPLY_MS, readyWithinMs);
    return hosts.call(chosen, { ...by, name: 'apply', is: 'write', timeoutMs }, (it, signal) =>
      it.apply(request, signal),
    );
  }

  /** `decided`: the commit of why. The gate lets the call leave when that and our own are durable, both in one go. */
  async function apply(decided: Promise<void>, runtime: Runtime, given: Applying): Promise<Runtime> {
    const { request, cloud } = given;
    const phase = runtime.grant ? 'updating' : 'provisioning';
    // One in error stays so until the cluster has taken its objects: a try is no success.
    const isRetry = runtime.phase === 'error';
    // Where its objects are is known before the first of them exists.
    const place = runtime.cloud === cloud ? {} : { cloud };
    const noted = note(runtime, isRetry ? 'error' : phase, isRetry ? runtime.why : undefined, place);
    const [{ digest, grant }] = await Promise.all([callApply(given), noted, decided]);
    const applied = { digest, version: request.version, at: clock.now(), asked: askedOf(runtime) };
    await note(runtime, phase, 'Its objects are applied.', { applied, grant });
    return { ...runtime, applied, grant, cloud };
  }

  async function running(runtime: Runtime, chosen: ChosenKind, by: By): Promise<PassResult> {
    const { id } = runtime;
    const { it } = await hosts.open(chosen, by.signal);
    const requestAt = (version: string): RuntimeRequest => requestOf({ ...runtime, version }, version);
    const { version, waits, former } = await rollout.step(runtime, (at) => it.render(requestAt(at)));
    // Those that wait are looked at no more often than others, but no less either.
    if (waits !== undefined && (checkAt.get(id) ?? 0) > clock.now()) return { afterMs: WAIT_FOR_TURN_MS };
    const request = requestAt(version);
    const given: Applying = { request, chosen, by, cloud: it.cloud, readyWithinMs: it.readyWithinMs };
    const now = former === undefined ? await applyWhereNew(runtime, it, given) : runtime;
    const seen = await observe(now, chosen, by, { request, former });
    const again = await settle(now, seen, { ...given, heldBack: former === undefined ? undefined : waits });
    return waits === undefined ? again : { afterMs: Math.min(again.afterMs, WAIT_FOR_TURN_MS) };
  }

  async function applyWhereNew(runtime: Runtime, it: RuntimeHost, given: Applying): Promise<Runtime> {
    const { request } = given;
    const { digest } = await it.render(request);
    const cause = whyApply(runtime, request, digest);
    if (cause === undefined) return keepAsked(runtime);
    const why = WORDS[cause] ?? 'Its objects render differently now.';
    const isVersion = cause === 'new-version';
    const reason = isVersion ? { version: request.version } : undefined;
    return apply(decide(runtime.id, isVersion ? 'update' : 'apply', cause, why, reason), runtime, given);
  }

  /** A request that changes no object is fulfilled as it is: what differs later is no request. */
  async function keepAsked(runtime: Runtime): Promise<Runtime> {
    const asked = askedOf(runtime);
    if (!runtime.applied || runtime.applied.asked === asked) return runtime;
    const applied = { ...runtime.applied, asked };
    await note(runtime, runtime.phase, runtime.why, { applied });
    return { ...runtime, applied };
  }

  /** What to do about how it looks. */
  async function settle(runtime: Runtime, seen: RuntimeObservation, given: Settling): Promise<Again> {
    const { id } = runtime;
    if (seen.state === 'ready') return settleReady(runtime, seen, given);
    if (seen.state === 'failed') {
      await note(runtime, 'error', seen.why);
      return { afterMs: LOOK_AT_FAILED_MS };
    }
    if (seen.state === 'coming') return waitFor(runtime, seen.why ?? 'It does not answer.', given.readyWithinMs);
    if (given.heldBack !== undefined) {
      const held = `They are repaired when the changed templates reach it: ${given.heldBack}`;
      await note(runtime, 'error', `${seen.why ?? 'Its objects are missing.'} ${held}`);
      return { afterMs: LOOK_AT_FAILED_MS };
    }
    const times = repairs.get(id) ?? 0;
    repairs.set(id, times + 1);
    await apply(decide(id, 'repair', 'drifted', seen.why ?? 'Its objects are missing.'), runtime, given);
    // Someone who changes it back at once would otherwise make us write without end.
    return { afterMs: Math.min(LOOK_AGAIN_MS * 2 ** times, LONGEST_REPAIR_PAUSE_MS) };
  }

  async function settleReady(runtime: Runtime, { trouble }: RuntimeObservation, given: Applying): Promise<Again> {
    const { id } = runtime;
    await note(runtime, 'ready', trouble);
    repairs.delete(id);
    if (trouble !== undefined && (await askAgain(runtime, given))) return { afterMs: LOOK_AGAIN_MS };
    // Each on a schedule of its own, so that the checks of many do not come at once.
    const afterMs = settings().checkInterval * (0.9 + deps.random.next() * 0.2);
    checkAt.set(id, clock.now() + afterMs);
    return { afterMs };
  }

  /** Once a check: what was refused may be granted now. It serves meanwhile, so that its phase stays. */
  async function askAgain(runtime: Runtime, given: Applying): Promise<boolean> {
    const { applied } = runtime;
    if (!applied || clock.now() - applied.at < settings().checkInterval / 2) return false;
    const { grant } = await callApply(given);
    const { phase, why } = read(runtime.id) ?? runtime;
    await note(runtime, phase, why, { applied: { ...applied, at: clock.now() }, grant });
    return true;
  }

  async function waitFor(runtime: Runtime, why: string, readyWithinMs: number): Promise<Again> {
    const { id, applied } = runtime;
    const now = clock.now();
    const { phase, since } = read(id) ?? runtime;
    // One that was ready has as long to come back as one that was just applied.
    const beganAt = phase === 'ready' ? now : Math.max(applied?.at ?? now, phase === 'error' ? 0 : since);
    if (now - beganAt >= readyWithinMs) {
      await note(runtime, 'error', tooLate(readyWithinMs, why));
      return { afterMs: LOOK_AT_FAILED_MS };
    }
    if (phase !== 'error') await note(runtime, phase === 'ready' ? 'updating' : phase, why);
    return { afterMs: LOOK_AGAIN_MS };
  }

  /** Its objects are elsewhere, and would be forgotten there; undefined: they are where its provisioner makes them. */
  async function whyElsewhere(runtime: Runtime, chosen: ChosenKind, by: By): Promise<string | undefined> {
    const { provisioner, cloud } = runtime;
    const { it } = await hosts.open(chosen, by.signal);
    if (cloud === undefined || cloud === it.cloud) return undefined;
    const { state } = await observe(runtime, chosen, by);
    // The same place may get another address: then its objects are there.
    if (state !== 'absent') return undefined;
    return `Its objects are in ${cloud}; provisioner ${provisioner} now names ${it.cloud}. Name the former place again, or the new one as another provisioner.`;
  }

  async function reconcile(runtime: Runtime, signal: AbortSignal): Promise<PassResult> {
    const { id, provisioner, wanted } = runtime;
    if (deps.collecting.has(id)) return { afterMs: LOOK_AGAIN_MS };
    const chosen = host(provisioner);
    if (!chosen) {
      await note(runtime, 'error', `Its provisioner ${provisioner} is not in the set.`);
      return;
    }
    const by: By = { owner: id, signal };
    const elsewhere = await whyElsewhere(runtime, chosen, by);
    if (elsewhere !== undefined) {
      await note(runtime, 'error', elsewhere);
      return { afterMs: settings().checkInterval };
    }
    if (wanted === 'gone') return removing(runtime, chosen, by);
    if (wanted === 'hibernated') return hibernating(runtime, chosen, by);
    return running(runtime, chosen, by);
  }

  /** Throws, so that the loop logs it and backs off; what is missing may be made any moment, and is logged once. */
  async function failed(runtime: Runtime, fault: Fault): Promise<PassResult> {
    const { phase, why } = read(runtime.id) ?? runtime;
    // A store that fails ends the process by itself.
    await noteFailure(runtime, fault).catch(() => {});
    const { kind, message, at, remedy, cause } = fault;
    if (!WITHOUT_PLACE.includes(kind)) throw fault;
    if (phase === 'error' && why === message) return { afterMs: LOOK_FOR_PLACE_MS };
    throw new Fault(kind, message, { at, remedy, cause, retryAfterMs: LOOK_FOR_PLACE_MS });
  }

  async function noteFailure(runtime: Runtime, { kind, message }: Fault): Promise<void> {
    // The other side is away or busy: it stays in its phase, and says why.
    const isPassing = FAULTS[kind].retry === 'backoff' || FAULTS[kind].retry === 'now';
    const phase = (read(runtime.id) ?? runtime).phase;
    if (isPassing && runtime.wanted === 'running' && UNDER_WAY.includes(phase)) return retryInTime(runtime, message);
    // Templates that no longer render change nothing of what was applied: it serves.
    const stays = isPassing || (phase === 'ready' && kind === 'invalid');
    await note(runtime, stays ? phase : runtime.wanted === 'gone' ? 'releasing' : 'error', message);
  }

  /** The time that a runtime has to become ready bounds applying too: a refusal that looks passing may stay for ever. */
  async function retryInTime(runtime: Runtime, message: string): Promise<void> {
    const { id, provisioner } = runtime;
    const { phase, since } = read(id) ?? runtime;
    const chosen = host(provisioner);
    const readyWithinMs = chosen && hosts.get(idOf(chosen))?.it.readyWithinMs;
    if (readyWithinMs === undefined) return note(runtime, phase, message);
    const leftMs = since + readyWithinMs - clock.now();
    if (leftMs <= 0) return note(runtime, 'error', tooLate(readyWithinMs, message));
    // The back-off may be longer than what is left.
    lastTries.set(
      id,
      clock.alarm(leftMs, () => loop.poke(id)),
    );
    return note(runtime, phase, message);
  }

  async function pass(id: string, signal: AbortSignal): Promise<PassResult> {
    const asked = checks.get(id);
    checks.delete(id);
    lastTries.get(id)?.();
    lastTries.delete(id);
    const runtime = read(id);
    try {
      if (runtime && runtime.host === undefined) return await reconcile(runtime, signal);
    } catch (thrown) {
      if (!runtime || signal.aborted) throw thrown;
      return await failed(runtime, Fault.from(thrown));
    } finally {
      for (const done of asked ?? []) done();
    }
  }

  const loop = startLoop({ name: 'runtimes', clock, random: deps.random, log: deps.log, reconcile: pass });
  return {
    ...loop,
    host,
    poke(id) {
      checkAt.delete(id);
      loop.poke(id);
    },
    check(id) {
      checkAt.delete(id);
      return new Promise((resolve) => {
        checks.set(id, [...(checks.get(id) ?? []), resolve]);
        loop.poke(id);
      });
    },
    pokeNext() {
      for (const id of rollout.next()) loop.poke(id);
    },
    async stop() {
      await loop.stop();
      for (const cancel of lastTries.values()) cancel();
      for (const done of [...checks.values()].flat()) done();
    },
  };
}

const tooLate = (withinMs: number, why: string): string =>
  `It was not ready within ${Math.round(withinMs / 1_000)} seconds: ${why}`;

type By = Pick<CallBy, 'owner' | 'signal'>;

interface Applying {
  readonly request: RuntimeRequest;
  readonly chosen: ChosenKind;
  readonly by: By;
  /** Where its objects are made. */
  readonly cloud: string;
  readonly readyWithinMs: number;
}

interface Settling extends Applying {
  /** Why it is not applied though it may differ. */
  readonly heldBack?: string | undefined;
}

interface Observed {
  readonly request?: RuntimeRequest;
  readonly former?: string | undefined;
}

const WORDS: Readonly<Partial<Record<RuntimeReason, string>>> = {
  'first-apply': 'Nothing was applied for it yet.',
  woken: 'It was hibernated and is to run again.',
  'new-version': 'Its version changed.',
  'rendered-differently': 'Its templates or values render other objects now.',
};
