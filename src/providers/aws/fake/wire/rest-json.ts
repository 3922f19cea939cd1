// The restJson1 protocol: the path names the call, the answer is JSON, and a header names the error.
import type { Refusal } from '#fakes/refusal.ts';
import type { Reply } from './ec2-query.ts';

const headersOf = ({ requestId }: Reply): Record<string, string> => ({
  'content-type': 'application/json',
  'x-amzn-requestid': requestId,
});

export const restAnswer = (reply: Reply, body: object): Response =>
  new Response(JSON.stringify(body), { headers: headersOf(reply) });

export function restRefusal(reply: Reply, { code, message, status }: Refusal): Response {
  // AWS appends the address of the exception's description.
  const headers = { ...headersOf(reply), 'x-amzn-errortype': `${code}:http://internal.amazon.com/coral/` };
  return new Response(JSON.stringify({ message }), { status, headers });
}
