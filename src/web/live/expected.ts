// Answers of the API as this page reads them.
import type { Event } from '../../api/wire/event.ts';

/** The fleet as it is now, of one size whatever the fleet's. */
export interface Overview {
  readonly at: string;
  readonly problems: readonly {
    readonly id: string;
    readonly subject: string;
    readonly what: string;
    readonly since: string;
    readonly remedy: string;
    readonly waiting_sessions?: number | undefined;
    readonly link: string;
  }[];
  readonly more_problems: number;
  readonly workers: {
    readonly total: number;
    readonly busy: number;
    readonly idle: number;
    readonly starting: number;
    readonly draining: number;
    readonly lost: number;
    readonly parked: number;
    readonly deleting: number;
  };
  readonly sessions: { readonly queued: number; readonly running: number; readonly unknown: number };
  readonly longest_wait_ms?: number | undefined;
  readonly dollars_per_hour: number;
  readonly machines_without_price: number;
  readonly pools: { readonly total: number };
  readonly sources: { readonly total: number; readonly in_error: number };
  readonly computers?: unknown;
  readonly runtimes?: unknown;
  readonly nodes?: unknown;
  readonly events: readonly Event[];
}

/** Of one pool, or the sum of all, by the minute. */
export interface Series {
  readonly step_ms: number;
  readonly points: readonly {
    readonly at: string;
    readonly queued: number;
    readonly busy: number;
    readonly idle: number;
    readonly starting: number;
    readonly wanted: number;
    readonly dollars: number;
  }[];
}

/** What has a name like that. */
export interface Found {
  readonly items: readonly {
    readonly kind: string;
    readonly name: string;
    readonly link: string;
    readonly text: string;
  }[];
}
