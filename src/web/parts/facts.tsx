import type { ComponentChildren } from 'preact';

/** Names with their values; those without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Any value of the API in words: its keys with spaces, lists with commas. */
export function Value({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span class="quiet">none</span>;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return <>{value.length === 0 ? <span class="quiet">none</span> : value.join(', ')}</>;
  if (typeof value === 'object')
    return (
      <pre tabIndex={0}>
        <code>{JSON.stringify(value, undefined, 2)}</code>
      </pre>
    );
  return <>{typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)}</>;
}

export const wordsOf = (key: string): string => key.replaceAll('_', ' ');
