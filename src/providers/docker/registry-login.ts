// What `docker login` wrote into the docker command's own file, in the form that a pull takes.
import { Buffer } from 'node:buffer';
import { join } from 'node:path';
import { dockerFolder, type EndpointDeps } from './endpoint.ts';

interface Login {
  /** `user:password`, as base64. */
  readonly auth?: string;
  readonly identitytoken?: string;
}

// The name under which the docker command files its usual registry.
const USUAL = 'https://index.docker.io/v1/';

/** The registry of an image: its first part, if that can be a host. */
export function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first : USUAL;
}

/** The header of a pull. */
export const registryAuth = (login: Readonly<Record<string, string | undefined>>): string =>
  Buffer.from(JSON.stringify(login)).toString('base64url');

/** The login for the registry of an image; nothing where there is none, or where only a credential helper knows it. */
export function storedLogin(image: string, deps: EndpointDeps): string | undefined {
  const registry = registryOf(image);
  let logins: Readonly<Record<string, Login>>;
  try {
    logins = JSON.parse(deps.readFile(join(dockerFolder(deps), 'config.json')) ?? '{}').auths ?? {};
  } catch {
    return undefined;
  }
  const { auth, identitytoken } = logins[registry] ?? logins[`https://${registry}`] ?? {};
  if (identitytoken) return registryAuth({ identitytoken, serveraddress: registry });
  const [username, ...password] = Buffer.from(auth ?? '', 'base64')
    .toString()
    .split(':');
  return username ? registryAuth({ username, password: password.join(':'), serveraddress: registry }) : undefined;
}
