import { parse } from 'yaml';
import { apiVersionOf, type Resource } from '../api/resource.ts';
import { type Fields, isFields, textOf } from '../objects/object.ts';
import { refuse } from '../wire/status.ts';
import { contentType } from './ask.ts';

const unsupported = (accepted: string): Error =>
  refuse(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );

/** A body as JSON or YAML, by its content type. */
export function parseBody(body: string, headers: Headers): unknown {
  const type = contentType(headers);
  if (type.includes('protobuf') || type.includes('cbor')) throw unsupported('application/json, application/yaml');
  try {
    // Most clients send JSON under either name, which is far cheaper to read.
    return type.endsWith('yaml') && !body.startsWith('{') ? parse(body) : JSON.parse(body);
  } catch (thrown) {
    const what = thrown instanceof Error ? thrown.message : String(thrown);
    throw refuse('BadRequest', `the object provided is unrecognized (must be of type Object): ${what}`);
  }
}

/** An object of the right kind, its namespace that of the path. */
export function readObject(parsed: unknown, resource: Resource, namespace: string | undefined): Fields {
  if (!isFields(parsed)) throw refuse('BadRequest', 'the object provided is unrecognized (must be of type Object)');
  const apiVersion = textOf(parsed.apiVersion) || apiVersionOf(resource);
  const kind = textOf(parsed.kind) || resource.kind;
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind) {
    const [given, wanted] = [`${apiVersion}, Kind=${kind}`, `${apiVersionOf(resource)}, Kind=${resource.kind}`];
    throw refuse(
      'BadRequest',
      `the API version in the data (${given}) does not match the expected API version (${wanted})`,
    );
  }
  const metadata = isFields(parsed.metadata) ? parsed.metadata : {};
  const written = textOf(metadata.namespace);
  if (written !== '' && written !== (namespace ?? '')) {
    throw refuse('BadRequest', 'the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...parsed, apiVersion, kind, metadata: namespace === undefined ? metadata : { ...metadata, namespace } };
}
