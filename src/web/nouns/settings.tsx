import type { Signal } from '@preact/signals';
import type { ServerStatus } from '../../api/wire/server.ts';
import type { Me } from '../../api/wire/token.ts';
import { theme, zone } from '../frame/preferences.ts';
import { ME_PATH, useMay } from '../live/session.ts';
import { useAsked, useLive } from '../live/use.ts';
import type { WebNoun } from '../noun.ts';
import { Facts } from '../parts/facts.tsx';
import { Shown } from '../parts/standing.tsx';
import { State } from '../parts/state.tsx';
import { Ago } from '../parts/time.tsx';
import { Tokens } from '../settings/tokens.tsx';

const SERVER_EVERY_MS = 10_000;

function You() {
  const live = useLive();
  const asked = live.known<Me>(ME_PATH).value;
  async function logOut(): Promise<void> {
    await live.fetch('/logout', { method: 'POST', credentials: 'same-origin' });
    // The answer to any request now says that this browser is logged out.
    await live.refresh(ME_PATH);
  }
  return (
    <section aria-label="You">
      <h2>You</h2>
      <Shown asked={asked} rows={3}>
        {({ name, who, role, expires_at: expiresAt, is_cookie: isCookie }) => (
          <>
            <Facts
              of={[
                ['Name', name],
                ['Role', role],
                ['Events name you', <span class="mono">{who}</span>],
                [isCookie ? 'Logs out' : 'Expires', expiresAt ? <Ago at={expiresAt} /> : 'never'],
              ]}
            />
            <p>
              <button type="button" onClick={() => void logOut()}>
                Log out
              </button>
            </p>
          </>
        )}
      </Shown>
    </section>
  );
}

interface ChoiceProps<T extends string> {
  readonly title: string;
  readonly of: Signal<T>;
  readonly choices: readonly (readonly [value: T, words: string])[];
}

function Choice<T extends string>({ title, of, choices }: ChoiceProps<T>) {
  return (
    <fieldset class="choice">
      <legend>{title}</legend>
      {choices.map(([value, words]) => (
        <label key={value}>
          <input
            type="radio"
            name={title}
            checked={of.value === value}
            onChange={() => {
              of.value = value;
            }}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}

function Look() {
  return (
    <section aria-label="This browser">
      <h2>This browser</h2>
      <Choice
        title="Theme"
        of={theme}
        choices={[
          ['system', 'As the system'],
          ['light', 'Light'],
          ['dark', 'Dark'],
        ]}
      />
      <Choice
        title="Times"
        of={zone}
        choices={[
          ['local', `Local (${Intl.DateTimeFormat().resolvedOptions().timeZone})`],
          ['utc', 'UTC'],
        ]}
      />
    </section>
  );
}

function Server() {
  const asked = useAsked<ServerStatus>('/server', { everyMs: SERVER_EVERY_MS });
  return (
    <section aria-label="Server">
      <h2>Server</h2>
      <Shown asked={asked} rows={5}>
        {(server) => (
          <Facts
            of={[
              ['State', <State word={server.ready ? 'ready' : 'not ready'} tone={server.ready ? 'ok' : 'problem'} />],
              ['Why', server.why_not_ready],
              ['Version', <span class="mono">{server.version}</span>],
              ['Started', <Ago at={server.started_at} />],
              ['Cluster', <span class="mono">{server.cluster}</span>],
              ['Holder', `process ${server.pid}, epoch ${server.epoch}`],
              ['Store', server.store],
              ...Object.entries(server.addresses).map(
                ([use, address]) =>
                  [
                    `Address for ${use}`,
                    <span key={use} class="mono">
                      {address}
                    </span>,
                  ] as const,
              ),
              ['Fingerprint of its CA', <span class="mono">{server.ca_fingerprint}</span>],
              ['Documentation', <a href="/docs">HTTP API</a>],
            ]}
          />
        )}
      </Shown>
    </section>
  );
}

function SettingsPage() {
  const isAdmin = useMay('admin');
  return (
    <>
      <h1>Settings</h1>
      <You />
      <Look />
      <Server />
      {isAdmin && <Tokens />}
    </>
  );
}

export const noun: WebNoun = {
  path: '/settings',
  title: 'Settings',
  order: 200,
  key: ',',
  isHidden: true,
  pages: [{ path: '/settings', page: SettingsPage }],
};
