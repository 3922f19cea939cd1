import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Role } from '#core/access.ts';
import type { Caller } from '../access/access.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface HeaderNote {
  readonly name: string;
  readonly description: string;
  /** What a text must be, as JSON Schema. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

/** The validated parts of a request that a handler gets. */
export interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /** For routes that need no token: `anyone`. */
  readonly caller: Caller;
  /** `https://host:port` as the client wrote it. */
  readonly origin: string;
  /** Aborts when the client is gone or the server stops. */
  readonly signal: AbortSignal;
  /** Resolves when the round robin reaches this caller. Await it after an event that wakes many callers at once. */
  readonly turn: () => Promise<void>;
  /** Sets a header of the answer. */
  header(name: string, value: string): void;
  /** Sets the status of the answer, where it differs from the route's own. */
  status(code: number): void;
}

export interface RouteSpec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R extends z.ZodType> {
  readonly method: Method;
  /** As in `/pools/:pool`. */
  readonly path: string;
  /** The least role that may call; `anyone` needs no token. */
  readonly role: Role | 'anyone';
  readonly summary: string;
  /** Request headers that it reads, for the documentation. */
  readonly headers?: readonly HeaderNote[];
  /** The heading in the documentation; set from its noun. */
  readonly tag?: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** What the body may be sent as; JSON where absent. Anything else arrives as text. */
  readonly bodyMedia?: readonly string[];
  readonly bodyLimit?: number;
  /** The body is bytes of any number, and comes as a stream; the handler bounds it. */
  readonly isUpload?: boolean;
  /** How many values the body may hold, where it is more than for most. */
  readonly mostValues?: number;
  readonly reply: R;
  /** What the answer is sent as, where it is not JSON: then a text or a stream, sent as it stands. */
  readonly media?: readonly string[];
  readonly status?: number;
  /** Another status with the same reply. */
  readonly alsoStatus?: number;
  /** The answer need not wait for durability, because it shows no committed data. */
  readonly isHealth?: boolean;
  /** A successful answer shows only what the handler has seen become durable: it waits for nothing committed since. */
  readonly isDurable?: boolean;
  /** Answers piece by piece; each piece waits for durability by itself. */
  readonly isStream?: boolean;
  handle(call: Call<z.output<P>, z.output<Q>, z.output<B>>): z.input<R> | Promise<z.input<R>>;
}

type Anything = z.ZodType;
export type Route = Omit<RouteSpec<Anything, Anything, Anything, Anything>, 'handle'> & {
  handle(call: Call<unknown, unknown, unknown>): unknown;
};

/** Ties a route's schemas to its handler, so that TypeScript checks one against the other. */
export function route<
  R extends z.ZodType,
  P extends z.ZodType = z.ZodUndefined,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
>(spec: RouteSpec<P, Q, B, R>): Route {
  return spec as unknown as Route;
}

/** An answer that is no JSON. */
export type Raw = string | Buffer | Readable;
