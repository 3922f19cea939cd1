import { AGENT_IMAGE as NAME } from '#core/image-builder.ts';

/** The image that `muster image build docker` makes of this program, which names itself `muster/0.1.0`. */
export function agentImageOf(userAgent = ''): string {
  const version = /^muster\/(\S+)$/.exec(userAgent)?.[1];
  return version === undefined ? `${NAME}:latest` : `${NAME}:${version}`;
}
