// The life of a runtime that a kind of the family `runtimes` makes: from its committed request until it answered, and from
// there until nothing of it exists any more. Every step is read afresh from the store, so a restart goes on where it was.
import type { CallBy, ChosenKind, OpenKinds } from '#clouds/open-kinds.ts';
import type { Clock } from '#core/clock.ts';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Log } from '#core/log.ts';
import { type Loop, type PassResult, startLoop } from '#core/loop.ts';
import type { Random } from '#core/random.ts';
import type { Runtime, RuntimePhase } from '#core/runtime.ts';
import type { RuntimeHost, RuntimeObservation, RuntimeRequest } from '#core/runtime-host.ts';
import { drop, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { type RuntimeReason, runtimeSubject } from './reasons.ts';
import { mayUpdate } from './rollout.ts';
import { isStatic, type RuntimeSettings } from './section.ts';

export interface ReconcileDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly journal: Journal;
  readonly hosts: OpenKinds<RuntimeHost>;
  settings(): RuntimeSettings;
}

const LOOK_AGAIN_MS = 1_000;
const LOOK_AT_FAILED_MS = 15_000;
const WAIT_FOR_TURN_MS = 5_000;

/** What the request comes to now: versions that are not pinned are those of the settings. */
export function requestOf(
  runtime: Omit<Runtime, 'wanted' | 'phase' | 'since' | 'createdAt'>,
  latest: string,
): RuntimeRequest {
  const { id, slots, version, annotations, environment, diskGb } = runtime;
  return { id, slots, version: version ?? latest, annotations, environment, diskGb };
}

