// What callers ask for: checked, decided and committed in one turn; the loop carries the rest out.
import type { Clouds } from '#clouds/clouds.ts';
import type { KnownKinds } from '#config/kinds.ts';
import type { Budgets } from '#core/budget.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import {
  COMPUTER_NAME,
  type Computer,
  type ComputerCaller,
  type ComputerRequest,
  type Computers,
  computerStatus,
  type ShownComputer,
} from '#core/computer.ts';
import { formatDuration } from '#core/duration.ts';
import { Fault } from '#core/fault.ts';
import { shortId } from '#core/id.ts';
import type { Actor } from '#core/journal.ts';
import { nearest } from '#core/nearest.ts';
import type { Context } from '#core/provider.ts';
import type { Random } from '#core/random.ts';
import { type Change, put, type Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';
import { computerSubject } from './machine-owner.ts';
import { whyOf } from './next-computer-step.ts';
import { type GivenOptions, offerFor } from './offer.ts';
import { optionsOf, type PlatformPlacement, placeOn, platformNamed, platformNames } from './platforms/platforms.ts';
import { refusedByBudget } from './price.ts';
import type { ComputerLoop } from './reconcile.ts';
import { checkCountOfToken, checkPlatform, endOfNew, refusesUse } from './rights.ts';
import type { ComputerSettings } from './section.ts';

export interface ComputerRequestsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly journal: Journal;
  readonly clouds: Clouds;
  readonly context: Context;
  readonly kinds: KnownKinds;
  readonly agentImage: string;
  readonly loop: Pick<ComputerLoop, 'current'>;
  settings(): ComputerSettings;
  budgets?(): Budgets | undefined;
  /** The end of a computer has moved: its agent must know. */
  endMoved(computer: Computer): void;
}

/** A placement that a request comes to, and what it is called. */
interface Placed extends PlatformPlacement {
  readonly platform: string;
  /** Absent where the caller wrote no options of a platform. */
  readonly given?: GivenOptions;
}

// A backend of one's own has no options of a platform.
const OWN_BACKEND = { port: 8000, maxRetries: 3, timeout: 600 };

