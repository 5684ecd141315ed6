import { z } from 'zod'
import {
  Cursor,
  Email,
  Environment,
  environments,
  hasWords,
  Id,
  Instant,
  InstantIn,
  openEnum,
  plans,
  Region,
  Role,
  regions,
  roles,
  Success,
  TeamBindings,
  Text,
} from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { NewRateLimit, RateLimit } from './rate-limit.ts'

const OrgId = z.object({ org_id: Id })
const TeamPath = z.object({ org_id: Id, team_id: Id })
const KeyPath = z.object({ org_id: Id, key_id: Id })
const DeploymentPath = z.object({ org_id: Id, env: Environment, region: Region })

const namePattern = /^[A-Za-zÀ-ÖØ-öø-ÿ0-9(),/:'|&_\- ’]{1,80}$/
const Name = z.string().regex(namePattern, "Must have 1 to 80 letters, digits, spaces or any of ( ) , / : ' | & _ -.")
const IntegrationId = Text(256)
const LogoUrl = z.url({ protocol: /^https?$/, error: 'Must be an http or https URL.' }).max(2083)

// Gap 386: a period can only end a word, so that mail programs do not turn the name into a link.
const companyPattern = /^(?:[A-Za-zÀ-ÖØ-öø-ÿ0-9(),/:'|&_\- ’]|\.[ ,)])*\.?$/
const contactPattern = /^[A-Za-zÀ-ÖØ-öø-ÿ0-9(),/:'|&_\- ’.;#+@]*$/
const CompanyName = Text(200)
  .regex(companyPattern, "Must contain only letters, digits, spaces and ( ) , / : ' | & _ -. A period can only end a word.")
  .refine((text) => !text || hasWords(text), 'Must contain a letter or a digit.')
const contactText = (max: number) =>
  z.string().max(max).regex(contactPattern, "Must contain only letters, digits, spaces and ( ) , / : ' | & _ - . ; # + @.")
const Website = z
  .string()
  .max(2083)
  .regex(/^[^\p{C}\p{Z}<>"]*$/u, 'Must be a URL without spaces.')
const Color = z
  .string()
  .max(30)
  .regex(/^[A-Za-z0-9#(),.% ]*$/, 'Must be a color, such as #004488.')

const brand = {
  company_name: CompanyName,
  company_website: Website.default(''),
  support_email: z.union([Email, z.literal('')]).default(''),
  support_contact: contactText(200).nullable().default(''),
  company_address: contactText(500).default(''),
  brand_color: Color.default(''),
}

/** The feature settings of a team and their defaults. */
export const featureSettings = {
  lab_tests_patient_sms_communication_enabled: true,
  lab_tests_patient_email_communication_enabled: true,
  reject_duplicate_connection: false,
  sdk_per_device_activity_timeseries: false,
  partial_webhooks_enabled: false,
  minor_ordering_enabled: true,
  patient_experience: false,
  strict_enums: false,
  booking_before_requisition: false,
}

/** Junction settings that Assay stores but does not act on. Their descriptions must say so. */
const STORED_ONLY = 'Assay stores this setting but does not act on it yet.'
const NO_SMS = 'Assay stores this setting but sends no SMS.'
const PATIENT_EMAIL =
  'If false, patients get email only about orders whose communication settings turn it on. Without SMTP_URL, Assay sends none.'
const CRITICAL_EMAIL = 'A contact for critical results that are not acknowledged. See critical_escalation_minutes.'
const CRITICAL_CONTACTS = 'More contacts for critical results, up to 20.'
const ESCALATION =
  'The waits in minutes after which an open critical result is escalated to the contacts, up to 10. From the last one on, the administrators of the organization get the email too. The last wait repeats until the result is acknowledged. Empty turns escalation off.'
const LANGUAGE = 'The language of messages to patients.'
const BRAND = 'The name, the website and the support address appear in messages to patients. Assay only stores the other fields.'

const NO_DUPLICATES = 'True rejects a connection to a source account that another user of the team has connected.'
const PARTIAL_RESULTS = 'True sends partial results to webhooks and pipelines. The event log always has them.'
const STRICT_ENUMS =
  'True shows null instead of Not Specified for demographics that an order did not give, in responses and events. For clients that reject values outside their enumerations.'
const EARLY_BOOKING = 'True lets a visit be booked before the lab has accepted the order. The visit is reserved until then.'
const MINORS = 'False rejects every order for a minor.'

const settingNotes: Record<keyof typeof featureSettings, string> = {
  lab_tests_patient_sms_communication_enabled: NO_SMS,
  lab_tests_patient_email_communication_enabled: PATIENT_EMAIL,
  reject_duplicate_connection: NO_DUPLICATES,
  sdk_per_device_activity_timeseries: STORED_ONLY,
  partial_webhooks_enabled: PARTIAL_RESULTS,
  minor_ordering_enabled: MINORS,
  patient_experience: STORED_ONLY,
  strict_enums: STRICT_ENUMS,
  booking_before_requisition: EARLY_BOOKING,
}

export const patientLanguages = ['en', 'es'] as const
const simulators = ['manual', 'auto'] as const

const mapSettings = <S extends z.ZodType>(shape: S) =>
  // The cast restores the key names, which Object.fromEntries widens to string.
  Object.fromEntries(Object.entries(settingNotes).map(([name, note]) => [name, shape.describe(note)])) as Record<
    keyof typeof featureSettings,
    S
  >

const KEY_RATE = 'A fixed request rate for the key. Default: none.'
const TEAM_RATE = 'A fixed request rate for all keys and tokens of the team together. Default: none.'

export const NewTeam = z
  .object({
    id: Id.nullish().describe('The ID of the team. Generated if absent.'),
    name: Name,
    region: Region.describe('Must be the region of this deployment. It cannot be changed later.'),
    integration_team_id: IntegrationId.nullish().describe('Your own ID for the team, unique in the organization.'),
    lab_tests_patient_sms_communication_enabled: z
      .boolean()
      .default(featureSettings.lab_tests_patient_sms_communication_enabled)
      .describe(NO_SMS),
    lab_tests_patient_email_communication_enabled: z
      .boolean()
      .default(featureSettings.lab_tests_patient_email_communication_enabled)
      .describe(PATIENT_EMAIL),
    critical_result_notification_email: Email.nullish().describe(CRITICAL_EMAIL),
    brand_information: z.object(brand).meta({ id: 'BrandInformationInput' }).nullish().describe(BRAND),
    logo_url: LogoUrl.nullish().describe(STORED_ONLY),
    reject_duplicate_connection: z.boolean().default(featureSettings.reject_duplicate_connection).describe(NO_DUPLICATES),
    sdk_per_device_activity_timeseries: z.boolean().default(featureSettings.sdk_per_device_activity_timeseries).describe(STORED_ONLY),
    partial_webhooks_enabled: z.boolean().nullish().describe(`${PARTIAL_RESULTS} Default ${featureSettings.partial_webhooks_enabled}.`),
    rate_limit: NewRateLimit.nullish().describe(TEAM_RATE),
    minor_ordering_enabled: z.boolean().nullish().describe(`${MINORS} Default ${featureSettings.minor_ordering_enabled}.`),
  })
  .meta({ id: 'NewTeam' })

const TeamSettingsPatch = z
  .object({
    ...mapSettings(z.boolean().nullish()),
    critical_result_notification_email: Email.nullish().describe(CRITICAL_EMAIL),
    brand_information: z
      .object({
        company_name: CompanyName.nullish(),
        company_website: Website.nullish(),
        support_email: z.union([Email, z.literal('')]).nullish(),
        support_contact: contactText(200).nullish(),
        company_address: contactText(500).nullish(),
        brand_color: Color.nullish(),
      })
      .meta({ id: 'BrandInformationPatch' })
      .nullish()
      .describe(BRAND),
    logo_url: LogoUrl.nullish().describe(STORED_ONLY),
    simulator: z
      .enum(simulators)
      .nullish()
      .describe(
        'Sandbox only. `auto` advances orders on the clock of the team, with the delays of real couriers and labs. Default manual.',
      ),
    time_zone: Text(64)
      .nullish()
      .meta({ description: 'An IANA time zone, used for orders whose address has no known zone.', example: 'America/New_York' }),
    patient_language: z.enum(patientLanguages).nullish().describe(`${LANGUAGE} Default en.`),
    critical_result_contacts: z.array(Email).max(20, 'Must have at most 20 addresses.').nullish().describe(CRITICAL_CONTACTS),
    critical_escalation_minutes: z
      .array(z.int().min(1).max(10_080))
      .max(10, 'Must have at most 10 waits.')
      .nullish()
      .describe(`${ESCALATION} Default none.`),
  })
  .meta({ id: 'TeamSettingsPatch' })

export const TeamPatch = z
  .object({
    name: Name.nullish(),
    integration_team_id: IntegrationId.nullish(),
    rate_limit: NewRateLimit.nullish().describe(`${TEAM_RATE} Null removes it.`),
    sandbox: TeamSettingsPatch.nullish(),
    production: TeamSettingsPatch.nullish(),
  })
  .meta({ id: 'TeamPatch' })

const TeamSettings = z
  .object({
    ...mapSettings(z.boolean()),
    critical_result_notification_email: Safe.nullable().describe(CRITICAL_EMAIL),
    brand_information: z
      .object({
        company_name: Safe,
        company_website: Safe,
        support_email: Safe,
        support_contact: Safe.nullable(),
        company_address: Safe,
        brand_color: Safe,
      })
      .meta({ id: 'BrandInformation' })
      .nullable()
      .describe(BRAND),
    logo_url: Safe.nullable().describe(STORED_ONLY),
    simulator: openEnum(simulators),
    time_zone: Safe.nullable(),
    patient_language: openEnum(patientLanguages).describe(LANGUAGE),
    critical_result_contacts: z.array(Safe).describe(CRITICAL_CONTACTS),
    critical_escalation_minutes: z.array(z.int()).describe(ESCALATION),
  })
  .meta({ id: 'TeamSettings' })

const teamFields = {
  id: Id,
  name: Safe,
  created_on: Instant,
  region: openEnum(regions),
  integration_team_id: Safe.nullable(),
}

const Team = z
  .object({
    ...teamFields,
    rate_limit: RateLimit.nullable(),
    environments: z.array(openEnum(environments)),
    sandbox: TeamSettings.nullable(),
    production: TeamSettings.nullable(),
  })
  .meta({ id: 'Team' })

const Org = z.object({ id: Id, name: Safe, plan: openEnum(plans), expires_at: Instant.nullable() }).meta({ id: 'Org' })

const keyFields = {
  id: Id,
  label: Safe,
  created_at: Instant,
  creator: z
    .object({ type: openEnum(['management_key', 'org_member', 'operator']), id: Id.optional() })
    .describe('The creator of the key.'),
  role: openEnum(roles),
  team_role_bindings: z.array(z.object({ team_id: Id })).nullable(),
  prefix: Safe.describe('The first characters of the key.'),
  last_used_at: Instant.nullable(),
}
const ManagementKey = z.object(keyFields).meta({ id: 'ManagementKey' })
const RotateKey = z
  .object({ old_key_expires_at: InstantIn.nullish().describe('When the old key stops working. Default: now.') })
  .meta({ id: 'RotateKey' })
  .nullish()
const ManagementKeyWithSecret = z.object({ ...keyFields, key: Safe }).meta({ id: 'ManagementKeyWithSecret' })

const teamKeyFields = {
  id: Id,
  label: Safe,
  value: Safe.describe('The full key when it is created; later only its prefix.'),
  team_id: Id,
  created_at: Instant,
  read_only: z.boolean(),
  expires_at: Instant.nullable(),
  last_used_at: Instant.nullable(),
  rate_limit: RateLimit.nullable(),
}
const TeamApiKey = z.object(teamKeyFields).meta({ id: 'TeamApiKey' })

const org = { auth: 'management', plan: 'scale', scope: 'org', tag: 'Organization', subjects: {}, grantsAccess: true } as const
const team = { auth: 'management', plan: 'scale', scope: 'team', tag: 'Teams', subjects: {}, grantsAccess: true } as const
const keys = { auth: 'management', plan: 'scale', tag: 'Keys', subjects: {}, grantsAccess: true } as const
const integrationIdTaken = {
  409: 'The integration_team_id belongs to another team. The response names that team if your key has access to it.',
}

export const managementEndpoints = {
  getOrg: endpoint({ ...org, method: 'get', path: '/v1/org/{org_id}', summary: 'Get the organization', params: OrgId, returns: Org }),
  patchOrg: endpoint({
    ...org,
    method: 'patch',
    path: '/v1/org/{org_id}',
    summary: 'Update the organization',
    description: 'Changes the name.',
    params: OrgId,
    body: z.object({ name: Name }).meta({ id: 'OrgPatch' }),
    returns: Org,
  }),
  listTeams: endpoint({
    ...team,
    method: 'get',
    path: '/v1/org/{org_id}/team',
    summary: 'List teams',
    params: OrgId,
    query: z.object({
      team_id: Id.nullish(),
      region: z.array(Region).nullish(),
      search_query: z.string().max(80).nullish().describe('Part of the name or of the integration_team_id.'),
      next_cursor: Cursor,
    }),
    returns: z
      .object({ teams: z.array(z.object(teamFields).meta({ id: 'TeamListItem' })), next_cursor: Safe.nullable() })
      .meta({ id: 'TeamList' }),
  }),
  createTeam: endpoint({
    ...team,
    scope: 'org',
    method: 'post',
    path: '/v1/org/{org_id}/team',
    summary: 'Create a team',
    subjects: { id: 'result.id' },
    params: OrgId,
    body: NewTeam,
    returns: Team,
    refusals: { 400: 'The region is not the region of this deployment.', ...integrationIdTaken },
  }),
  resolveTeam: endpoint({
    ...team,
    method: 'post',
    path: '/v1/org/{org_id}/resolve_team',
    summary: 'Get a team by integration_team_id',
    subjects: { id: 'result.id' },
    params: OrgId,
    body: z.object({ integration_team_id: IntegrationId }).meta({ id: 'ResolveTeam' }),
    returns: Team,
    refusals: { 404: 'No such team.' },
  }),
  getTeam: endpoint({
    ...team,
    method: 'get',
    path: '/v1/org/{org_id}/team/{team_id}',
    summary: 'Get a team',
    params: TeamPath,
    query: z.object({
      include_environment: z.array(Environment).default([]).describe('The environments whose settings to return. Default: all.'),
    }),
    returns: Team,
    refusals: { 404: 'No such team.' },
  }),
  patchTeam: endpoint({
    ...team,
    method: 'patch',
    path: '/v1/org/{org_id}/team/{team_id}',
    summary: 'Update a team',
    description: 'Changes only the fields that you send. Null resets a feature setting to its default.',
    params: TeamPath,
    body: TeamPatch,
    returns: Team,
    refusals: { 404: 'No such team.', ...integrationIdTaken },
  }),
  deleteTeam: endpoint({
    ...team,
    scope: 'org',
    method: 'delete',
    path: '/v1/org/{org_id}/team/{team_id}',
    summary: 'Delete a team',
    description: 'The keys of the team stop working within one second. After 7 days Assay erases the team and all its data.',
    params: TeamPath,
    returns: Success,
    refusals: { 404: 'No such team.' },
  }),
  createAccessToken: endpoint({
    ...team,
    tag: 'Keys',
    method: 'post',
    path: '/v1/org/{org_id}/team/{team_id}/create_api_access_token',
    summary: 'Create a team access token',
    description:
      'Send the token to the data endpoints as `Authorization: Bearer`. It expires after 10 minutes, or when its team is deleted or the key that created it is revoked.',
    params: TeamPath,
    body: z.object({ env: Environment }).meta({ id: 'NewAccessToken' }),
    returns: z.object({ access_token: Safe, expires_in: z.int().describe('The lifetime in seconds.') }).meta({ id: 'AccessToken' }),
    refusals: { 404: 'No such team.' },
  }),
  listManagementKeys: endpoint({
    ...keys,
    scope: 'org',
    method: 'get',
    path: '/v1/org/{org_id}/management_key',
    summary: 'List management keys',
    params: OrgId,
    query: z.object({ team_id: Id.nullish(), role: Role.nullish(), next_cursor: Cursor }),
    returns: z.object({ data: z.array(ManagementKey), next_cursor: Safe.nullable() }).meta({ id: 'ManagementKeyList' }),
  }),
  createManagementKey: endpoint({
    ...keys,
    scope: 'org',
    method: 'post',
    path: '/v1/org/{org_id}/management_key',
    summary: 'Create a management key',
    subjects: { id: 'result.id' },
    description: 'The response contains the key. Assay stores only a hash and cannot show the key again.',
    params: OrgId,
    body: z.object({ label: Text(100), role: Role, team_role_bindings: TeamBindings.nullish() }).meta({ id: 'NewManagementKey' }),
    returns: ManagementKeyWithSecret,
    refusals: { 400: 'The role does not match the teams, or a team is unknown.' },
  }),
  patchManagementKey: endpoint({
    ...keys,
    scope: 'org',
    method: 'patch',
    path: '/v1/org/{org_id}/management_key/{key_id}',
    summary: 'Update a management key',
    description: 'Changes the label or the teams. The role cannot be changed.',
    params: KeyPath,
    body: z.object({ label: Text(100).nullish(), team_role_bindings: TeamBindings.nullish() }).meta({ id: 'ManagementKeyPatch' }),
    returns: ManagementKey,
    refusals: { 400: 'The role does not match the teams, or a team is unknown.', 404: 'No such key.' },
  }),
  deleteManagementKey: endpoint({
    ...keys,
    scope: 'org',
    method: 'delete',
    path: '/v1/org/{org_id}/management_key/{key_id}',
    summary: 'Revoke a management key',
    description: 'The key stops working immediately. The last Org Management Key cannot be revoked.',
    params: KeyPath,
    returns: ManagementKey,
    refusals: { 400: 'The key is the last Org Management Key.', 404: 'No such key.' },
  }),
  rotateManagementKey: endpoint({
    ...keys,
    scope: 'org',
    method: 'post',
    path: '/v1/org/{org_id}/management_key/{key_id}/rotate',
    summary: 'Rotate a management key',
    subjects: { id: 'result.id' },
    description:
      'Creates a key with the same role and teams, and ends the old one. Tokens that the old key created keep working and end with the new key.',
    params: KeyPath,
    body: RotateKey,
    returns: ManagementKeyWithSecret,
    refusals: { 400: 'The time is in the past.', 404: 'No such key.' },
  }),
  listTeamKeys: endpoint({
    ...keys,
    scope: 'team',
    method: 'get',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'List team API keys',
    params: DeploymentPath,
    query: z.object({ team_id: Id.nullish(), next_cursor: Cursor }),
    returns: z.object({ api_keys: z.array(TeamApiKey), next_cursor: Safe.nullable() }).meta({ id: 'TeamApiKeyList' }),
  }),
  createTeamKey: endpoint({
    ...keys,
    scope: 'team',
    method: 'post',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'Create a team API key',
    subjects: { id: 'result.id' },
    description: 'The response contains the key. Assay stores only a hash and cannot show the key again.',
    params: DeploymentPath,
    body: z
      .object({
        label: Text(100),
        team_id: Id,
        read_only: z.boolean().default(false).describe('A read-only key can call only operations that read.'),
        expires_at: InstantIn.nullish().describe('When the key stops working. Default: never.'),
        rate_limit: NewRateLimit.nullish().describe(KEY_RATE),
      })
      .meta({ id: 'NewTeamApiKey' }),
    returns: TeamApiKey,
    refusals: { 400: 'The team has too many keys.', 404: 'No such team.' },
  }),
  patchTeamKey: endpoint({
    ...keys,
    scope: 'team',
    method: 'patch',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}/{api_key_id}',
    summary: 'Update a team API key',
    description: 'Changes the label or the rate limit. Junction has no such endpoint.',
    params: DeploymentPath.extend({ api_key_id: Id }),
    body: z
      .object({ label: Text(100).nullish(), rate_limit: NewRateLimit.nullish().describe(`${KEY_RATE} Null removes it.`) })
      .meta({ id: 'TeamApiKeyPatch' }),
    returns: TeamApiKey,
    refusals: { 404: 'No such key.' },
  }),
  rotateTeamKey: endpoint({
    ...keys,
    scope: 'team',
    method: 'post',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}/{api_key_id}/rotate',
    summary: 'Rotate a team API key',
    subjects: { id: 'result.id' },
    description:
      'Creates a key with the same label, access, rate limit and expiration, and ends the old one. Tokens that the old key created keep working and end with the new key.',
    params: DeploymentPath.extend({ api_key_id: Id }),
    body: RotateKey,
    returns: TeamApiKey,
    refusals: { 400: 'The time is in the past.', 404: 'No such key.' },
  }),
  deleteTeamKeys: endpoint({
    ...keys,
    scope: 'team',
    method: 'delete',
    path: '/v1/org/{org_id}/team_api_keys/{env}/{region}',
    summary: 'Revoke team API keys',
    description: 'The keys stop working within one second. The response lists revoked and unknown IDs.',
    subjects: { api_key_id: 'query.api_key_id' },
    params: DeploymentPath,
    query: z.object({ api_key_id: z.array(Id).min(1).max(100) }),
    returns: z.object({ success: z.array(Id), failure: z.array(Id), not_found: z.array(Id) }).meta({ id: 'DeletedTeamApiKeys' }),
  }),
}
