import { STATUS_CODES } from 'node:http';
import { FAULTS, Fault } from '#core/fault.ts';
import type { Problem } from '#core/problem.ts';
import type { DocumentProblem, HttpProblem } from './wire/problem.ts';

export const PROBLEM_MEDIA = 'application/problem+json';

class HttpFault extends Fault {
  readonly status: number;

  constructor(status: number, ...rest: ConstructorParameters<typeof Fault>) {
    super(...rest);
    this.status = status;
  }
}

/** A fault with a more exact HTTP status than the fault table has. */
export function httpFault(status: number, ...rest: ConstructorParameters<typeof Fault>): Fault {
  return new HttpFault(status, ...rest);
}

export function httpStatusOf(fault: Fault): number {
  return fault instanceof HttpFault ? fault.status : FAULTS[fault.kind].http;
}

/** A fault as a client sees it. A bug shows only the request id: its message may contain anything. */
export function toProblem(fault: Fault, redactText: (text: string) => string, id?: string): HttpProblem {
  const status = httpStatusOf(fault);
  const isBug = fault.kind === 'internal';
  return {
    type: `urn:muster:fault:${fault.kind}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: isBug ? `Internal server error. Find it in the log by ${id ?? 'its time'}.` : redactText(fault.message),
    kind: fault.kind,
    ...(fault.at !== undefined && { at: redactText(fault.at) }),
    remedy: fault.remedy,
    ...(fault.retryAfterMs !== undefined && { retry_after_ms: fault.retryAfterMs }),
    ...(fault.problems && { problems: shownProblems(fault.problems, redactText) }),
  };
}

/** What is wrong with a document, one by one. */
export function shownProblems(problems: readonly Problem[], redactText: (text: string) => string): DocumentProblem[] {
  return problems.map((problem) => ({ ...problem, message: redactText(problem.message) }));
}

interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
}

// Errors of fastify itself, in our words. https://fastify.dev/docs/latest/Reference/Errors/
const FRAMEWORK: Readonly<Record<string, (error: Error) => Fault>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    httpFault(415, 'invalid', 'The content type of the body is not supported here.', {
      at: 'headers.content-type',
      remedy: 'Send application/json; pool documents may be application/yaml too.',
    }),
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    httpFault(413, 'invalid', 'The body is too large.', { at: 'body', remedy: 'Send a smaller body.' }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    httpFault(400, 'invalid', 'The length of the body differs from Content-Length.', { at: 'headers.content-length' }),
  FST_ERR_BAD_URL: () => httpFault(400, 'invalid', 'The path is malformed.', { at: 'path' }),
  FST_ERR_MAX_PARAM_LENGTH: () => httpFault(414, 'invalid', 'A name in the path is too long.', { at: 'path' }),
};

/** Any thrown value as a fault; errors of fastify by their codes. */
export function requestFaultOf(thrown: unknown): Fault {
  const error = thrown as FrameworkError;
  const known = typeof error?.code === 'string' ? FRAMEWORK[error.code] : undefined;
  if (known) return known(error);
  const status = error?.statusCode ?? 500;
  if (!(thrown instanceof Fault) && status >= 400 && status < 500) {
    return httpFault(status, 'invalid', error.message, { at: 'request' });
  }
  return Fault.from(thrown);
}
