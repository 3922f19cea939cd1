// Mithril publishes its API as a Python package that is generated from its OpenAPI document. Unpack its wheel, and run
//   node scripts/mithril-definition.ts <folder of the wheel>
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MethodDefinition } from '#fakes/check-request.ts';
import { neededDefs, writeDefinition } from './write-definition.ts';

/** The actions of the fake, by the modules of the package. */
const METHODS: Readonly<Record<string, string>> = {
  types: 'instance_types/get_instance_types_v2_instance_types_get',
  availability: 'spot/get_auctions_v2_spot_availability_get',
  price: 'pricing/get_current_prices_v2_v2_pricing_current_get',
  instances: 'instances/get_instances_v2_instances_get',
  list: 'spot/get_bids_v2_spot_bids_get',
  create: 'spot/create_bid_v2_spot_bids_post',
  get: 'spot/get_bid_v2_spot_bids_bid_fid_get',
  update: 'spot/update_bid_v2_spot_bids_bid_fid_patch',
  delete: 'spot/cancel_bid_v2_spot_bids_bid_fid_delete',
  sshKeys: 'ssh_keys/get_ssh_keys_v2_ssh_keys_get',
  projects: 'projects/get_projects_v2_projects_get',
  me: 'profile/get_me_v2_me_get',
  teammates: 'profile/get_my_teammates_v2_me_teammates_get',
};

const [folder = ''] = process.argv.slice(2);
const bindings = join(folder, 'mithril', 'api', 'bindings');
const version = readdirSync(folder)
  .find((name) => name.endsWith('.dist-info'))
  ?.match(/-(.+)\.dist-info$/)?.[1];

/** By the name of its class. */
const models = new Map(
  readdirSync(join(bindings, 'models')).flatMap((file) => {
    const text = readFileSync(join(bindings, 'models', file), 'utf8');
    const name = text.match(/^class (\w+)/m)?.[1];
    return name ? [[name, text] as const] : [];
  }),
);

const PLAIN: Readonly<Record<string, object>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  bool: { type: 'boolean' },
  None: { type: 'null' },
  Any: {},
};

/** JSON Schema of a type as Python writes it; in a query without null, and without references. */
function schemaOf(written: string, inQuery = false): object {
  const choices = written.split('|').map((each) => each.trim());
  const schemas = choices
    .filter((each) => each !== 'Unset' && !(inQuery && each === 'None'))
    .map((each) => {
      const items = each.match(/^list\[(.+)\]$/)?.[1];
      if (items) return inQuery ? { type: 'array' } : { type: 'array', items: schemaOf(items) };
      return PLAIN[each] ?? (inQuery ? defOf(each) : { $ref: `#/$defs/${each}` });
    });
  return schemas.length === 1 ? (schemas[0] as object) : { anyOf: schemas };
}

const isOptional = (written: string): boolean => written.includes('Unset');

/** Values of an enumeration, or the fields of an object. The package keeps further fields: no typo of ours shall pass. */
function defOf(name: string): object {
  const text = models.get(name) ?? '';
  const values = [...text.matchAll(/^ {4}[A-Z_0-9]+ = "(.+)"$/gm)].map(([, value]) => value);
  if (values.length > 0) return { enum: values };
  const fields = [...text.matchAll(/^ {8}(\w+) \((.+?)\):/gm)].map(
    ([, field = '', type = '']) => [field, type] as const,
  );
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([field, type]) => [field, schemaOf(type)])),
    required: fields.flatMap(([field, type]) => (isOptional(type) ? [] : [field])),
    additionalProperties: false,
  };
}

function methodOf(module: string): MethodDefinition {
  const text = readFileSync(join(bindings, 'api', `${module}.py`), 'utf8');
  const signature = text.match(/def _get_kwargs\(([^)]*)\)/)?.[1] ?? '';
  const afterStar = signature.split('*,')[1] ?? '';
  const parameters = afterStar
    .split(/,\n/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [, name = '', type = ''] = line.match(/^(\w+): (.+?)(?: = .+)?$/) ?? [];
      return { name, type, isNeeded: !line.includes(' = ') };
    });
  const body = parameters.find(({ name }) => name === 'body');
  const query = parameters.filter((one) => one !== body);
  const required = query.filter(({ isNeeded }) => isNeeded).map(({ name }) => name);
  return {
    query: Object.fromEntries(query.map(({ name, type }) => [name, schemaOf(type, true)])),
    ...(required.length > 0 && { required }),
    ...(body && { body: schemaOf(body.type) }),
  };
}

const methods = Object.fromEntries(Object.entries(METHODS).map(([action, module]) => [action, methodOf(module)]));
const command = 'node scripts/mithril-definition.ts <its wheel, unpacked>';
const from = `mithril-client ${version} (PyPI)`;
writeDefinition({ provider: 'mithril', from, command }, { methods, $defs: neededDefs(methods, defOf) });
