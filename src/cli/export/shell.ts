// Commands that put each document where a source reads it.
import { Fault } from '#core/fault.ts';
import { quoted } from '#core/shell-text.ts';
import { cannot, type Exported, keyOf, type Render, sourceNotes, withSlash } from './document.ts';

export const SSM_PREFIX = '/velda/pools/';
const GCS_PREFIX = 'pools/';

// https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
const SSM_NAME = /^[A-Za-z0-9_.\-/]+$/;
const STANDARD_BYTES = 4_096;
const ADVANCED_BYTES = 8_192;

/** The name of the parameter for a pool, where it can have one. */
export function parameterName(pool: Exported, prefix = SSM_PREFIX): string {
  const name = withSlash(prefix) + keyOf(pool);
  if (SSM_NAME.test(name)) return name;
  throw cannot(
    pool.name,
    'parameter names may contain only letters, digits and . - _ /',
    'Give the pool another name.',
  );
}

/** Whether a value needs the tier that costs money; throws where none can hold it. */
export function isAdvanced({ name }: Exported, value: string): boolean {
  const bytes = Buffer.byteLength(value);
  if (bytes > ADVANCED_BYTES) {
    const why = `it has ${bytes} bytes, and a parameter holds at most ${ADVANCED_BYTES}`;
    throw cannot(name, why, 'Shorten it, or use a source that allows larger documents.');
  }
  return bytes > STANDARD_BYTES;
}

export const renderSsm: Render = (pool, { prefix }) => {
  const value = JSON.stringify(pool.document);
  const tier = isAdvanced(pool, value) ? ' --tier Advanced' : '';
  const name = quoted(parameterName(pool, prefix));
  return `${sourceNotes(pool)}aws ssm put-parameter --name ${name} --type String --overwrite${tier} --value ${quoted(value)}\n`;
};

export const renderGcs: Render = (pool, { bucket, prefix = GCS_PREFIX }) => {
  if (bucket === undefined) {
    throw new Fault('invalid', 'The format gcs needs a bucket.', { remedy: 'Give it with --bucket.' });
  }
  const object = quoted(`gs://${bucket}/${withSlash(prefix)}${keyOf(pool)}.json`);
  const value = quoted(JSON.stringify(pool.document));
  return `${sourceNotes(pool)}printf %s ${value} | gcloud storage cp --content-type=application/json - ${object}\n`;
};
