import { Fault } from '#core/fault.ts';

/** Requests that are being answered, by token. */
export interface RequestsOfToken {
  /** Counts one more until the answer is called; throws a `Fault` where its token has too many. */
  begin(token: string, isLong: boolean): () => void;
}

/** Requests that wait or follow are counted apart: they cost little, and must not keep short ones out. */
export function countRequests(most: number): RequestsOfToken {
  const open = new Map<string, number>();
  return {
    begin(token, isLong) {
      const key = `${token} ${isLong ? 'long' : 'short'}`;
      const count = open.get(key) ?? 0;
      if (count >= most) {
        const what = isLong ? 'requests that wait or follow' : 'requests';
        throw new Fault('throttled', `This token has ${most} ${what} that are not answered yet.`, {
          remedy: 'Wait for their answers, send lists, or raise `server.limits.requests_per_token`.',
        });
      }
      open.set(key, count + 1);
      return () => {
        const left = (open.get(key) ?? 0) - 1;
        if (left > 0) open.set(key, left);
        else open.delete(key);
      };
    },
  };
}
