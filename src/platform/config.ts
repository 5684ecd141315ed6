import { z } from 'zod'
import { Email, environments, Id, regions } from '../contract/common.ts'
import { ProjectId } from '../contract/delivery/pipelines.ts'
import { OAuthSettings } from '../contract/wearables/oauth-setting.ts'
import { urlsOfHosts } from './db/connections/hosts.ts'
import { setupProblem } from './problem.ts'
import { environment, settingIn } from './runtime/environment.ts'
import { checkCombinations } from './settings/combinations.ts'
import { LabConnections } from './settings/lab-connections.ts'
import { singleSignOn } from './settings/single-sign-on.ts'
import {
  AuditBucket,
  BackupStorage,
  bootstrapKey,
  databaseUrl,
  isLoopbackUrl,
  isPlainUrl,
  listOf,
  network,
  oneOf,
  parseJson,
  proxy,
  url,
  wholeNumber,
} from './settings/values.ts'

export const Settings = z.object({
  PORT: wholeNumber(0, 65_535).default(8080).describe('The port for the API, the console and the docs. `0` picks any free port.'),
  HOST: z
    .string()
    .min(1)
    .transform((text) => text.replace(/^\[(.+)\]$/, '$1'))
    .default('127.0.0.1')
    .describe(
      'The address to listen on. Set `0.0.0.0` in a container. On a loopback address, Assay accepts only requests for a loopback address or for the host of `PUBLIC_URL`.',
    ),
  PUBLIC_URL: url(/^https?$/, 'must be an http or https URL')
    .refine(isPlainUrl, 'must have no credentials, query or fragment')
    .transform((text) => new URL(text).href.replace(/\/+$/, ''))
    .optional()
    .describe(
      'The base of every URL that Assay generates. If unset, Assay uses `http://HOST:PORT`, and the loopback address if `HOST` stands for all addresses.',
    ),
  TRUST_PROXY: listOf(proxy, 'must be addresses or networks of proxies, such as 127.0.0.1,10.20.0.0/16').describe(
    'Addresses or networks of your reverse proxies, separated by commas, such as `127.0.0.1,10.20.0.0/16`. Assay reads the client address from their `X-Forwarded-For`, so that sign-in limits count clients. If unset, Assay trusts no proxy.',
  ),
  ENVIRONMENT: oneOf(environments)
    .default('sandbox')
    .describe(
      '`sandbox` or `production`. The sandbox adds the lab simulator and a clock that you can move. Keys work only in the environment that issued them.',
    ),
  REGION: oneOf(regions)
    .default('us')
    .describe('`us` or `eu`. Together with `ENVIRONMENT`, it identifies the deployment. Keys work only in the region that issued them.'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'The `postgres://` URL of a PostgreSQL database, version 15 or newer, or of a pooler in front of it. Percent-encode special characters in the password, such as `%23` for `#`. With several hosts, such as `postgres://assay@db-1,db-2/assay?target_session_attrs=read-write`, Assay uses the one that accepts writes. If unset, Assay runs an embedded PostgreSQL in `DATA_DIR`.',
    ),
  DIRECT_DATABASE_URL: databaseUrl
    .optional()
    .describe(
      'The URL of the same database, without a pooler. Processes on several machines or in several containers wake each other through it. If unset, a webhook message from another machine can wait up to two seconds.',
    ),
  READ_DATABASE_URL: databaseUrl
    .refine((url) => urlsOfHosts(url).length === 1, 'must have one host')
    .optional()
    .describe(
      'The URL of a read replica. Readers of the event log, the overview, the state of sources, exports and backups use it while it is at most 5 seconds behind. Assay writes to the primary only. If unset, everything reads from the primary.',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('The folder for the embedded database, generated keys and `credentials.json`. Assay also uses it with `DATABASE_URL`.'),
  ROLE: oneOf(['all', 'api', 'worker']).default('all').describe('`api` serves requests, `worker` runs background jobs, `all` does both.'),
  PROCESSES: wholeNumber(1, 64)
    .optional()
    .describe(
      'The number of processes that serve requests on `PORT`, from 1 to 64. With `ROLE=all`, jobs and webhook delivery run in one more. If unset, one less than the number of cores, at least 1, and at most 7 with `DATABASE_URL`. `ROLE=worker` is always one process.',
    ),
  ENCRYPTION_KEY: z
    .string()
    .min(32, 'must have at least 32 characters; generate one with: openssl rand -base64 32')
    .optional()
    .describe(
      'The key that encrypts every data key: at least 32 random characters. Required in production and with `DATABASE_URL`, unless a key management service is set. If unset, Assay generates one in `DATA_DIR`.',
    ),
  ENCRYPTION_KEY_PREVIOUS: z
    .string()
    .optional()
    .describe('The key that `ENCRYPTION_KEY` replaces. Assay only decrypts with it. See [Rotate keys](operating.md#rotate-keys).'),
  ENCRYPTION_KEY_COMMAND: z
    .string()
    .regex(/^\//, 'must be the absolute path of a program')
    .optional()
    .describe(
      'The absolute path of a program that encrypts the root secret, instead of `ENCRYPTION_KEY`. See [Key management services](security.md#key-management-services).',
    ),
  VAULT_TRANSIT_URL: url(/^https?$/, 'must be an http or https URL')
    .refine(isPlainUrl, 'must have no credentials, query or fragment')
    .refine((text) => text.startsWith('https:') || isLoopbackUrl(text), 'must be an https URL, or an http URL of this machine')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe(
      'The transit engine of HashiCorp Vault that encrypts the root secret, such as `https://vault.example.com:8200/v1/transit`, instead of `ENCRYPTION_KEY`.',
    ),
  VAULT_TRANSIT_KEY: z
    .string()
    .regex(/^[\w.-]+$/, 'must be the name of a key')
    .optional()
    .describe('The name of the key in the transit engine.'),
  VAULT_TRANSIT_TOKEN: z.string().optional().describe('The Vault token. Its policy must allow `encrypt` and `decrypt` with the key.'),
  VAULT_TRANSIT_TOKEN_FILE: z.string().optional().describe('A file with the Vault token, such as the sink of a Vault Agent.'),
  VAULT_TRANSIT_NAMESPACE: z.string().optional().describe('The Vault namespace, if there is one.'),
  ERASURE_EPOCH_DAYS: wholeNumber(1, 3650)
    .optional()
    .describe(
      'Wraps the keys of users with a key per team in Vault, and replaces it after this many days. Needs `VAULT_TRANSIT_URL`. If unset, no more such keys are created, replaced or destroyed. See [Epoch keys](security.md#epoch-keys).',
    ),
  ERASURE_ESCROW_DAYS: wholeNumber(1, 3650)
    .default(35)
    .describe(
      'How many days a replaced key of `ERASURE_EPOCH_DAYS` is kept in Vault before Assay destroys it. Older backups cannot be restored.',
    ),
  BOOTSTRAP_TEAM_API_KEY: bootstrapKey
    .optional()
    .describe('A fixed API key for the first team, for tests and containers. If unset, Assay generates one.'),
  BOOTSTRAP_MANAGEMENT_KEY: bootstrapKey
    .optional()
    .describe('A fixed management key for the first organization, for tests and containers. If unset, Assay generates one.'),
  CONSENT_AGES: z
    .string()
    .regex(/^[A-Z]{2}=\d{1,2}(,[A-Z]{2}=\d{1,2})*$/, 'must list states with ages, such as AL=19,NE=19')
    .transform(
      (text): Record<string, number> => Object.fromEntries(text.split(',').map((pair) => [pair.slice(0, 2), Number(pair.slice(3))])),
    )
    .default({})
    .describe(
      'The age from which a patient needs no `medical_proxy`, by state, such as `AL=19,NE=19`. The age is 18 in states that are not listed.',
    ),
  CONSOLE_IDLE_MINUTES: wholeNumber(1, 1440)
    .default(30)
    .describe('A console session ends after this many minutes without a request from its user.'),
  CONSOLE_SESSION_HOURS: wholeNumber(1, 168).default(12).describe('A console session ends after this many hours, even if it is in use.'),
  PASSWORD_COST: wholeNumber(10, 20)
    .default(15)
    .describe('The scrypt cost of password hashes: N is 2 to this power. Production requires at least 15.'),
  DATABASE_POOL_SIZE: wholeNumber(2, 200).default(10).describe('The maximum number of PostgreSQL connections per process, from 2 to 200.'),
  EVENT_RETENTION_DAYS: wholeNumber(1, 3650)
    .default(90)
    .describe('Assay deletes events, pending messages, delivery attempts and the log of emails after this many days.'),
  LAB_INBOX_DAYS: wholeNumber(30, 3650)
    .default(90)
    .describe(
      'Assay recognizes a repeated HL7 message by its control ID (MSH-10) for this many days. Then it deletes its copy of the message, unless it could not be filed.',
    ),
  EVENT_MAX_KB: wholeNumber(16, 1024)
    .default(256)
    .describe(
      'The maximum size of an event in KiB. Assay splits larger sample batches. In other events it empties the largest lists and texts and names them in `left_out`.',
    ),
  WEBHOOK_ALLOW_LOOPBACK: oneOf(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe(
      '`true` lets webhooks, pipelines and reads of wearable clouds reach this machine. If unset, `true` in a sandbox whose `HOST` is a loopback address, and `false` otherwise.',
    ),
  WEBHOOK_ALLOWED_NETWORKS: listOf(network, 'must be networks, such as 10.20.0.0/16,fd12::/48').describe(
    'Private networks that webhooks and pipelines can reach, separated by commas, such as `10.20.0.0/16,fd12::/48`. Cloud metadata addresses stay blocked. If unset, private networks are blocked.',
  ),
  PUBSUB_PROJECTS: listOf(
    z.union([z.literal('*'), ProjectId]),
    'must be IDs of Google Cloud projects, such as harbor-events,harbor-lab, or *',
  ).describe(
    'Google Cloud projects to which pipelines can publish, separated by commas, such as `harbor-events,harbor-lab`. `*` allows every project that the service account can publish to. If unset, Pub/Sub is off.',
  ),
  PUBSUB_ENDPOINT: url(/^https?$/, 'must be an http or https URL')
    .transform((text) => new URL(text).origin)
    .default('https://pubsub.googleapis.com')
    .describe(
      'The Pub/Sub endpoint. A regional endpoint, such as `https://us-east1-pubsub.googleapis.com`, preserves message order when another process takes over. Use `http` for the emulator only; production rejects it.',
    ),
  OAUTH_SOURCES: z
    .string()
    .transform(parseJson)
    .pipe(OAuthSettings)
    .default({})
    .describe(
      'OAuth clients of this deployment at wearable providers, as JSON by provider: `{"oura":{"client_id":"…","client_secret":"…"}}`. See [Wearable sources](sources.md). If unset, each team sets its own client credentials.',
    ),
  LAB_CONNECTIONS: z
    .string()
    .transform(parseJson)
    .pipe(LabConnections)
    .default({})
    .describe(
      'Labs that Assay reaches by HL7, as JSON by the slug of the lab: `{"quillmoor":{"profile":"lab.json","send":{"host":"hl7.lab.example","port":2575},"receive":{"port":2576}}}` for MLLP, or with `sftp` for files. See [Connect a lab by HL7](guides/hl7.md). If unset, labs use the partner lab API, and the sandbox simulates them.',
    ),
  OPERATOR_ORG_ID: Id.optional().describe(
    'The organization whose administrators operate the deployment: in the console they see the lab connections of all teams and the unmatched results that belong to no team. If unset, only the command line does.',
  ),
  AUDIT_OWNER_ROLE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be the name of a PostgreSQL role, such as assay_audit')
    .optional()
    .describe(
      'A PostgreSQL role to which `assay migrate` hands the audit log, so that the role of the service can append rows and not change them. Run the command as an administrator. If unset, the service owns its audit log.',
    ),
  AUDIT_CHECKPOINT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A file to which a worker appends the ends of the audit chains, at most once an hour. Ship it to another machine. `assay audit verify --checkpoint FILE` compares the log with it.',
    ),
  AUDIT_CHECKPOINT_S3: z
    .string()
    .transform(parseJson)
    .pipe(AuditBucket)
    .optional()
    .describe(
      'A bucket of S3-compatible storage with object lock for the same checkpoints, as JSON: `{"url":"https://s3.us-east-1.amazonaws.com/harbor-audit/assay","region":"us-east-1","access_key_id":"…","secret_access_key":"…","retain_days":2190}`. Each checkpoint is an object that cannot be deleted for `retain_days`, by default 2190.',
    ),
  AUDIT_TIMESTAMP_URL: url(/^https?$/, 'must be an http or https URL')
    .optional()
    .describe(
      'A time-stamp authority (RFC 3161). Each checkpoint in the file or bucket has a time-stamp of it. The authority receives a hash only.',
    ),
  BACKUP_S3: z
    .string()
    .transform(parseJson)
    .pipe(BackupStorage)
    .optional()
    .describe(
      'S3-compatible storage for `assay backup --file s3://BUCKET/KEY`, as JSON: `{"endpoint":"https://s3.us-east-1.amazonaws.com","region":"us-east-1","access_key_id":"…","secret_access_key":"…"}`. `session_token` is for temporary credentials. `part_mb` is the size of the parts of an upload in MiB, by default 64. A backup has at most 10,000 parts.',
    ),
  SMTP_URL: url(/^smtps?$/, 'must be an smtp or smtps URL')
    .refine((text) => new URL(text).hostname !== '', 'must have a host')
    .optional()
    .describe(
      'The mail server for messages to patients and contacts, such as `smtps://USER:PASSWORD@mail.example.com:465`, or `smtp://…:587` for STARTTLS. Percent-encode special characters in the password. Without TLS, only a server on this machine is accepted. If unset, Assay sends no email.',
    ),
  MAIL_FROM: Email.optional().describe('The address that messages come from. Required with `SMTP_URL`.'),
  ...singleSignOn,
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{16,}$/, 'must have at least 16 ASCII characters and no spaces; generate one with: openssl rand -base64 32')
    .optional()
    .describe('The token that `/metrics` requires, as `Authorization: Bearer TOKEN`. If unset, `/metrics` needs no credential.'),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .optional()
    .describe('The minimum level of log lines, which are JSON on standard output. If unset, `info`, or `warn` on a terminal.'),
})

export type Config = z.output<typeof Settings>
export type { RoleMapping } from './settings/values.ts'

/** Settings of commands that call the API. */
export const ClientSettings = z.object({
  ASSAY_URL: url(/^https?$/, 'must be an http or https URL')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('The URL of the service. If unset, commands use `base_url` of `DATA_DIR/credentials.json`.'),
  ASSAY_API_KEY: z.string().optional().describe('A team API key. If unset, commands use the key in `DATA_DIR/credentials.json`.'),
  ASSAY_MANAGEMENT_KEY: z.string().optional().describe('A management key. If unset, commands use the key in `DATA_DIR/credentials.json`.'),
})

/** Reads the settings from the environment. The error names every invalid setting in one line. */
export function readConfig(env = environment()): Config {
  const config = parseSettings(Settings, env)
  checkCombinations(config)
  return config
}

export const readClientConfig = () => parseSettings(ClientSettings.extend({ DATA_DIR: Settings.shape.DATA_DIR }), environment())

function parseSettings<S extends z.ZodObject>(settings: S, env: NodeJS.ProcessEnv): z.output<S> {
  const values = Object.fromEntries(Object.keys(settings.shape).map((name) => [name, settingIn(env, name)]))
  const parsed = settings.safeParse(values)
  if (!parsed.success) throw setupProblem(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; '))
  return parsed.data
}

type DeploymentSettings = Pick<Config, 'ENVIRONMENT' | 'REGION'>

export const deploymentOf = ({ ENVIRONMENT, REGION }: DeploymentSettings) => ({ environment: ENVIRONMENT, region: REGION })

export const deploymentName = ({ ENVIRONMENT, REGION }: DeploymentSettings) => `${ENVIRONMENT} ${REGION}`

type ListeningSettings = Pick<Config, 'HOST' | 'PORT'>

export const listeningUrl = ({ HOST, PORT }: ListeningSettings) => `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`

/** The loopback address of each address that means all addresses, because browsers refuse to open those. */
const loopbackOf: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The URL at which this machine reaches the service. */
export const localUrl = ({ HOST, PORT }: ListeningSettings) => listeningUrl({ HOST: loopbackOf[HOST] ?? HOST, PORT })

/** The base of every URL that the service hands out. */
export const publicUrl = (config: ListeningSettings & Pick<Config, 'PUBLIC_URL'>) => config.PUBLIC_URL ?? localUrl(config)

/** `sk_us_` in the US sandbox, `pk_eu_` in European production. */
export const teamKeyPrefix = ({ ENVIRONMENT, REGION }: DeploymentSettings) => `${ENVIRONMENT === 'sandbox' ? 'sk' : 'pk'}_${REGION}_`

/** `lks_us_` in the US sandbox, `lkp_eu_` in European production. */
export const labKeyPrefix = ({ ENVIRONMENT, REGION }: DeploymentSettings) => `${ENVIRONMENT === 'sandbox' ? 'lks' : 'lkp'}_${REGION}_`
