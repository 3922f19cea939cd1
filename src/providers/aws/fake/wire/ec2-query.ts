// The ec2Query protocol: a form goes in, XML comes out; members of lists are called `item`.
import type { Refusal } from '#fakes/refusal.ts';
import { renderXml, type Xml, xmlResponse } from './xml.ts';

const NAMESPACE = 'http://ec2.amazonaws.com/doc/2016-11-15/';

export interface Reply {
  readonly action: string;
  readonly requestId: string;
}

export function ec2Answer({ action, requestId }: Reply, body: Readonly<Record<string, Xml>>): Response {
  const inside = renderXml({ requestId, ...body }, 'item');
  return xmlResponse(200, `<${action}Response xmlns="${NAMESPACE}">${inside}</${action}Response>`);
}

export function ec2Refusal({ requestId }: Reply, { code, message, status }: Refusal): Response {
  const error = renderXml({ Code: code, Message: message }, 'item');
  return xmlResponse(
    status,
    `<Response><Errors><Error>${error}</Error></Errors><RequestID>${requestId}</RequestID></Response>`,
  );
}
