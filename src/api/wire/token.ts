import { z } from 'zod';
import { ROLES } from '#core/access.ts';
import { listOf, Name, spanIn, Time } from './shared.ts';

const TEN_YEARS_MS = 3_652 * 86_400_000;

const common = { name: z.string().min(1).max(100), expires_in: spanIn(TEN_YEARS_MS).optional() };

/** For the API with a role, or for agents that join a pool. */
export const TokenIn = z
  .union([
    z.strictObject({ ...common, role: z.enum(ROLES) }),
    z.strictObject({ ...common, join: Name.meta({ description: 'The name of the pool.' }) }),
  ])
  .meta({ id: 'TokenIn' });
export type TokenIn = z.input<typeof TokenIn>;

export const Token = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(ROLES).optional(),
    join: z.string().optional(),
    created_at: Time,
    created_by: z.string(),
    expires_at: Time.optional(),
    expired: z.boolean(),
  })
  .meta({ id: 'Token' });
export type Token = z.infer<typeof Token>;

export const NewToken = Token.extend({ token: z.string().meta({ description: 'Shown this once.' }) }).meta({
  id: 'NewToken',
});
export type NewToken = z.infer<typeof NewToken>;

export const TokenList = listOf(Token);
export type TokenList = z.infer<typeof TokenList>;

export const LoginLink = z
  .object({ path: z.string().meta({ description: 'Open it on this server, once.' }), expires_at: Time })
  .meta({ id: 'LoginLink' });
export type LoginLink = z.infer<typeof LoginLink>;

/** The caller of a request, as the server knows it. */
export const Me = z
  .object({
    name: z
      .string()
      .meta({ description: 'The name of the token; of a browser, that of the token that its login link came from.' }),
    who: z.string().meta({ description: 'As events name this caller.' }),
    role: z.enum(ROLES),
    expires_at: Time.optional().meta({ description: 'Absent for a token that never expires.' }),
    is_cookie: z.boolean().meta({ description: 'Whether this is the session of a browser.' }),
  })
  .meta({ id: 'Me' });
export type Me = z.infer<typeof Me>;

/** A client certificate for an agent of a pool with `agent_auth: mtls`; the key is shown only now. */
export const AgentCertificate = z
  .object({ name: z.string(), key: z.string(), certificate: z.string(), ca: z.string() })
  .meta({ id: 'AgentCertificate' });
export type AgentCertificate = z.infer<typeof AgentCertificate>;
