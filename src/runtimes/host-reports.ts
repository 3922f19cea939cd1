// Static hosts whose runtimes no longer fit the set: the host has left it, or has fewer slots than they use.
import type { Log } from '#core/log.ts';
import type { HostStatus } from '#core/runtime.ts';
import type { Store } from '#core/store.ts';
import type { Journal } from '#journal/journal.ts';

export interface HostReportsDeps {
  readonly store: Store;
  readonly journal: Journal;
  readonly log: Log;
  statuses(): readonly HostStatus[];
}

const MOST_NAMED = 10;

/** What is wrong with a host; undefined: its runtimes fit. */
export function misfitOf({ host, slots, used, runtimes }: HostStatus): string | undefined {
  if (used <= slots) return undefined;
  const named = runtimes.slice(0, MOST_NAMED).join(', ') + (runtimes.length > MOST_NAMED ? ', …' : '');
  if (slots === 0)
    return `Host ${host} has left the set; ${runtimes.length} of its runtimes still live there: ${named}.`;
  return `Host ${host} has ${slots} slots in the set; its runtimes use ${used}: ${named}.`;
}

/** Looks at start and after a reload; what is new is an event. */
export function startHostReports({ store, journal, log, statuses }: HostReportsDeps): { look(): void } {
  let reported: ReadonlySet<string> = new Set();
  return {
    look() {
      const found = statuses().flatMap((status) => {
        const message = misfitOf(status);
        return message === undefined ? [] : [{ host: status.host, message }];
      });
      const fresh = found.filter(({ message }) => !reported.has(message));
      reported = new Set(found.map(({ message }) => message));
      for (const { host, message } of fresh) log('warn', 'runtimes do not fit their host', { host, why: message });
      const events = fresh.map(({ host, message }) =>
        journal.event({ kind: 'runtime.host-misfit', subject: `runtime-host/${host}`, message }),
      );
      // A store that fails ends the process by itself.
      if (events.length > 0) store.commit(events).catch(() => {});
    },
  };
}
