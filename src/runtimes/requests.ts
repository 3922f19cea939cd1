// What callers ask for: checked, decided and committed in one turn; the loop carries the rest out.

import type { OpenKinds } from '#clouds/open-kinds.ts';
import { canonicalJson } from '#config/canonical.ts';
import type { Clock } from '#core/clock.ts';
import { Fault } from '#core/fault.ts';
import type { Actor } from '#core/journal.ts';
import { nearest } from '#core/nearest.ts';
import type { HostStatus, NewRuntime, Runtime, RuntimeEdit, Runtimes } from '#core/runtime.ts';
import type { RuntimeHost } from '#core/runtime-host.ts';
import { type Change, drop, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { editedWish, pinnedVersion, sayEdit, type Wish } from './edits.ts';
import { type RuntimeReason, runtimeSubject } from './reasons.ts';
import { type Reconciling, requestOf } from './reconcile.ts';
import { isStatic, type RuntimeSettings, type SetEntry } from './section.ts';
import type { StaticRuntimes } from './static-runtimes.ts';

export interface RequestsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly hosts: OpenKinds<RuntimeHost>;
  readonly fixed: StaticRuntimes;
  readonly loop: Pick<Reconciling, 'poke' | 'check' | 'host'>;
  settings(): RuntimeSettings;
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LONGEST_ID = 63;

/** Refuses an id that cannot name objects everywhere. */
export function checkId(id: string): void {
  if (id.length <= LONGEST_ID && DNS_LABEL.test(id)) return;
  const rule = 'small letters, digits and hyphens, at most 63, beginning and ending with a letter or digit';
  throw new Fault('invalid', `"${id}" is no DNS label.`, { at: 'body.id', remedy: `Use ${rule}.` });
}

export function openRequests(deps: RequestsDeps): Runtimes {
  const { store, clock, journal, hosts, fixed, loop, settings } = deps;
  const never = new AbortController().signal;

  function find(id: string): Runtime {
    const found = store.view.runtimes.get(id);
    if (found) return found;
    const meant = nearest(
      id,
      [...store.view.runtimes.all()].map((runtime) => runtime.id),
    );
    const remedy = meant === undefined ? 'List runtimes with `muster runtime ls`.' : `Did you mean ${meant}?`;
    throw new Fault('missing', `There is no runtime ${id}.`, { at: 'path.runtime', remedy });
  }

  function provisionerOf(asked: string | undefined): { readonly name: string; readonly one: SetEntry } {
    const { provisioners, default: usual } = settings();
    const name = asked ?? usual;
    const names = Object.keys(provisioners);
    const all = names.length === 0 ? 'Define one under `runtimes:`.' : `Name one of ${names.join(', ')}.`;
    if (name === undefined) {
      throw new Fault('invalid', 'No provisioner is named, and there is no default.', {
        at: 'body.provisioner',
        remedy: all,
      });
    }
    const one = provisioners[name];
    if (one) return { name, one };
    const meant = nearest(name, names);
    const remedy = meant === undefined ? all : `Did you mean ${meant}?`;
    throw new Fault('invalid', `There is no provisioner ${name}.`, { at: 'body.provisioner', remedy });
  }

  const event = (id: string, kind: string, message: string, actor: Actor): Change =>
    journal.event({ kind: `runtime.${kind}`, subject: runtimeSubject(id), message }, actor);

  function decision(id: string, did: string, code: RuntimeReason, why: string, given: Given = {}): readonly Change[] {
    const { with: values, facts = {} } = given;
    const reason = { code, ...(values && { with: values }) };
    return [journal.decision({ subject: runtimeSubject(id), did, reason, why, facts }, true) ?? []].flat();
  }

  /** A request again with the same id: the same answer where it asks for the same, else a conflict. */
  function again(known: Runtime, request: NewRuntime): Runtime {
    const { slots, version, environment, annotations, diskGb } = known;
    const has = canonicalJson({ provisioner: known.provisioner, slots, version, environment, annotations, diskGb });
    const wants = canonicalJson({
      // One that names none got the default of its time.
      provisioner: request.provisioner ?? known.provisioner,
      slots: request.slots,
      version: pinnedVersion(request.version),
      environment: request.environment ?? 'prod',
      annotations: request.annotations ?? {},
      diskGb: request.diskGb,
    });
    if (known.wanted !== 'gone' && has === wants) return known;
    const message =
      known.wanted === 'gone'
        ? `Runtime ${known.id} is being removed.`
        : `Runtime ${known.id} exists with other values.`;
    const remedy = known.wanted === 'gone' ? 'Wait until it is gone.' : 'Change it, or choose another id.';
    throw new Fault('conflict', message, { at: 'body.id', remedy });
  }

  async function create(request: NewRuntime, actor: Actor): ReturnType<Runtimes['create']> {
    const { id, slots, environment = 'prod', annotations = {}, diskGb } = request;
    const version = pinnedVersion(request.version);
    checkId(id);
    const known = store.view.runtimes.get(id);
    if (known) return { runtime: again(known, request), isNew: false };
    const { name: provisioner, one } = provisionerOf(request.provisioner);
    const now = clock.now();
    const asked = { id, provisioner, slots, version, environment, annotations, diskGb, createdAt: now, since: now };
    if (!isStatic(one)) {
      // Templates that do not render refuse the request before anything is stored or applied.
      await render(request);
      const met = store.view.runtimes.get(id);
      if (met) return { runtime: again(met, request), isNew: false };
      const runtime: Runtime = { ...asked, wanted: 'running', phase: 'pending' };
      await store.commit([put('runtimes', runtime), event(id, 'created', `Runtime ${id} is requested.`, actor)]);
      loop.poke(id);
      return { runtime, isNew: true };
    }
    // Nothing may wait between the choice of the host and its commit.
    const { host, grant } = fixed.place(provisioner, slots, diskGb);
    const runtime: Runtime = { ...asked, wanted: 'running', phase: 'ready', host, grant };
    const { placement } = one.spec;
    const why = `${host} was chosen by placement ${placement}.`;
    await store.commit([
      put('runtimes', runtime),
      event(id, 'created', `Runtime ${id} gets ${slots} slots on ${host}.`, actor),
      ...decision(id, 'grant', 'placed', why, { with: { host, placement }, facts: { slots } }),
    ]);
    return { runtime, isNew: true };
  }

  function changeStatic(before: Runtime, next: Wish, mayMove: boolean): Edited {
    const { id, host: from } = before;
    const { slots } = next;
    if (slots === before.slots && next.diskGb === before.diskGb) return { changes: [] };
    const { host, grant } = fixed.resized(before, next);
    if (slots === before.slots) return { host, grant, changes: [] };
    if (host === from) {
      const why = `${host} has room for ${slots} slots.`;
      return {
        host,
        grant,
        changes: decision(id, 'resize', 'fits-in-place', why, { with: { host }, facts: { slots } }),
      };
    }
    if (!mayMove) {
      const message = `${from} has no room for ${slots} slots; runtime ${id} would move to ${host}, without its data.`;
      throw new Fault('conflict', message, { at: 'body.slots', remedy: 'Add --move to move it.' });
    }
    const why = `${from} has no room for ${slots} slots.`;
    const moved = { with: { from: from ?? '', to: host }, facts: { slots } };
    return { host, grant, changes: decision(id, 'move', 'moved', why, moved) };
  }

  /** What the runtime is to be after the edit; undefined: it is that already. */
  function edited(id: string, wanted: RuntimeEdit): { readonly before: Runtime; readonly next: Wish } | undefined {
    const before = find(id);
    if (before.wanted === 'gone') throw new Fault('conflict', `Runtime ${id} is being removed.`);
    const next = editedWish(before, wanted);
    return next && { before, next };
  }

  async function edit(id: string, wanted: RuntimeEdit, actor: Actor): Promise<Runtime> {
    const planned = edited(id, wanted);
    if (!planned) return find(id);
    const isFixed = planned.before.host !== undefined;
    // Templates that no longer render refuse the change before anything is stored.
    if (!isFixed) await render({ ...planned.before, ...planned.next });
    // Another change may have come meanwhile. From here on nothing may wait until the commit: a static host is chosen.
    const { before, next } = edited(id, wanted) ?? planned;
    const { changes, ...parts }: Edited = isFixed
      ? changeStatic(before, next, wanted.mayMove ?? false)
      : { phase: 'updating', since: clock.now(), why: undefined, changes: [] };
    const after: Runtime = { ...before, ...next, ...parts };
    await store.commit([put('runtimes', after), event(id, 'changed', sayEdit(before, next), actor), ...changes]);
    loop.poke(id);
    return after;
  }

  async function want(id: string, wanted: Runtime['wanted'], actor: Actor): Promise<Runtime> {
    const before = find(id);
    if (before.wanted === wanted) return before;
    if (before.wanted === 'gone') throw new Fault('conflict', `Runtime ${id} is being removed.`);
    const isFixed = before.host !== undefined;
    // A static runtime has nothing to stop: it keeps its slots, so that it can always wake.
    const phase = isFixed ? (wanted === 'hibernated' ? 'hibernated' : 'ready') : 'updating';
    const after: Runtime = { ...before, wanted, phase, since: clock.now(), why: undefined };
    const said = wanted === 'hibernated' ? 'is to hibernate' : 'is to run again';
    await store.commit([
      put('runtimes', after),
      event(id, 'changed', `Runtime ${id} ${said}.`, actor),
      ...decision(id, wanted === 'hibernated' ? 'hibernate' : 'wake', 'requested', 'A caller asked for it.'),
    ]);
    loop.poke(id);
    return after;
  }

  async function remove(id: string, actor: Actor): Promise<Runtime | undefined> {
    const before = find(id);
    if (before.host !== undefined) {
      const message = `Runtime ${id} gave ${before.slots} slots of ${before.host} back.`;
      await store.commit([drop('runtimes', id), event(id, 'gone', message, actor)]);
      return undefined;
    }
    if (before.wanted === 'gone') return before;
    const after: Runtime = { ...before, wanted: 'gone', phase: 'releasing', since: clock.now(), why: undefined };
    await store.commit([
      put('runtimes', after),
      event(id, 'removed', `Runtime ${id} is to be removed.`, actor),
      ...decision(id, 'release', 'requested', 'A caller asked for it.'),
    ]);
    loop.poke(id);
    return after;
  }

  async function render(request: Omit<NewRuntime, 'id'> & { readonly id?: string | undefined }) {
    const { name: provisioner } = provisionerOf(request.provisioner);
    const chosen = loop.host(provisioner);
    if (!chosen) throw new Fault('unsupported', `Provisioner ${provisioner} is static: it renders nothing.`);
    const { it } = await hosts.open(chosen, never);
    const { id = 'example', environment = 'prod', annotations = {} } = request;
    const version = pinnedVersion(request.version);
    const { latestVersion } = settings();
    return it.render(requestOf({ ...request, id, version, provisioner, environment, annotations }, latestVersion));
  }

  return {
    create,
    edit,
    hibernate: (id, actor) => want(id, 'hibernated', actor),
    wake: (id, actor) => want(id, 'running', actor),
    remove,
    async check(id) {
      const before = find(id);
      if (before.host === undefined) await loop.check(id);
      return store.view.runtimes.get(id) ?? before;
    },
    render,
    hosts: fixed.statuses,
    async drainHost(named, { moves }, actor) {
      const host = hostNamed(named, fixed.statuses());
      const planned = fixed.moves(host);
      const message = `Host ${host} takes no new runtimes.`;
      const drained = { id: host, at: clock.now(), who: actor.who };
      const moved = moves ? planned.flatMap((move) => movedChanges(move, host)) : [];
      const event = journal.event({ kind: 'runtime.host-drained', subject: `runtime-host/${host}`, message }, actor);
      await store.commit([put('drainedHosts', drained), event, ...moved]);
      return planned.map(({ runtime, slots, to }) => ({ runtime, slots, to }));
    },
    async releaseHost(named, actor) {
      const host = hostNamed(named, fixed.statuses());
      if (!store.view.drainedHosts.get(host)) throw new Fault('missing', `Host ${host} is not drained.`);
      const message = `Host ${host} takes runtimes again.`;
      const event = journal.event({ kind: 'runtime.host-released', subject: `runtime-host/${host}`, message }, actor);
      await store.commit([drop('drainedHosts', host), event]);
    },
  };

  function movedChanges({ runtime, to, grant }: ReturnType<StaticRuntimes['moves']>[number], from: string): Change[] {
    if (to === undefined) return [];
    const after = { ...find(runtime), host: to, grant };
    const given = { with: { from, to } };
    return [put('runtimes', after), ...decision(runtime, 'move', 'moved', `${from} is being drained.`, given)];
  }
}

/** The host of that URL; people leave the scheme out. */
function hostNamed(named: string, hosts: readonly HostStatus[]): string {
  const bare = (host: string): string => host.replace(/^https?:\/\//, '').replace(/\/$/, '');
  const found = hosts.find(({ host }) => bare(host) === bare(named));
  if (found) return found.host;
  const meant = nearest(
    bare(named),
    hosts.map(({ host }) => bare(host)),
  );
  const remedy = meant === undefined ? 'List hosts with `muster runtime host ls`.' : `Did you mean ${meant}?`;
  throw new Fault('missing', `There is no host ${named}.`, { at: 'path.host', remedy });
}

interface Given {
  readonly with?: Readonly<Record<string, string | number>>;
  readonly facts?: Readonly<Record<string, unknown>>;
}

type Edited = Partial<Runtime> & { readonly changes: readonly Change[] };
