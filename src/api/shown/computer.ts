import type { Computer, ComputerOffers, EndedComputer, ShownComputer } from '#core/computer.ts';
import { formatDuration } from '#core/duration.ts';
import type * as wire from '../wire/computer.ts';
import type { Event } from '../wire/event.ts';
import { toTime, toTimeIf } from '../wire/shared.ts';

type Redact = (text: string) => string;
type Failure = NonNullable<Computer['failure']>;

const shownTrouble = ({ kind, message, remedy, at }: Failure, redact: Redact) => ({
  kind,
  message: redact(message),
  remedy: remedy && redact(remedy),
  at: toTime(at),
});

const ifAny = (text: string | undefined, redact: Redact): string | undefined => text && redact(text);

export function shownComputer(shown: ShownComputer, redact: Redact): wire.Computer {
  const { computer, status, machine, isAgentHere, endpoints, awaySince, why } = shown;
  const { name, id, platform, by, port, failure } = computer;
  return {
    ...{ name, id, platform, status, by, port },
    why: ifAny(why, redact),
    created_at: toTime(computer.createdAt),
    running_at: toTimeIf(computer.runningAt),
    ends_at: toTimeIf(computer.endsAt),
    endpoints: endpoints.map(({ host, port }) => ({ host, port })),
    machine: machine?.machine,
    agent: isAgentHere,
    away_since: toTimeIf(awaySince),
    failure: failure && shownTrouble(failure, redact),
  };
}

/** A computer that is no more; nothing of it is left. */
export function shownEndedComputer(ended: EndedComputer, redact: Redact): wire.Computer {
  const { computer: id, name, platform, by, endedBy, why, failure } = ended;
  return {
    ...{ name, id, platform, status: 'stopped', by },
    why: redact(why),
    created_at: toTime(ended.createdAt),
    running_at: toTimeIf(ended.runningAt),
    endpoints: [],
    agent: false,
    failure: failure && shownTrouble(failure, redact),
    end: { at: toTime(ended.endedAt), by: endedBy, why: redact(why) },
  };
}

export function shownWhy(
  shown: ShownComputer,
  { redact, isFrozen, events }: { redact: Redact; isFrozen: boolean; events: Event[] },
): wire.ComputerWhy {
  const { computer, machine, listed } = shown;
  const { refused, refusals, maxRetries, timeoutMs } = computer;
  return {
    computer: shownComputer(shown, redact),
    waits: ifAny(shown.why, redact),
    machine: machine && {
      name: machine.machine,
      asked_at: toTime(machine.askedAt),
      created_at: toTimeIf(machine.createdAt),
      joined_at: toTimeIf(machine.joinedAt),
      state: listed?.state,
      trouble: ifAny(listed?.trouble?.message, redact),
    },
    refusals,
    max_retries: maxRetries,
    refused: refused && { ...shownTrouble(refused, redact), retry_at: toTime(refused.retryAt) },
    timeout: formatDuration(timeoutMs),
    frozen: isFrozen,
    events,
  };
}

export const shownOffers = ({ platforms, templates }: ComputerOffers): wire.ComputerOffers => ({
  platforms: platforms.map(({ name, about, needsAdmin, options }) => ({
    ...{ name, about, needs_admin: needsAdmin },
    options: options.map((option) => ({ ...option })),
  })),
  templates: templates.map((template) => ({ ...template })),
});
