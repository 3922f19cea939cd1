import type { WireCall } from './failure-rules.ts';

/** A request to a cloud whose services each have a host; its action is `<service>.<action>`. */
export interface RestCall<Service extends string> extends WireCall {
  readonly service: Service | 'unknown';
  readonly path: string;
  readonly headers: Headers;
}

/** The hosts of a cloud's services, and the actions of each by method and path. */
export interface RestActions<Service extends string> {
  readonly hosts: Readonly<Record<string, Service>>;
  readonly actions: readonly (readonly [service: Service, pattern: RegExp, action: string])[];
}

export function restCallOf<Service extends string>(
  { method, url, headers }: Request,
  { hosts, actions }: RestActions<Service>,
): RestCall<Service> {
  const { host, pathname: path } = new URL(url);
  const service = hosts[host] ?? 'unknown';
  const line = `${method} ${path}`;
  const action = actions.find(([of, pattern]) => of === service && pattern.test(line))?.[2] ?? 'unknown';
  return { service, action: `${service}.${action}`, region: '', path, headers };
}

/** The parameters of the query and of a form. */
export const parametersOf = ({ url }: Request, form: string): Record<string, string> =>
  Object.fromEntries([...new URL(url).searchParams, ...new URLSearchParams(form)]);
