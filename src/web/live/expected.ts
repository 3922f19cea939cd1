// Answers of the API as this page reads them.

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
