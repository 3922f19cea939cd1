// The audit log of an API server. Tests ask for it many times a second, so only what is new is read.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** One request that the API server has answered, as its audit log tells. */
export interface Audited {
  readonly verb: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly requestURI?: string;
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly stageTimestamp: string;
}

/** The requests in that file so far; the same array, which grows. */
export function openAudit(path: string): { read(): readonly Audited[] } {
  const all: Audited[] = [];
  let offset = 0;
  return {
    read() {
      if (!existsSync(path)) return all;
      const file = openSync(path, 'r');
      const bytes = Buffer.alloc(fstatSync(file).size - offset);
      readSync(file, bytes, 0, bytes.length, offset);
      closeSync(file);
      // The last line may be half written.
      const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
      offset += whole.length;
      for (const line of whole.toString('utf8').split('\n')) if (line !== '') all.push(JSON.parse(line) as Audited);
      return all;
    },
  };
}
