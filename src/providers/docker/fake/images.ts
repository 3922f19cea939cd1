// The images of a fake engine, and the registries that it pulls from.
import { hash } from 'node:crypto';
import { refusal } from '#fakes/refusal.ts';
import type { EngineCall } from './wire.ts';

/** What a registry answers for an image: its content, or an error. */
export type Remote = { readonly content: string } | { readonly error: string } | { readonly refusal: string };

export interface FakeImages {
  /** By name and tag: the id. */
  readonly local: Map<string, string>;
  /** By name and tag: what the registry has. */
  readonly remote: Map<string, Remote>;
  /** Somebody builds an image under that name. */
  build(image: string, content?: string): string;
  idOf(image: string): string;
  pull(call: EngineCall): Response;
}

export const fullName = (image: string): string =>
  image.includes('@') || image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`;

const idFor = (content: string): string => `sha256:${hash('sha256', content)}`;

export function openImages(): FakeImages {
  const local = new Map<string, string>();
  const remote = new Map<string, Remote>();

  function build(image: string, content = image): string {
    local.set(fullName(image), idFor(content));
    return idFor(content);
  }

  return {
    local,
    remote,
    build,
    idOf(image) {
      if (/[A-Z ]/.test(image.split(':')[0] ?? ''))
        throw refusal('bad_parameter', 'invalid reference format: repository name must be lowercase', 400);
      const id = local.get(fullName(image));
      if (id === undefined) throw refusal('not_found', `No such image: ${fullName(image)}`, 404);
      return id;
    },
    pull({ query: { fromImage = '', tag = '' } }) {
      const separator = tag.includes(':') ? '@' : ':';
      const image = tag === '' ? fullName(fromImage) : `${fromImage}${separator}${tag}`;
      const there = remote.get(image);
      if (!there) {
        const said = `pull access denied for ${fromImage}, repository does not exist or may require 'docker login': denied: requested access to the resource is denied`;
        throw refusal('not_found', said, 404);
      }
      if ('refusal' in there) throw refusal('registry', there.refusal, 500);
      const lines: object[] = [{ status: `Pulling from ${fromImage}`, id: tag }];
      if ('error' in there) lines.push({ errorDetail: { message: there.error }, error: there.error });
      else {
        const id = build(image, there.content);
        lines.push({ status: `Digest: ${id}` }, { status: `Status: Downloaded newer image for ${image}` });
      }
      const text = lines.map((line) => `${JSON.stringify(line)}\r\n`).join('');
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    },
  };
}
