import { SECOND_MS } from '#core/clock.ts';
import { refusal } from '#fakes/refusal.ts';
import type { AzureCall } from './read-call.ts';
import { TOKEN_SECONDS, type World } from './world.ts';

function give(world: World, who: string, resource: string): string {
  world.serial += 1;
  const token = `eyJ.planted-${world.serial}`;
  world.granted.set(token, { who, resource, expiresAt: world.clock.now() + TOKEN_SECONDS * SECOND_MS });
  return token;
}

function entraToken({ params }: AzureCall, world: World): object {
  const { client_id: clientId = '', scope = '', client_secret: secret, client_assertion: assertion } = params;
  if (!scope.endsWith('/.default')) throw refusal('invalid_scope', 'AADSTS70011: The scope is not valid.');
  const proof = secret ?? assertion;
  if (proof === undefined || world.proofs.get(clientId) !== proof) {
    const why =
      secret === undefined
        ? 'AADSTS700213: No matching federated identity record.'
        : 'AADSTS7000215: Invalid client secret provided.';
    throw refusal('invalid_client', why, 401);
  }
  const token = give(world, clientId, scope.replace(/\/\.default$/, ''));
  return { token_type: 'Bearer', expires_in: TOKEN_SECONDS, access_token: token };
}

function machineToken({ params, headers }: AzureCall, world: World): object {
  if (headers.get('metadata') !== 'true') throw refusal('invalid_request', 'Required metadata header not specified');
  const { client_id: clientId = world.machineIdentities[0] ?? '', resource = '' } = params;
  if (!world.machineIdentities.includes(clientId)) throw refusal('invalid_request', 'Identity not found');
  // The metadata service writes its numbers as text.
  return { token_type: 'Bearer', expires_in: String(TOKEN_SECONDS), access_token: give(world, clientId, resource) };
}

export const giveToken = (call: AzureCall, world: World): object =>
  call.service === 'entra' ? entraToken(call, world) : machineToken(call, world);
