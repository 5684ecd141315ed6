import { z } from 'zod'
import { Id, type PersonRole, personRoles } from '../../contract/common.ts'
import { faultOfDatabaseUrl } from '../db/connections/hosts.ts'

/** Only decimal digits: a setting such as 0x10 or 1e3 is more likely a mistake. */
export const wholeNumber = (low: number, high: number) =>
  z
    .string()
    .regex(/^-?\d+$/, `must be a whole number from ${low} to ${high}`)
    .transform(Number)
    .pipe(z.number().min(low, `must be at least ${low}`).max(high, `must be at most ${high}`))
export const oneOf = <const V extends readonly [string, ...string[]]>(values: V) => z.enum(values, `must be one of ${values.join(', ')}`)
export const url = (protocol: RegExp, text: string) => z.url({ protocol, error: text })
/** Assay appends paths to the URL, and everyone who receives such a link would see its credentials. */
export const isPlainUrl = (text: string) => !/[?#]|^\w+:\/\/[^/]*@/.test(text)
export const isLoopbackUrl = (text: string) => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(text).hostname)
export const databaseUrl = z.string().superRefine((url, context) => {
  const fault = faultOfDatabaseUrl(url)
  if (fault) context.addIssue({ code: 'custom', message: fault })
})
export const network = z.union([z.cidrv4(), z.cidrv6()])
// Trusting every network would let clients forge their own address.
export const proxy = z.union([z.ipv4(), z.ipv6(), network]).refine((text) => !text.endsWith('/0'))
export const listOf = (each: z.ZodType, text: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .refine((list) => list.every((item) => each.safeParse(item).success), text)
    .default([])
const plainUrl = url(/^https?$/, 'must be an http or https URL').refine(isPlainUrl, 'must have no credentials, query or fragment')
const s3Account = { region: z.string().min(1), access_key_id: z.string().min(1), secret_access_key: z.string().min(1) }
/** Storage for backups. S3 accepts parts of 5 MiB to 5 GiB, and a part is in memory while it is sent. */
export const BackupStorage = z.strictObject({
  endpoint: plainUrl.transform((text) => text.replace(/\/+$/, '')),
  ...s3Account,
  session_token: z.string().min(1).optional(),
  part_mb: z.int().min(5).max(1024).default(64),
})
export const AuditBucket = z.strictObject({
  url: plainUrl,
  ...s3Account,
  retain_days: z.int().min(1).max(36_500).default(2190),
})
export const bootstrapKey = z.string().regex(/^[!-~]{8,200}$/, 'must have 8 to 200 printable characters and no spaces')

/** A group of the identity provider, with the role of its members, for one team or for all. */
export type RoleMapping = { group: string; role: PersonRole; team_id?: string | undefined }

const ROLE_MAPPINGS = 'must list groups with roles, such as assay-admins=org_admin,pier-staff=team_admin@TEAM_ID'

export const roleMappings = z
  .string()
  .transform((text) => text.split(',').map(parseRoleMapping))
  .refine((mappings): mappings is RoleMapping[] => !mappings.includes(undefined), ROLE_MAPPINGS)
  .default([])

function parseRoleMapping(text: string): RoleMapping | undefined {
  const [, group, role, team] = /^(.+)=([a-z_]+)(?:@(.+))?$/.exec(text.trim()) ?? []
  const known = personRoles.find((one) => one === role)
  const team_id = team === undefined ? undefined : Id.safeParse(team).data
  const takesTeam = known === 'team_admin' || known === 'support' || known === 'read_only'
  if (!group || !known || (team !== undefined && !(team_id && takesTeam)) || (known === 'team_admin' && !team_id)) return undefined
  return { group: group.trim(), role: known, team_id }
}

export function parseJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' })
    return z.NEVER
  }
}
