// The awsJson1_1 protocol: JSON both ways; the call is named by a header; times are seconds.
import type { Refusal } from '#fakes/refusal.ts';
import type { Reply } from './ec2-query.ts';

function respond(status: number, { requestId }: Reply, body: object): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': requestId },
  });
}

export const jsonAnswer = (reply: Reply, body: object): Response => respond(200, reply, body);

/** Some exceptions have fields of their own. */
interface Detailed extends Refusal {
  readonly more?: object;
}

export const jsonRefusal = (reply: Reply, { code, message, status, more }: Detailed): Response =>
  respond(status, reply, { __type: code, message, ...more });
