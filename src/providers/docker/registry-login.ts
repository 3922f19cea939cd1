// What `docker login` wrote into the docker command's own file, in the form that a pull takes.
import { Buffer } from 'node:buffer';
import { join } from 'node:path';
import type { Programs } from '#core/programs.ts';
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
export const registryAuth = (login: Readonly<Record<string, string | RegistryLogin | undefined>>): string =>
  Buffer.from(JSON.stringify(login)).toString('base64url');

/** What a registry wants to know of who asks, in the words of the Engine API. */
export type RegistryLogin = Readonly<Record<string, string>>;

/** The key of that file for programs by registry; its name is one that we call nothing. */
const STORES = 'credHelpers';

interface DockerFile {
  readonly auths?: Readonly<Record<string, Login>>;
  readonly credsStore?: string;
  readonly [STORES]?: Readonly<Record<string, string>>;
}

function dockerFile(deps: EndpointDeps): DockerFile {
  try {
    return JSON.parse(deps.readFile(join(dockerFolder(deps), 'config.json')) ?? '{}');
  } catch {
    return {};
  }
}

function writtenLogin(registry: string, { auths = {} }: DockerFile): RegistryLogin | undefined {
  const { auth, identitytoken } = auths[registry] ?? auths[`https://${registry}`] ?? {};
  if (identitytoken) return { identitytoken, serveraddress: registry };
  const [username, ...password] = Buffer.from(auth ?? '', 'base64')
    .toString()
    .split(':');
  return username ? { username, password: password.join(':'), serveraddress: registry } : undefined;
}

/** The login for the registry of an image; nothing where there is none, or where only a credential store knows it. */
export function storedLogin(image: string, deps: EndpointDeps): string | undefined {
  const login = writtenLogin(registryOf(image), dockerFile(deps));
  return login && registryAuth(login);
}

const STORE_PREFIX = 'docker-credential-';
// What a store answers as the user of an identity token.
const TOKEN_USER = '<token>';

/** What a credential store has for a registry: https://docs.docker.com/reference/cli/docker/login/#credential-helper-protocol */
async function storeLogin(
  registry: string,
  { store, programs, folder }: { store: string; programs: Programs; folder: string },
  signal: AbortSignal,
): Promise<RegistryLogin | undefined> {
  const lines: string[] = [];
  const line = (text: string, from: string): void => void (from === 'stdout' && lines.push(text));
  const call = { program: `${STORE_PREFIX}${store}`, args: ['get'], folder, env: {}, input: registry, line };
  const { code } = await programs.run(call, signal);
  if (code !== 0) return undefined;
  try {
    const { Username = '', Secret = '' } = JSON.parse(lines.join('\n'));
    if (Username === TOKEN_USER) return { identitytoken: Secret, serveraddress: registry };
    return Username === '' ? undefined : { username: Username, password: Secret, serveraddress: registry };
  } catch {
    return undefined;
  }
}

export interface LoginDeps extends EndpointDeps {
  readonly programs?: Programs | undefined;
}

/** The login for the registry of an image, as `docker push` finds it: by a credential store, else as it was written down. */
export async function userLogin(
  image: string,
  { programs, ...deps }: LoginDeps,
  signal: AbortSignal,
): Promise<RegistryLogin | undefined> {
  const registry = registryOf(image);
  const file = dockerFile(deps);
  const store = file[STORES]?.[registry] ?? file.credsStore;
  const asked = programs && store ? { store, programs, folder: dockerFolder(deps) } : undefined;
  const isThere = asked !== undefined && asked.programs.find(`${STORE_PREFIX}${asked.store}`) !== undefined;
  return (isThere ? await storeLogin(registry, asked, signal) : undefined) ?? writtenLogin(registry, file);
}
