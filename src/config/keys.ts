/** `max_agents` → `maxAgents`, the rule of proto-JSON. */
export function toCamel(key: string): string {
  return key.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `maxAgents` → `max_agents`. */
export function toSnake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether what a user wrote names this key of a schema: in snake_case or in camelCase, nothing else. */
export function isKey(written: string, key: string): boolean {
  return written === key || written === toCamel(key) || written === toSnake(key);
}

/** A key added to a written path; what is no plain word goes in quotes. */
export function joinPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  const isWord = /^[\w-]+$/.test(key);
  if (!isWord) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
