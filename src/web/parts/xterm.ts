// The one file that loads xterm: a chunk of its own.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { AttachIn, AttachOut } from '../../api/wire/session.ts';
import { API } from '../live/request.ts';

export interface ConnectedTerminal {
  close(): void;
}

/**
 * What a program prints may ask the terminal for its name, its position, its colours or its title, and the answer would
 * be typed into the program as if the user had done so. These are taken and never answered.
 */
const QUERIES = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { final: 'x' },
  { final: 't' },
  { prefix: '>', final: 'q' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { prefix: '?', final: 'u' },
] as const;
const SETTING_QUERY = { intermediates: '$', final: 'q' } as const;
/** Colours, which one can also ask for, and the clipboard. */
const QUERIED_BY_OSC = [4, 10, 11, 12, 52, 104, 110, 111, 112] as const;

export function refuseQueries({ parser }: Pick<Terminal, 'parser'>): void {
  for (const id of QUERIES) parser.registerCsiHandler(id, () => true);
  parser.registerDcsHandler(SETTING_QUERY, () => true);
  for (const code of QUERIED_BY_OSC) parser.registerOscHandler(code, () => true);
}

/** Opens links to the web alone, in a page that knows nothing of this one. */
export function openLink(address: string): void {
  if (/^https?:\/\//i.test(address)) open(address, '_blank', 'noopener,noreferrer');
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const base64Of = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);

function endText({ end }: Extract<AttachOut, { end: unknown }>): string {
  const { end: how } = end;
  return how
    ? `The session has ended: ${how.how}${how.how === 'exited' ? ` ${how.exit_code}` : ''}.`
    : 'The session has ended.';
}

/** Shows the terminal of a session in that element; `ended` says why it is over. */
export function openTerminal(element: HTMLElement, session: string, ended: (why: string) => void): ConnectedTerminal {
  const terminal = new Terminal({
    fontFamily: colour('--mono'),
    fontSize: 13,
    scrollback: 5_000,
    screenReaderMode: true,
    theme: { background: '#191d24', foreground: '#eceef2', cursor: '#82adff' },
    linkHandler: { activate: (_event, address) => openLink(address) },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  refuseQueries(terminal);
  terminal.open(element);
  fit.fit();
  const url = new URL(`${API}/sessions/${encodeURIComponent(session)}/attach`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = new WebSocket(url);
  const send = (message: AttachIn): void => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const resize = (): void => send({ resize: { columns: terminal.cols, rows: terminal.rows } });
  let isEnded = false;
  const end = (why: string): void => {
    if (isEnded) return;
    isEnded = true;
    terminal.options.disableStdin = true;
    ended(why);
  };
  socket.addEventListener('open', () => {
    resize();
    terminal.focus();
  });
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const message = JSON.parse(data) as AttachOut;
    if ('output' in message) terminal.write(bytesOf(message.output.data));
    else end(endText(message));
  });
  socket.addEventListener('close', ({ reason }) => end(reason || 'The connection to the session has ended.'));
  terminal.onData((text) => send({ input: base64Of(text) }));
  terminal.onResize(resize);
  terminal.attachCustomKeyEventHandler(({ key, ctrlKey, shiftKey }) => {
    const isLeaving = key === 'Escape' && ctrlKey && shiftKey;
    if (isLeaving) terminal.blur();
    return !isLeaving;
  });
  const resized = new ResizeObserver(() => fit.fit());
  resized.observe(element);
  return {
    close() {
      resized.disconnect();
      socket.close();
      terminal.dispose();
    },
  };
}
