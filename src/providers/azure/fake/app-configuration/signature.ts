// Requests signed with an access key: learn.microsoft.com/azure/azure-app-configuration/rest-api-authentication-hmac.
import { createHmac, hash } from 'node:crypto';
import type { AzureCall } from '../read-call.ts';

const FORM = /^HMAC-SHA256 Credential=([^&]+)&SignedHeaders=([^&]+)&Signature=(.+)$/;

export function isSignedBy(call: AzureCall, accessKeys: ReadonlyMap<string, string>): boolean {
  const [, id = '', names = '', signature] = FORM.exec(call.headers.get('authorization') ?? '') ?? [];
  const secret = accessKeys.get(id);
  if (secret === undefined) return false;
  const { method, pathAndQuery, host, headers, text } = call.sent;
  if (headers.get('x-ms-content-sha256') !== hash('sha256', text, 'base64')) return false;
  const values = names.split(';').map((name) => (name.toLowerCase() === 'host' ? host : headers.get(name)));
  const signed = `${method}\n${pathAndQuery}\n${values.join(';')}`;
  return createHmac('sha256', Buffer.from(secret, 'base64')).update(signed).digest('base64') === signature;
}