export function openComputerRequests(deps: ComputerRequestsDeps): Computers {
  const { store, clock, random, journal, loop, settings } = deps;
  const { view } = store;

  const event = (id: string, kind: string, message: string, actor: Actor): Change =>
    journal.event({ kind: `computer.${kind}`, subject: computerSubject(id), message }, actor);

  // After a restart agents reconnect by themselves; of one that never does no end of a connection is seen.
  const startedAt = clock.now();

  function show(given: Computer): ShownComputer {
    const current = loop.current(given);
    const isAgentHere = current !== undefined && view.agents.get(current.row.id) !== undefined;
    const isAway = given.runningAt !== undefined && !isAgentHere;
    const computer = isAway ? { ...given, awaySince: given.awaySince ?? startedAt } : given;
    return {
      computer: given,
      status: computerStatus(given, current?.listed),
      machine: current?.row,
      isAgentHere,
      endpoints: current?.listed?.endpoints ?? [],
      listed: current?.listed,
      awaySince: isAway ? computer.awaySince : undefined,
      why: whyOf(computer, current, clock.now()),
    };
  }

  function named(name: string): Computer {
    for (const computer of view.computers.by('name', name)) return computer;
    const meant = nearest(
      name,
      Array.from(view.computers.all(), (computer) => computer.name),
    );
    const remedy = meant === undefined ? 'List computers with `muster computer ls`.' : `Did you mean ${meant}?`;
    throw new Fault('missing', `There is no computer ${name}.`, { at: 'path.computer', remedy });
  }

  function usable(name: string, caller: ComputerCaller): Computer {
    const computer = named(name);
    const refusal = refusesUse(computer, caller);
    if (refusal) throw refusal;
    return computer;
  }

  const context = {
    variable: (name: string) => deps.context.variable?.(name) || undefined,
    agentImage: deps.agentImage,
  };

  function ofTemplate(name: string): Placed {
    const { templates } = settings();
    const template = Object.hasOwn(templates, name) ? templates[name] : undefined;
    if (!template) {
      const meant = nearest(name, Object.keys(templates));
      const remedy = meant === undefined ? 'Name one under `computers.templates`.' : `Did you mean ${meant}?`;
      throw new Fault('missing', `There is no template ${name}.`, { at: 'template', remedy });
    }
    const { platform, backend, options } = template;
    if (platform !== undefined) return { ...placeOn(platform, options, context), platform, needsAdmin: false };
    return { ...OWN_BACKEND, backend: backend ?? {}, platform: name, needsAdmin: false };
  }

  function placed({ platform, template, backend, options = {} }: ComputerRequest): Placed {
    const given = [platform, template, backend].filter((one) => one !== undefined);
    if (given.length !== 1)
      throw new Fault('invalid', 'A computer needs one of platform, template and backend.', {
        at: 'platform',
        remedy: `Give --platform with one of ${platformNames.join(', ')}.`,
      });
    if (platform !== undefined)
      return { ...placeOn(platform, options, context), platform, given: { platform, options } };
    if (Object.keys(options).length > 0)
      throw new Fault('invalid', 'Options go with a platform alone.', {
        at: 'options',
        remedy: 'Leave them out, or give --platform.',
      });
    if (template !== undefined) return ofTemplate(template);
    return { ...OWN_BACKEND, backend: backend ?? {}, platform: Object.keys(backend ?? {})[0] ?? '', needsAdmin: true };
  }

  function checkName(name: string): void {
    if (!COMPUTER_NAME.test(name))
      throw new Fault('invalid', `"${name}" is no name of a computer.`, {
        at: 'name',
        remedy: 'Use small letters, digits and hyphens, at most 63, beginning with a letter.',
      });
    for (const { by, removal } of view.computers.by('name', name))
      throw new Fault('conflict', `There is a computer ${name} already, created by ${by}.`, {
        at: 'name',
        remedy: removal ? 'It is being removed: wait until it is gone.' : 'Choose another name, or remove it first.',
      });
  }

  return {
    async create(request, caller) {
      const { name } = request;
      checkName(name);
      const where = placed(request);
      checkPlatform(where.platform, where.needsAdmin, caller);
      checkCountOfToken(view.computers.count('token', caller.token), settings());
      const now = clock.now();
      const computer: Computer = {
        id: shortId(random),
        name,
        platform: where.platform,
        offer: offerFor(deps.kinds, where.backend, where.given),
        port: where.port,
        timeoutMs: where.timeout * SECOND_MS,
        maxRetries: where.maxRetries,
        createdAt: now,
        by: caller.who,
        token: caller.token,
        endsAt: endOfNew(request.ttlMs, now, settings()),
        refusals: 0,
      };
      const message = `Created computer ${name} on ${where.platform}.`;
      const refusal = refusedByBudget(deps, computer.offer, 'at creation');
      if (refusal) throw refusal;
      await store.commit([put('computers', computer), event(computer.id, 'created', message, caller)]);
      return show(computer);
    },

    async remove(name, caller, why = `Removed by ${caller.who}.`) {
      const computer = usable(name, caller);
      if (computer.removal) {
        await store.durable();
        return show(computer);
      }
      const next = { ...computer, removal: { at: clock.now(), by: caller.who, why } };
      await store.commit([put('computers', next), event(computer.id, 'removing', why, caller)]);
      return show(next);
    },

    async extend(name, byMs, caller) {
      const computer = usable(name, caller);
      const now = clock.now();
      const { maxTtl } = settings();
      if (computer.removal)
        throw new Fault('conflict', `Computer ${name} is being removed.`, { remedy: 'Create another one.' });
      if (computer.endsAt === undefined)
        throw new Fault('invalid', `Computer ${name} has no time to live.`, { remedy: 'It need not be extended.' });
      const endsAt = Math.max(now, computer.endsAt) + byMs;
      if (!(byMs > 0) || endsAt > now + maxTtl)
        throw new Fault('invalid', `Computer ${name} would end at ${new Date(endsAt).toISOString()}.`, {
          at: 'by',
          remedy: `It must end within ${formatDuration(maxTtl)} from now, the limit of \`computers.max_ttl\`.`,
        });
      checkCloudsEnd(name, loop.current(computer)?.listed?.endsAt, endsAt);
      const next = { ...computer, endsAt };
      const message = `Extended to ${new Date(endsAt).toISOString()}.`;
      await store.commit([put('computers', next), event(computer.id, 'extended', message, caller)]);
      deps.endMoved(next);
      return show(next);
    },

    find(name) {
      for (const computer of view.computers.by('name', name)) return show(computer);
      return undefined;
    },
    list: () => Array.from(view.computers.all(), show),
    refusesUse,
    offered() {
      const { templates } = settings();
      return {
        platforms: platformNames.map((name) => {
          const { summary, needsAdmin } = platformNamed(name);
          return { name, about: summary, needsAdmin, options: optionsOf(name) };
        }),
        templates: Object.entries(templates).map(([name, { platform, backend }]) => ({
          name,
          platform: platform ?? Object.keys(backend ?? {})[0] ?? '',
        })),
      };
    },
  };
}

/** Some clouds end a machine themselves, at the time that they were given when it was made. */
function checkCloudsEnd(name: string, cloudsEnd: number | undefined, endsAt: number): void {
  if (cloudsEnd === undefined || endsAt <= cloudsEnd) return;
  throw new Fault(
    'unsupported',
    `The platform itself deletes computer ${name} at ${new Date(cloudsEnd).toISOString()}.`,
    {
      remedy: 'Create another computer. The platform sets this end when it makes the machine, and cannot move it.',
    },
  );
}
