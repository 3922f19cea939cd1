import { Fault } from '#core/fault.ts';

/** What did not happen in time. Nothing was made a second time for it. */
export class TimeoutError extends Fault {
  constructor(details?: string, remedy?: string) {
    super('unavailable', `Operation timed out${details === undefined ? '' : `: ${details}`}`, { remedy });
    this.name = 'TimeoutError';
  }
}
