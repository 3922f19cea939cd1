import { useLocation } from 'preact-iso/router';
import type { WebNoun } from '../noun.ts';

/** How many letters two words have in common from their beginning. */
function sharedLetters(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Pages whose path begins as that one does, the most alike first. */
export function nearestPaths(path: string, nouns: readonly WebNoun[]): readonly WebNoun[] {
  const written = path.split('/')[1]?.toLowerCase() ?? '';
  return nouns
    .map((noun) => ({ noun, shared: sharedLetters(written, noun.path.slice(1)) }))
    .filter(({ shared }) => shared > 0)
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, 3)
    .map(({ noun }) => noun);
}

/** A path that names no page. */
export function UnknownPath({ nouns }: { readonly nouns: readonly WebNoun[] }) {
  const { path } = useLocation();
  const near = nearestPaths(path, nouns);
  const shown = near.length > 0 ? near : nouns.filter(({ isHidden }) => !isHidden);
  return (
    <div class="standing">
      <h1>There is no page {path}</h1>
      <p>{near.length > 0 ? 'The nearest:' : 'There are:'}</p>
      <ul>
        {shown.map((noun) => (
          <li key={noun.path}>
            <a href={noun.path}>{noun.title}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}
