// A recorded session at a terminal as an SVG that plays it again: commands are typed, output appears as it came.

/** A command, and what it printed: when, counted from its start, and what. */
export interface RecordedCommand {
  readonly command: string;
  readonly printed: readonly { readonly afterMs: number; readonly text: string }[];
}

interface Line {
  readonly text: string;
  readonly isCommand: boolean;
  readonly atMs: number;
}

const COLUMNS = 100;
const ROWS = 30;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 8;
const MARGIN = 16;
const TYPED_MS = 35;
const PAUSE_MS = 900;
// Nobody wants to watch a wait that took longer.
const LONGEST_WAIT_MS = 1_500;
const HOLD_MS = 6_000;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const shortened = (text: string): string => (text.length > COLUMNS ? `${text.slice(0, COLUMNS - 1)}…` : text);

/** When each line appears; waits are shortened, their order is kept. */
function linesOf(commands: readonly RecordedCommand[]): { readonly lines: Line[]; readonly endMs: number } {
  const lines: Line[] = [];
  let atMs = PAUSE_MS;
  for (const { command, printed } of commands) {
    lines.push({ text: `$ ${command}`, isCommand: true, atMs });
    atMs += command.length * TYPED_MS;
    let seenMs = 0;
    for (const { afterMs, text } of printed) {
      atMs += Math.min(afterMs - seenMs, LONGEST_WAIT_MS);
      seenMs = afterMs;
      for (const line of text.replace(/\n$/, '').split('\n')) lines.push({ text: line, isCommand: false, atMs });
    }
    atMs += PAUSE_MS;
  }
  return { lines, endMs: atMs + HOLD_MS };
}

const percent = (atMs: number, endMs: number): string => `${((atMs / endMs) * 100).toFixed(2)}%`;

/** The page moves up by whole lines, as a terminal of this many rows does. */
function scrolling(lines: readonly Line[], endMs: number): string {
  // Lines that come together move the page once.
  const steps = new Map<string, string>();
  for (const [index, { atMs }] of lines.entries()) {
    const hidden = index + 1 - ROWS;
    if (hidden > 0) steps.set(percent(atMs, endMs), `{transform:translateY(${-hidden * LINE_HEIGHT}px)}`);
  }
  const last = Math.max(0, lines.length - ROWS) * LINE_HEIGHT;
  return `@keyframes scroll{0%{transform:translateY(0)}${[...steps].flat().join('')}100%{transform:translateY(${-last}px)}}`;
}

function drawn({ text, isCommand }: Line, index: number): string {
  const y = MARGIN + (index + 1) * LINE_HEIGHT;
  const kind = isCommand ? 'line command' : 'line';
  return `<text class="${kind} l${index}" x="${MARGIN}" y="${y}" xml:space="preserve">${escaped(shortened(text))}</text>`;
}

/** Where animation is switched off, all lines of the last page are seen at once. */
export function terminalPicture(title: string, commands: readonly RecordedCommand[]): string {
  const { lines, endMs } = linesOf(commands);
  const width = COLUMNS * CHARACTER_WIDTH + 2 * MARGIN;
  const height = ROWS * LINE_HEIGHT + 2 * MARGIN;
  const appearing = lines.map(({ atMs }, index) => {
    const at = percent(atMs, endMs);
    return `@keyframes a${index}{0%,${at}{opacity:0}${percent(atMs + 1, endMs)},100%{opacity:1}}.l${index}{animation-name:a${index}}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d0d7de}
.command{fill:#7ee787}
.page{animation:scroll ${endMs}ms step-end infinite}
.line{animation-duration:${endMs}ms;animation-timing-function:step-end;animation-iteration-count:infinite}
${scrolling(lines, endMs)}
${appearing.join('\n')}
@media (prefers-reduced-motion:reduce){.line{animation:none}.page{animation:none;transform:translateY(${-Math.max(0, lines.length - ROWS) * LINE_HEIGHT}px)}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<clipPath id="screen"><rect x="0" y="${MARGIN + 4}" width="${width}" height="${ROWS * LINE_HEIGHT}"/></clipPath>
<g clip-path="url(#screen)"><g class="page">
${lines.map(drawn).join('\n')}
</g></g>
</svg>
`;
}
