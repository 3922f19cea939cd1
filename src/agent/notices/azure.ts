import { Fault } from '#core/fault.ts';
import { type Notice, pollForNotice, type WatchNotices } from '../notices.ts';

// The same address on every machine of Azure; the variable is for machines of a simulation.
const METADATA = 'http://169.254.169.254';
const METADATA_VARIABLE = 'AZURE_METADATA_URL';

// An eviction is announced 30 seconds ahead.
const EVERY_MS = 2_000;
// The first question turns scheduled events on, and can take minutes.
const ANSWER_WITHIN_MS = 10_000;
const NOTICE_MS = 30_000;

/** Those that end the machine; after the others it runs on. */
const ENDING: ReadonlySet<unknown> = new Set(['Preempt', 'Terminate']);

interface ScheduledEvent {
  readonly EventType?: unknown;
  readonly Resources?: unknown;
  /** Empty once it has begun. */
  readonly NotBefore?: unknown;
}

/**
 * Asks the metadata of a machine of Azure for scheduled events: `Preempt` for a spot machine, `Terminate` for a deletion
 * that is announced. Machines of a scale set see the events of each other, so the name of this one is asked first.
 */
const watchScheduledEvents: WatchNotices = (options, heard) => {
  const { clock } = options;
  const endpoint = (options.variable(METADATA_VARIABLE) || METADATA).replace(/\/+$/, '');
  let ownName: string | undefined;

  async function ask(path: string, signal: AbortSignal): Promise<string> {
    const ending = new AbortController();
    const cancel = clock.alarm(ANSWER_WITHIN_MS, () => ending.abort());
    try {
      const within = AbortSignal.any([signal, ending.signal]);
      const answer = await options.fetch(`${endpoint}/metadata/${path}`, {
        headers: { metadata: 'true' },
        signal: within,
      });
      if (!answer.ok) throw new Fault('unavailable', `The metadata service answered ${answer.status}.`);
      return await answer.text();
    } finally {
      cancel();
    }
  }

  async function look(signal: AbortSignal): Promise<Notice | undefined> {
    ownName ??= (await ask('instance/compute/name?api-version=2021-02-01&format=text', signal)).trim();
    return parseEvents(await ask('scheduledevents?api-version=2020-07-01', signal), ownName, clock.now());
  }

  return pollForNotice(options, EVERY_MS, look, heard);
};

export default watchScheduledEvents;

function eventsIn(text: string): readonly ScheduledEvent[] {
  try {
    const { Events } = JSON.parse(text) as { Events?: unknown };
    return Array.isArray(Events) ? Events : [];
  } catch {
    return [];
  }
}

function parseEvents(text: string, name: string, nowMs: number): Notice | undefined {
  const isOurs = ({ EventType, Resources }: ScheduledEvent): boolean =>
    ENDING.has(EventType) && Array.isArray(Resources) && Resources.includes(name);
  const event = eventsIn(text).find(isOurs);
  if (!event) return undefined;
  const endsAt = Date.parse(String(event.NotBefore || '')) || nowMs + NOTICE_MS;
  return { why: `the cloud reclaims its machine (${String(event.EventType)})`, endsAt };
}