export function startReconciling(deps: ReconcileDeps): Loop & { host(provisioner: string): ChosenKind | undefined } {
  const { store, clock, journal, hosts, settings } = deps;

  function host(provisioner: string): ChosenKind | undefined {
    const found = settings().provisioners[provisioner];
    return found && !isStatic(found) ? { kind: found.type, config: found.spec as ChosenKind['config'] } : undefined;
  }

  const read = (id: string): Runtime | undefined => store.view.runtimes.get(id);

  /** Commits what changed of it, with its event; nothing where it reads the same. */
  async function note(id: string, phase: RuntimePhase, why?: string, more: Partial<Runtime> = {}): Promise<void> {
    const before = read(id);
    if (!before) return;
    const isSamePhase = before.phase === phase;
    if (isSamePhase && before.why === why && Object.keys(more).length === 0) return;
    const after: Runtime = { ...before, ...more, phase, why, since: isSamePhase ? before.since : clock.now() };
    const message = why ?? `Runtime ${id} is ${phase}.`;
    const changes = isSamePhase
      ? []
      : [journal.event({ kind: `runtime.${phase}`, subject: runtimeSubject(id), message })];
    await store.commit([put('runtimes', after), ...changes]);
  }

  async function decide(id: string, did: string, code: RuntimeReason, why: string, rest: Decided = {}): Promise<void> {
    const { with: settingsOf, facts = {}, unless } = rest;
    const reason = { code, ...(settingsOf && { with: settingsOf }) };
    const decision = { subject: runtimeSubject(id), did, reason, why, facts, unless };
    const change = journal.decision(decision, did !== 'nothing');
    if (change) await store.commit([change]);
  }

  async function removing(runtime: Runtime, chosen: ChosenKind, by: By): Promise<PassResult> {
    const { id } = runtime;
    await hosts.call(chosen, { ...by, name: 'release', is: 'write' }, (it, signal) => it.release(id, signal));
    const seen = await observe(runtime, chosen, by);
    if (seen.state !== 'absent') {
      await note(id, 'releasing', seen.why);
      return { afterMs: LOOK_AGAIN_MS };
    }
    const gone = journal.event({
      kind: 'runtime.gone',
      subject: runtimeSubject(id),
      message: `Runtime ${id} is gone.`,
    });
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
      await note(id, 'updating', why ?? 'Its objects are being removed.');
      return { afterMs: LOOK_AGAIN_MS };
    }
    await note(id, 'hibernated', undefined, { applied: undefined });
  }

  const observe = (runtime: Runtime, chosen: ChosenKind, by: By): Promise<RuntimeObservation> => {
    const request = requestOf(runtime, settings().latestVersion);
    return hosts.call(chosen, { ...by, name: 'observe', is: 'read' }, (it, signal) => it.observe(request, signal));
  };

  /** Why it must be applied; undefined: what was applied is what is wanted. */
  function whyApply(runtime: Runtime, request: RuntimeRequest, digest: string): RuntimeReason | undefined {
    const { applied } = runtime;
    if (!applied) return 'first-apply';
    if (applied.version !== request.version) return 'new-version';
    return applied.digest === digest ? undefined : 'rendered-differently';
  }

  /** `decided`: the commit of why. The gate lets the call leave when that and our own are durable, both in one go. */
  async function apply(decided: Promise<void>, runtime: Runtime, { request, chosen, by }: Applying): Promise<void> {
    const { id } = runtime;
    const isFirst = !runtime.grant;
    const noted = note(id, isFirst ? 'provisioning' : 'updating');
    const calling = hosts.call(chosen, { ...by, name: 'apply', is: 'write' }, (it, signal) =>
      it.apply(request, signal),
    );
    const [{ digest, grant }] = await Promise.all([calling, noted, decided]);
    const applied = { digest, version: request.version, at: clock.now() };
    await note(id, isFirst ? 'provisioning' : 'updating', 'Its objects are applied.', { applied, grant });
  }

  /** A pinned version was asked for by name, so it waits for no others. */
  async function mayUpdateNow({ id, provisioner, version: pinned }: Runtime, version: string): Promise<boolean> {
    if (pinned !== undefined) return true;
    const limits = settings();
    const others = Iterator.from(store.view.runtimes.by('provisioner', provisioner)).filter((other) => other.id !== id);
    const answer = mayUpdate(version, others, limits);
    if (answer.may) {
      // Committed in the turn of the answer: the next pass already counts it.
      await note(id, 'updating', undefined, { aim: version });
      return true;
    }
    const given = answer.reason === 'halted' ? { version } : { max_updating: limits.maxUpdating };
    await decide(id, 'nothing', answer.reason, answer.why, { with: given });
    return false;
  }

  async function running(runtime: Runtime, chosen: ChosenKind, by: By): Promise<PassResult> {
    const { id } = runtime;
    const { latestVersion, checkInterval } = settings();
    const request = requestOf(runtime, latestVersion);
    const { it } = await hosts.open(chosen, by.signal);
    const { digest } = await it.render(request);
    const cause = whyApply(runtime, request, digest);
    if (cause === 'new-version' && runtime.phase === 'ready' && !(await mayUpdateNow(runtime, request.version))) {
      return { afterMs: WAIT_FOR_TURN_MS };
    }
    if (cause !== undefined) {
      const why = WORDS[cause] ?? 'Its objects render differently now.';
      const given = cause === 'new-version' ? { version: request.version } : undefined;
      const decided = decide(id, cause === 'new-version' ? 'update' : 'apply', cause, why, { with: given });
      await apply(decided, runtime, { request, chosen, by });
    }
    const seen = await observe(read(id) ?? runtime, chosen, by);
    return settle(read(id) ?? runtime, seen, { request, chosen, by, readyWithinMs: it.readyWithinMs, checkInterval });
  }

  /** What to do about how it looks. */
  async function settle(runtime: Runtime, seen: RuntimeObservation, given: Settling): Promise<PassResult> {
    const { id } = runtime;
    switch (seen.state) {
      case 'ready':
        await note(id, 'ready');
        // Each on a schedule of its own, so that the checks of many do not come at once.
        return { afterMs: given.checkInterval * (0.9 + deps.random.next() * 0.2) };
      case 'failed':
        await note(id, 'error', seen.why);
        return { afterMs: LOOK_AT_FAILED_MS };
      case 'coming':
        return waitFor(runtime, seen.why ?? 'It does not answer.', given.readyWithinMs);
      default:
        await apply(decide(id, 'repair', 'drifted', seen.why ?? 'Its objects are missing.'), runtime, given);
        return { afterMs: LOOK_AGAIN_MS };
    }
  }

  async function waitFor({ id, phase, applied }: Runtime, why: string, readyWithinMs: number): Promise<PassResult> {
    if (clock.now() - (applied?.at ?? clock.now()) >= readyWithinMs) {
      await note(id, 'error', `It was not ready within ${Math.round(readyWithinMs / 1_000)} seconds: ${why}`);
      return { afterMs: LOOK_AT_FAILED_MS };
    }
    if (phase !== 'error') await note(id, phase === 'ready' ? 'updating' : phase, why);
    return { afterMs: LOOK_AGAIN_MS };
  }

  async function reconcile(id: string, signal: AbortSignal): Promise<PassResult> {
    const runtime = read(id);
    if (!runtime || runtime.host !== undefined) return;
    const chosen = host(runtime.provisioner);
    if (!chosen) {
      await note(id, 'error', `Its provisioner ${runtime.provisioner} is not in the set.`);
      return;
    }
    const by: By = { owner: id, signal };
    if (runtime.wanted === 'gone') return removing(runtime, chosen, by);
    if (runtime.wanted === 'hibernated') return hibernating(runtime, chosen, by);
    return running(runtime, chosen, by);
  }

  const loop = startLoop({
    name: 'runtimes',
    clock,
    random: deps.random,
    log: deps.log,
    reconcile,
    failed(id, fault) {
      const runtime = read(id);
      // The other side is away or busy: it stays in its phase, and says why.
      const isPassing = FAULTS[fault.kind].retry === 'backoff' || FAULTS[fault.kind].retry === 'now';
      const phase = !runtime || isPassing ? runtime?.phase : runtime.wanted === 'gone' ? 'releasing' : 'error';
      // A store that fails ends the process by itself.
      if (phase) note(id, phase, fault.message).catch(() => {});
    },
  });
  return { ...loop, host };
}

type By = Pick<CallBy, 'owner' | 'signal'>;

interface Decided {
  readonly with?: Readonly<Record<string, string | number>> | undefined;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly unless?: string;
}

interface Applying {
  readonly request: RuntimeRequest;
  readonly chosen: ChosenKind;
  readonly by: By;
}

interface Settling extends Applying {
  readonly readyWithinMs: number;
  readonly checkInterval: number;
}

const WORDS: Readonly<Partial<Record<RuntimeReason, string>>> = {
  'first-apply': 'Nothing was applied for it yet.',
  'new-version': 'Its version changed.',
  'rendered-differently': 'Its templates or values render other objects now.',
};
