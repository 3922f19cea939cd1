const NAME = 'muster/agent';

/** The image of the agent in the version of this program, which names itself `muster/0.1.0`. */
export function agentImageOf(userAgent = ''): string {
  const version = /^muster\/(\S+)$/.exec(userAgent)?.[1];
  return version === undefined ? `${NAME}:latest` : `${NAME}:${version}`;
}
