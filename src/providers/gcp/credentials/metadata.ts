// The metadata server of Google's machines and of pods with workload identity.
import { Fault } from '#core/fault.ts';
import { askAt } from '#rest/ask-at.ts';
import { type OauthAnswer, tokenOf } from '#rest/oauth.ts';
import { SCOPES, type SourceContext, type TokenSource } from './source.ts';

const HOST = 'metadata.google.internal';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
// It is next door; where there is none, nothing answers.
const WITHIN_MS = 5_000;

/** By the service account of the machine or the pod. */
export function metadataSource(context: SourceContext): TokenSource {
  const host = context.variable?.('GCE_METADATA_HOST') || HOST;
  const question = {
    url: `http://${host}${PATH}`,
    query: { scopes: SCOPES.join(',') },
    headers: { 'metadata-flavor': 'Google' },
    withinMs: WITHIN_MS,
  };
  return async (signal) => {
    const answer = await askAt<OauthAnswer>(context, question, signal).catch((thrown) => {
      const fault = Fault.from(thrown);
      if (fault.kind !== 'missing') throw fault;
      throw new Fault('unauthenticated', `The metadata server ${host} knows no service account.`, {
        cause: fault,
        remedy: 'Attach a service account to the machine, or bind one to the Kubernetes service account of the pod.',
      });
    });
    return tokenOf(answer, context.clock, host);
  };
}
