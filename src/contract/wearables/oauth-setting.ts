import { z } from 'zod'
import { OAuthSourceIn } from '../tenants/sources.ts'

const Address = z.url({ protocol: /^https?$/, error: 'must be an http or https address' })

/** How a source is asked by OAuth 2; what is left out is as the source's own documentation has it. */
const setting = {
  authorize_url: Address,
  token_url: Address,
  /** RFC 7009; where it is missing, a source is not told that a user left. */
  revoke_url: Address,
  /** What is asked for unless a team requires something else. */
  scopes: z.array(z.string().min(1)),
  scope_separator: z.enum([' ', ',']),
  /** How we say who we are: HTTP Basic, or in the body. */
  client_auth: z.enum(['basic', 'body']),
  /** Where the answer with the tokens names the account, such as `athlete.id`. */
  account_field: z.string(),
  /** Sent along to authorize_url. */
  authorize_params: z.record(z.string(), z.string()),
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
}

export const OAuthSetting = z.strictObject(setting).partial()
export type OAuthSetting = z.output<typeof OAuthSetting>

/** The deployment's own accounts at sources, by slug. */
export const OAuthSettings = z.partialRecord(OAuthSourceIn, OAuthSetting)
export type OAuthSettings = z.output<typeof OAuthSettings>
