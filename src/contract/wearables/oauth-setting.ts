import { z } from 'zod'
import { OAuthSourceIn } from '../tenants/sources.ts'

const Address = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** An account of the application itself, as in the JSON key of a Google service account. */
export const ServiceAccount = z.object({
  project_id: z.string().min(1),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
})
export type ServiceAccount = z.output<typeof ServiceAccount>

/** The OAuth 2 settings of a source. Defaults follow the documentation of the source. */
const setting = {
  authorize_url: Address,
  token_url: Address,
  /** The base URL of the API, for sources that Assay reads. A stand-in has its own. */
  api_url: Address,
  /** RFC 7009. Without it, Assay does not revoke tokens when a user disconnects. */
  revoke_url: Address,
  /** Where the client credentials go when a token is revoked. Default: as in `client_auth`. */
  revoke_auth: z.enum(['basic', 'body']),
  /** The scopes to request, unless a team requires others. */
  scopes: z.array(z.string().min(1)),
  scope_separator: z.enum([' ', ',']),
  /** Where the client credentials go: HTTP Basic, or the body. */
  client_auth: z.enum(['basic', 'body']),
  /** The path of the account ID in the token response, such as `athlete.id`. */
  account_field: z.string(),
  /** The servers of each region, for sources that have several. */
  regions: z.record(z.string(), z.strictObject({ name: z.string(), authorize_url: Address, token_url: Address, api_url: Address })),
  /** Extra parameters of authorize_url. */
  authorize_params: z.record(z.string(), z.string()),
  /** Creates the subscription to notifications, for sources that need it. */
  service_account: ServiceAccount,
  client_id: z.string().min(1),
  client_secret: z.string().min(1),
}

export const OAuthSetting = z.strictObject(setting).partial()
export type OAuthSetting = z.output<typeof OAuthSetting>

/** The OAuth applications of the deployment, by source. */
export const OAuthSettings = z.partialRecord(OAuthSourceIn, OAuthSetting)
export type OAuthSettings = z.output<typeof OAuthSettings>
