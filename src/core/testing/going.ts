/** The signal of a call that is never cancelled. */
export const going = (): AbortSignal => new AbortController().signal;
