// App Configuration, as far as a reader of key-values needs it.
import type { Context } from '#core/provider.ts';
import { openWatchedFiles } from '#kube/watched-files.ts';
import type { Ask, Explained, RestRequest } from '#rest/client.ts';
import { cloudClient } from '#rest/cloud-client.ts';
import { openTokens } from '#rest/tokens.ts';
import { cliToken } from '../credentials/cli.ts';
import { defaultLogin } from '../credentials/default.ts';
import type { SourceDeps } from '../credentials/source.ts';
import type { AppConfigurationConfig } from './config.ts';
import { openSyncTokens } from './sync-tokens.ts';

/** RFC 7807, as the service writes it. */
interface ProblemBody {
  readonly title?: string;
  readonly detail?: string;
}

export interface StoreApi {
  readonly ask: Ask;
  /** For messages: who is asked. */
  readonly host: string;
  close(): void;
}

const API_VERSION = '2023-11-01';
const ROLE = 'App Configuration Data Reader';

function explainProblem(status: number, body: unknown, store: string): Explained | undefined {
  const { title, detail } = (typeof body === 'object' && body !== null ? body : {}) as ProblemBody;
  const message = [title, detail].filter(Boolean).join(': ') || undefined;
  if (status !== 403) return message ? { message } : undefined;
  const command = `az role assignment create --role "${ROLE}" --assignee OBJECT_ID --scope $(az appconfig show --name ${store} --query id --output tsv)`;
  return { message, remedy: `Grant the server's identity the role ${ROLE}: ${command}.` };
}

export function openStoreApi(
  { endpoint }: AppConfigurationConfig,
  context: Context,
  own: Partial<SourceDeps> = {},
): StoreApi {
  const { clock } = context;
  const { host, hostname, protocol } = new URL(endpoint);
  const closing = new AbortController();
  const synced = openSyncTokens();
  const login = defaultLogin({
    context,
    files: openWatchedFiles(clock),
    cli: (...given) => cliToken(clock, ...given),
    ...own,
  });
  const tokens = openTokens({ clock, renew: () => login.token(login.appConfiguration, closing.signal) });

  const { ask: send } = cloudClient({
    context,
    base: endpoint,
    cloud: host,
    auth: protocol === 'http:' ? undefined : tokens,
    rates: [],
    headers() {
      const token = synced.header();
      return token === undefined ? {} : ({ 'sync-token': token } as Record<string, string>);
    },
    explain: (status, body) => explainProblem(status, body, hostname.split('.')[0] ?? hostname),
  });

  return {
    host,
    ask<T>(request: RestRequest, signal: AbortSignal): Promise<T> {
      const heard = (answer: Response): void => {
        synced.hear(answer.headers.get('sync-token'));
        request.heard?.(answer);
      };
      return send<T>({ ...request, query: { ...request.query, 'api-version': API_VERSION }, heard }, signal);
    },
    close: () => closing.abort(),
  };
}
