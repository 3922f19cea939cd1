import { stringify } from 'yaml';

// yaml 2.9 writes a text of nothing but blanks as a block, and reads that back without the blanks.
const BLANK_LINES = /"(?: |\\[nrt])+"/;

/** YAML that reads back as the same value. */
export function writeYaml(value: unknown): string {
  const isBlank = BLANK_LINES.test(JSON.stringify(value) ?? '');
  return stringify(value, { lineWidth: 0, ...(isBlank && { blockQuote: false }) });
}
