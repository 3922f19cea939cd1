// The query protocol as STS speaks it: a form goes in, XML comes out; members of lists are called `member`.
import type { Refusal } from '#fakes/refusal.ts';
import type { Reply } from './ec2-query.ts';
import { renderXml, type Xml, xmlResponse } from './xml.ts';

const NAMESPACE = 'https://sts.amazonaws.com/doc/2011-06-15/';

export function stsAnswer({ action, requestId }: Reply, body: Readonly<Record<string, Xml>>): Response {
  const inside = renderXml({ [`${action}Result`]: body, ResponseMetadata: { RequestId: requestId } }, 'member');
  return xmlResponse(200, `<${action}Response xmlns="${NAMESPACE}">${inside}</${action}Response>`);
}

export function stsRefusal({ requestId }: Reply, { code, message, status }: Refusal): Response {
  const error = renderXml({ Type: 'Sender', Code: code, Message: message }, 'member');
  return xmlResponse(
    status,
    `<ErrorResponse xmlns="${NAMESPACE}"><Error>${error}</Error><RequestId>${requestId}</RequestId></ErrorResponse>`,
  );
}
