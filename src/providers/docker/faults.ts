import { messagesOf } from '#core/answer.ts';
import { Fault, type FaultKind, isUnclear } from '#core/fault.ts';
import type { Explained } from '#rest/client.ts';

interface Rule {
  readonly words: RegExp;
  readonly kind: FaultKind;
  readonly remedy: string;
}

// The engine has no codes: beside the status only its text tells what it means. The first that fits counts.
const RULES: readonly Rule[] = [
  {
    words: /no such image/i,
    kind: 'missing',
    remedy: 'Build or pull the image on the machine of the engine, or correct `image`.',
  },
  {
    words: /toomanyrequests|rate limit/i,
    kind: 'throttled',
    remedy: 'Wait, or log in to the registry: anonymous pulls have a lower limit.',
  },
  {
    words: /unauthorized|authentication required|no basic auth credentials|incorrect username or password/i,
    kind: 'unauthenticated',
    remedy: 'Set registry_username and registry_password, or run `docker login` as the user of the server.',
  },
  {
    words: /pull access denied|access to the resource is denied|^denied/i,
    kind: 'denied',
    remedy:
      'Check the name of the image. For a private one, set registry_username and registry_password, or run `docker login` as the user of the server.',
  },
  {
    words: /manifest (?:for .* )?(?:unknown|not found)|repository .* not found|not found: manifest/i,
    kind: 'missing',
    remedy: 'Check the name and the tag of the image.',
  },
  {
    words: /no space left on device|disk quota exceeded/i,
    kind: 'exhausted',
    remedy: 'Free disk space on the machine of the engine: `docker system df`, `docker system prune`.',
  },
  {
    words: /cannot allocate memory|no available (?:ipv4 )?addresses|could not find an available/i,
    kind: 'exhausted',
    remedy: 'The machine of the engine has no room left: lower max_agents, or add a second backend.',
  },
  {
    words: /could not select device driver/i,
    kind: 'unsupported',
    remedy: 'Install the NVIDIA Container Toolkit on the machine of the engine, or remove gpus.',
  },
  {
    words: /network .* not found/i,
    kind: 'invalid',
    remedy: 'Create the network with `docker network create`, or correct `network`.',
  },
  {
    words: /executable file not found|no command specified|exec: .*: (?:no such file|permission denied)/i,
    kind: 'invalid',
    remedy: 'The image must start the agent: build it from muster/agent, or set `command`.',
  },
  {
    words: /OCI runtime create failed|failed to create (?:shim|task)|error while creating mount source path/i,
    kind: 'invalid',
    remedy: 'Correct the settings of the container that the message names.',
  },
];

const ruleFor = (said: string): Rule | undefined => RULES.find(({ words }) => words.test(said));

const messageIn = (body: unknown): string | undefined => {
  const { message } = (typeof body === 'object' && body !== null ? body : {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : undefined;
};

/** What an answer of the engine means; without its error form it came from somebody on the way. */
export function explain(status: number, body: unknown): Explained | undefined {
  const message = messageIn(body);
  if (typeof body === 'string' && /HTTP request to an HTTPS server/i.test(body))
    return { remedy: 'That port speaks TLS: set cert_path.' };
  if (message === undefined) return status < 500 ? undefined : { kind: 'unavailable' };
  const rule = ruleFor(message);
  return { kind: rule?.kind, message, remedy: rule?.remedy };
}

/** A failure that the engine reports within a pull. */
export function pullFault(image: string, said: string): Fault {
  const rule = ruleFor(said);
  return new Fault(rule?.kind ?? 'unavailable', `Cannot pull ${image}: ${said}`, {
    remedy: rule?.remedy ?? 'Check that the machine of the engine reaches the registry.',
  });
}

// The only image that a build pulls is its base.
const BASE_REMEDIES: Readonly<Partial<Record<FaultKind, string>>> = {
  unauthenticated: 'Log in to the registry of `base` by `docker login`, then repeat the command.',
  denied: 'Check `base`. If it is private, log in to its registry by `docker login`, then repeat the command.',
  missing: 'Check the name and the tag of `base`.',
};

/** A failure that the engine reports within a build, apart from that of a step. */
export function buildFault(said: string): Fault {
  const { kind = 'unavailable', remedy } = ruleFor(said) ?? {};
  const otherwise = remedy ?? 'Correct `base`, or see the log of the engine: `journalctl -u docker`.';
  return new Fault(kind, `The build failed: ${said}`, { remedy: BASE_REMEDIES[kind] ?? otherwise });
}

/**
 * A refusal of the engine itself, of whatever status, is clear: it undoes what it could not finish. Only a conflict is
 * with another call about the same container.
 */
export function clearly(fault: Fault): Fault {
  const isAnswer = !(fault.cause instanceof Error) && messageIn(fault.cause) !== undefined;
  if (!isAnswer || !isUnclear(fault.kind) || fault.kind === 'conflict') return fault;
  const remedy = 'See the log of the engine: `journalctl -u docker`.';
  return new Fault('exhausted', fault.message, { cause: fault.cause, remedy });
}

const START = 'Start it: `sudo systemctl start docker`, or open Docker Desktop.';
const GET =
  'If Docker is not installed, `sudo apt-get install docker.io` or https://docs.docker.com/engine/install does that.';
const BY_CODE: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENOENT: ['the engine is not running: there is no such socket', `${START} ${GET}`],
  ECONNREFUSED: ['the engine is not running', START],
  EACCES: [
    'the user of the server may not open the socket',
    'Add that user to the group docker (`sudo usermod -aG docker USER`) and start the server again.',
  ],
};

/** An engine that cannot be reached at all, with the command that mends it. */
export function unreached(address: string, fault: Fault): Fault {
  for (let at: unknown = fault.cause, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    const [what, remedy] = BY_CODE[String((at as Error & { code?: unknown }).code)] ?? [];
    if (what) return new Fault('unavailable', `Docker at ${address}: ${what}.`, { cause: fault.cause, remedy });
  }
  if (/certificate|SSL|TLS|EPROTO/i.test(messagesOf(fault.cause))) {
    const remedy = 'Check cert_path, and that host names the port with TLS.';
    return new Fault('unavailable', fault.message, { cause: fault.cause, remedy });
  }
  return fault;
}
