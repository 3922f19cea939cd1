// The API server as the tests themselves call it: a call each where kubectl would be a process each.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { Fault } from '#core/fault.ts';
import { ADMIN, type ControlPlane } from './control-plane.ts';

export interface KubeApi {
  /** The answer, whatever its status. */
  call(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }>;
  /** The same; throws what the server complained about. */
  ask<T>(method: string, path: string, body?: object): Promise<T>;
  /** Every change of a list from now on, until the API is closed. */
  watch(path: string, heard: (type: string, object: never) => void): void;
  close(): void;
}

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly 'certificate-authority': string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

const MERGE = 'application/merge-patch+json';

/** As administrator. */
export function openKubeApi({ address, kubeconfigOf }: ControlPlane): KubeApi {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfigOf(ADMIN), 'utf8')) as Kubeconfig;
  const ca = readFileSync(clusters[0].cluster['certificate-authority']);
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 16 });
  const watches = new Agent({ ca });
  const headers = { authorization: `Bearer ${users[0].user.token}`, accept: 'application/json' };
  let isClosed = false;

  function call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const type = method === 'PATCH' ? MERGE : 'application/json';
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, address), {
        method,
        agent,
        headers: { ...headers, ...(body && { 'content-type': type }) },
      });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      });
      sent.end(body && JSON.stringify(body));
    });
  }

  function watch(path: string, heard: (type: string, object: never) => void): void {
    const sent = request(new URL(path, address), { agent: watches, headers });
    // The API server drops readers that fall behind: it begins anew until it is closed.
    const again = (): void => void (isClosed || watch(path, heard));
    sent.once('error', again);
    sent.once('response', (response) => {
      const lines = createInterface(response);
      lines.on('line', (line) => {
        const { type, object } = JSON.parse(line) as { type: string; object: never };
        heard(type, object);
      });
      lines.once('close', again);
      // A cut connection ends the lines too, and readline passes its error on.
      response.on('error', () => lines.close());
      lines.on('error', () => {});
    });
    sent.end();
  }

  return {
    call,
    async ask<T>(method: string, path: string, body?: object) {
      const answer = await call(method, path, body);
      if (answer.status < 300) return answer.body as T;
      throw new Fault('unavailable', `${method} ${path}: ${JSON.stringify(answer.body)}`);
    },
    watch: (path, heard) => watch(`${path}${path.includes('?') ? '&' : '?'}watch=true`, heard),
    close() {
      isClosed = true;
      agent.destroy();
      watches.destroy();
    },
  };
}
