// An image goes to a registry by the engine, with the login of the user who runs the command.
import { plainMessage } from '#core/answer.ts';
import { Fault } from '#core/fault.ts';
import type { BuiltImage } from '#core/image-builder.ts';
import type { PushLine } from '../api.ts';
import type { Engine } from '../engine.ts';
import { type RegistryLogin, registryAuth, registryOf } from '../registry-login.ts';
import { imagePath } from './clean.ts';

// The registry in the words of `docker login`; the usual one needs no name.
const hostOf = (to: string): string => registryOf(`${to}:x`).replace(/^https:\/\/.*/, '');

function pushFault(reference: string, to: string, said: string): Fault {
  const isRefusal = /unauthorized|authentication required|denied|no basic auth|forbidden/i.test(said);
  const isUnknown = /unauthorized|authentication required|no basic auth/i.test(said);
  const login = `docker login ${hostOf(to)}`.trim();
  return new Fault(
    isRefusal ? (isUnknown ? 'unauthenticated' : 'denied') : 'unavailable',
    `Cannot push ${reference}: ${plainMessage(said)}`,
    {
      remedy: isRefusal
        ? `Log in as somebody who may push there: \`${login}\`. Then repeat the command.`
        : `Check that the machine of the engine reaches the registry, and the name ${to}.`,
    },
  );
}

export async function pushImage(
  { engine, login }: { engine: Engine; login: RegistryLogin | undefined },
  { image, to }: { image: BuiltImage; to: string },
  line: (text: string) => void,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const reference = `${to}:${image.version}`;
  const named = { method: 'POST', path: imagePath(image.reference, '/tag'), query: { repo: to, tag: image.version } };
  await engine.ask({ ...named, method: 'POST' }, signal);
  const stream = {
    method: 'POST',
    path: imagePath(to, '/push'),
    query: { tag: image.version },
    // The engine refuses a push without the header, also to a registry that needs no login.
    headers: { 'x-registry-auth': registryAuth(login ?? {}) },
  } as const;
  try {
    for await (const { status, id, progress, error, errorDetail } of engine.lines<PushLine>(stream, signal)) {
      const said = errorDetail?.message ?? error;
      if (said !== undefined) throw pushFault(reference, to, said);
      if (status !== undefined && !progress) line(id === undefined ? status : `${id}: ${status}`);
    }
  } catch (thrown) {
    // A name that leads nowhere would mislead: it goes, the image stays under its own.
    await engine.ask({ method: 'DELETE', path: imagePath(reference) }, new AbortController().signal).catch(() => {});
    const fault = Fault.from(thrown);
    throw fault.message.startsWith('Cannot push') ? fault : pushFault(reference, to, fault.message);
  }
  return { ...image, reference };
}
