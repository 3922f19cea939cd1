const DATE = /^\d{4}-\d\d-\d\d/;
const WITHOUT_ZONE = /^\S{10}[T ][\d:.]+$/;

/** A date alone is a time, too. Without a zone it is in UTC, as all times that we show. */
export function writtenTimeMs(text: string): number | undefined {
  const ms = DATE.test(text) ? Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
