import type { IncomingHttpHeaders } from 'node:http';
import { escaped, htmlPage } from './html.ts';

/** Browsers accept HTML; programs do not ask for it. */
export const isBrowser = (method: string, { accept = '' }: IncomingHttpHeaders): boolean =>
  (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(accept);

const STYLE = `
main { max-width: 40rem; margin: 12vh auto; padding: 0 1.25rem; }
pre { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; }
.why { opacity: .75; }
`;

/** For a browser without a session: why it is refused, and how to log in. */
export function loginPage({ why, origin }: { readonly why: string; readonly origin: string }): string {
  return htmlPage(
    'Log in to Muster',
    STYLE,
    `<main><h1>Log in to Muster</h1><p class="why">${escaped(why)}</p>
<p>A link logs this browser in. It works once, within five minutes. To get one, run this on the server's machine, in the folder where the server was started:</p>
<pre tabindex="0"><code>npx muster login</code></pre>
<p>From another machine, name the server and your token:</p>
<pre tabindex="0"><code>export MUSTER_ADDRESS=${escaped(origin)}
export MUSTER_TOKEN=…
muster login</code></pre>
<p>Then open the link that it prints.</p></main>`,
  );
}

/** After a link was redeemed: leads to the dashboard and leaves the link out of the history. */
export function loggedInPage(): string {
  return htmlPage(
    'Muster',
    STYLE,
    `<meta http-equiv="refresh" content="0; url=/"><main><p>You are logged in. <a href="/">Open the dashboard</a></p></main>`,
  );
}
